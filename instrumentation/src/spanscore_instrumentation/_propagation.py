"""Work that another process asked for, as a part of its trace: its trace context and baggage are taken over."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token

from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._quiet import quiet


@contextmanager
def continue_trace(headers: Mapping[str, str]) -> Iterator[None]:
    """Make everything inside a part of the caller's trace, as the headers of its request say.

    For servers that no OpenTelemetry instrumentation covers. Without `traceparent` and `baggage` nothing changes.

    Args:
        headers: of the request, names in any case.
    """
    token = _attached({key.lower(): value for key, value in headers.items()})
    try:
        yield
    finally:
        if token is not None:
            context_api.detach(token)


@quiet
def continue_environment() -> None:
    """Make the process a part of the trace that `TRACEPARENT` and `BAGGAGE` name, if they do.

    Source: https://opentelemetry.io/docs/specs/otel/context/env-carriers/
    """
    carrier = {key.lower(): os.environ[key] for key in ("TRACEPARENT", "TRACESTATE", "BAGGAGE") if key in os.environ}
    if carrier:
        _attached(carrier)


@quiet
def _attached(carrier: Mapping[str, str]) -> Token[Context]:
    context = TraceContextTextMapPropagator().extract(carrier)
    return context_api.attach(W3CBaggagePropagator().extract(carrier, context))


def step_budget() -> int | None:
    """How many steps (LLM calls and tool calls) the benchmark allows this run; None = any number, or no benchmark."""
    value = baggage.get_baggage(names.STEP_BUDGET)
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def cost_budget() -> float | None:
    """What the benchmark allows this run to cost [USD]; None = anything, or no benchmark."""
    value = baggage.get_baggage(names.COST_BUDGET)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def variant() -> str | None:
    """Which variant of itself the benchmark wants the agent to be; None = none in particular, or no benchmark."""
    # The variant of a run includes its budget; what was asked for then travels beside it.
    asked = baggage.get_baggage(names.VARIANT_ASKED)
    value = baggage.get_baggage(names.VARIANT) if asked is None else asked
    return value if isinstance(value, str) and value else None
