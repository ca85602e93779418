"""Faults put into tools at fixed calls, so that what an agent does about them can be measured and repeated.

The faults of a benchmark's case travel as baggage. Only tools that were marked with `injectable`, and mocks, heed them:
nothing that a request carries can make another tool fail.
"""

import functools
import inspect
import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeVar, cast

from opentelemetry import baggage, trace

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._operation import current
from spanscore_instrumentation._quiet import quiet, report_once
from spanscore_instrumentation._tool import Tool

P = ParamSpec("P")
R = TypeVar("R")

FaultKind = Literal["error", "timeout", "empty", "malformed", "delay", "wrong"]

_KINDS = ("error", "timeout", "empty", "malformed", "delay", "wrong")
_MESSAGES = {"error": "the tool failed", "timeout": "the tool did not answer in time"}
_TRUNCATED = '{"result": "…'
# Attempts whose calls are counted; the oldest are forgotten.
_ATTEMPTS_KEPT = 1000


class ToolFault(RuntimeError):
    """A tool that fails because it was told to."""


class ToolTimeout(TimeoutError):
    """A tool that does not answer in time because it was told to; it does not make anybody wait for that."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at one call of a tool.

    Attributes:
        call: which call of the tool within one run: 1, 2, … [count].
        kind: `error` raises ToolFault, `timeout` raises ToolTimeout; `empty` gives nothing back, `malformed` broken
            JSON, `wrong` what `result` says; `delay` answers rightly, `seconds` late.
        message: what the exception says.
        seconds: how much later the tool answers or fails [s].
        result: what a `wrong` call gives back.
    """

    call: int
    kind: FaultKind
    message: str | None = None
    seconds: float = 0.0
    result: object = None

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"`kind` is {self.kind!r}: give one of {', '.join(_KINDS)}")
        if self.call < 1:
            raise ValueError(f"`call` is {self.call}: calls are counted from 1")


class _Calls:
    """Counts the calls of each tool, attempt by attempt."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._counts: OrderedDict[object, Counter[str]] = OrderedDict()

    def next(self, tool: str) -> int:
        """Number of this call of the tool in the current attempt, from 1."""
        key = _attempt()
        with self._mutex:
            counts = self._counts.setdefault(key, Counter())
            self._counts.move_to_end(key)
            while len(self._counts) > _ATTEMPTS_KEPT:
                self._counts.popitem(last=False)
            counts[tool] += 1
            return counts[tool]


_calls = _Calls()


def _attempt() -> object:
    """What tells attempts apart: the trace, which a harness makes anew for each; without one, the ids in baggage."""
    span_context = trace.get_current_span().get_span_context()
    if span_context.is_valid:
        return span_context.trace_id
    return tuple(str(baggage.get_baggage(key)) for key in (names.EXPERIMENT_ID, names.CASE_ID, names.TRIAL))


def _given(tool: str) -> list[Fault]:
    """The faults of this tool that the current case asks for."""
    text = baggage.get_baggage(names.FAULTS)
    if not isinstance(text, str):
        return []
    try:
        return [Fault(call, kind, *message) for name, call, kind, *message in json.loads(text) if name == tool]
    except (ValueError, TypeError) as error:
        report_once("faults", f"the faults in baggage cannot be read: {error}", exc_info=False)
        return []


def injectable(name: str, *, faults: Sequence[Fault] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for a tool function, synchronous or not, that puts faults into it at fixed calls.

    Stands below `@tool`, so that the trace shows the fault as the tool's own.

    Args:
        name: of the tool, as cases and the model know it.
        faults: that always happen, beside those of the benchmark's current case.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if inspect.iscoroutinefunction(function):

            async def call_async(*args: Any, **kwargs: Any) -> Any:
                import asyncio

                fault = _due(name, faults)
                if fault is None:
                    return await function(*args, **kwargs)
                if fault.seconds > 0:
                    await asyncio.sleep(fault.seconds)
                _fail(fault)
                return _spoilt(fault, await function(*args, **kwargs))

            return cast("Callable[P, R]", functools.wraps(function)(call_async))

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            fault = _due(name, faults)
            if fault is None:
                return function(*args, **kwargs)
            if fault.seconds > 0:
                time.sleep(fault.seconds)
            _fail(fault)
            return cast("R", _spoilt(fault, function(*args, **kwargs)))

        return call

    return decorate


def _due(tool: str, faults: Sequence[Fault]) -> Fault | None:
    """The fault of this call, which is hereby counted; None = it goes well."""
    number = _calls.next(tool)
    due = next((fault for fault in (*_given(tool), *faults) if fault.call == number), None)
    if due is not None:
        _mark(due)
    return due


@quiet
def _mark(fault: Fault) -> None:
    """Says on the span of the tool that its failure was made."""
    current(Tool).span.set_attribute(names.FAULT_KIND, fault.kind)


def _fail(fault: Fault) -> None:
    if fault.kind == "error":
        raise ToolFault(fault.message or _MESSAGES["error"])
    if fault.kind == "timeout":
        raise ToolTimeout(fault.message or _MESSAGES["timeout"])


def _spoilt(fault: Fault, result: object) -> object:
    """What is given back in the place of `result`."""
    if fault.kind == "wrong":
        return fault.result
    if fault.kind == "malformed":
        return _TRUNCATED
    if fault.kind == "empty":
        return type(result)() if isinstance(result, (str, list, dict, tuple)) else None
    return result
