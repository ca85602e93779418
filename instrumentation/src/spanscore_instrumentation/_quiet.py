"""Telemetry never raises into the program that it observes."""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("spanscore_instrumentation")
_reported: set[str] = set()


def report_once(place: str, message: str, *, exc_info: bool = True) -> None:
    """Warn the first time something fails at `place`; later failures there go to the debug level.

    Args:
        place: where it failed.
        message: what failed.
        exc_info: whether the current exception may be shown; not where its message could hold redacted content.
    """
    level = logging.DEBUG if place in _reported else logging.WARNING
    _reported.add(place)
    logger.log(
        level, "%s: %s; the program goes on, this piece of telemetry is missing", place, message, exc_info=exc_info
    )


def quiet(function: Callable[P, R]) -> Callable[P, R | None]:
    """`function`, but an exception inside is logged and None is returned.

    Only for code of this package: nothing that the user wrote may run under it, except a redactor or the conversion of
    a value to text, whose failures are the loss of one attribute.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever it is, the observed program must not see it
            report_once(function.__qualname__, "failed")
            return None

    return call
