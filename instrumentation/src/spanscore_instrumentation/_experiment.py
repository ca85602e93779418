"""Which experiment, case and trial a piece of work belongs to, carried as W3C baggage to every span of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token

from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry.context import Context

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._json import clean_text
from spanscore_instrumentation._quiet import quiet

_PREFIX = "spanscore."
_BAGGAGE_ONLY = (names.FAULTS, names.VARIANT_ASKED)
_NUMBERS = (names.TRIAL, names.STEP_BUDGET)


@contextmanager
def experiment(
    *,
    experiment_id: str | None = None,
    suite_name: str | None = None,
    suite_version: str | None = None,
    case_id: str | None = None,
    trial: int | None = None,
    variant: str | None = None,
) -> Iterator[None]:
    """Mark everything inside as one attempt at one case, in this process and in those that it calls.

    The values travel as baggage in the headers of outgoing requests: ids only, nothing confidential. `setup` installs
    the processor that writes them on spans.

    Args:
        experiment_id: one execution of a suite.
        suite_name: the set of cases.
        suite_version: of the suite.
        case_id: the task.
        trial: repeat number of the case, from 0 [count].
        variant: what is varied, such as a model or a prompt.
    """
    token = _attached(
        {
            names.EXPERIMENT_ID: experiment_id,
            names.SUITE_NAME: suite_name,
            names.SUITE_VERSION: suite_version,
            names.CASE_ID: case_id,
            names.TRIAL: trial,
            names.VARIANT: variant,
        }
    )
    try:
        yield
    finally:
        if token is not None:
            context_api.detach(token)


@quiet
def _attached(entries: Mapping[str, object]) -> Token[Context]:
    context = context_api.get_current()
    for key, value in entries.items():
        if value is not None:
            context = baggage.set_baggage(key, clean_text(str(value)), context)
    return context_api.attach(context)


def from_baggage(entries: Mapping[str, object]) -> dict[str, str | int]:
    """The span attributes among baggage entries: those with our prefix; trial and budget are numbers again."""
    attributes: dict[str, str | int] = {}
    for key, value in entries.items():
        if key.startswith(_PREFIX) and key not in _BAGGAGE_ONLY:
            text = str(value)
            attributes[key] = int(text) if key in _NUMBERS and text.isdecimal() else text
    return attributes
