"""What agent, LLM call, tool, retrieval and handoff have in common: one span with a beginning and an outcome."""

import traceback
from abc import ABC, abstractmethod
from asyncio import CancelledError
from collections.abc import Callable
from contextvars import Token
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._content import admitted, records_content
from spanscore_instrumentation._decorate import decorated
from spanscore_instrumentation._json import clean_text, to_attribute, to_text
from spanscore_instrumentation._messages import to_messages
from spanscore_instrumentation._quiet import quiet
from spanscore_instrumentation._version import __version__

P = ParamSpec("P")
R = TypeVar("R")
Kind = TypeVar("Kind", bound="Operation")

_FRAME = context_api.create_key("spanscore-frame")
_tracer: trace.Tracer | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What an operation passes on to those inside it, within one thread or task."""

    operation: "Operation"
    outer: "Frame | None"
    agent_name: str | None
    conversation_id: str | None


def current_frame() -> Frame | None:
    """The frame of the innermost recording operation around the caller, or None."""
    frame = context_api.get_value(_FRAME)
    return frame if isinstance(frame, Frame) else None


def current(kind: type[Kind]) -> Kind:
    """The innermost operation of this kind around the caller, for code that was not handed it.

    Where there is none, or nothing records, an inert one: its methods do nothing, so that the caller need not ask.
    """
    frame = current_frame()
    while frame is not None:
        if isinstance(frame.operation, kind):
            return frame.operation
        frame = frame.outer
    inert = kind.__new__(kind)
    Operation.__init__(inert, None)
    return inert


def _current_tracer() -> trace.Tracer | None:
    """The tracer of the program's provider, or None as long as there is no provider."""
    global _tracer  # noqa: PLW0603 - a provider is set once per process, and looking for it takes half a microsecond
    if _tracer is None:
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            return None
        _tracer = provider.get_tracer("spanscore_instrumentation", __version__)
    return _tracer


def _error_type(error: BaseException) -> str:
    """The class of an error as `error.type`: bare for built-in ones, with its module otherwise."""
    if isinstance(error, (CancelledError, GeneratorExit, KeyboardInterrupt)):
        return "cancelled"
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Operation(ABC):
    """One span, as a context manager (`with` and `async with`) and as a decorator.

    Entered, it opens the span and makes it current. Left, it ends the span and lets every exception through. As a
    decorator it opens a new span for every call. One object serves one `with` at a time.
    """

    __slots__ = ("_attached", "_context", "_span", "_started_at", "name")

    operation: str
    kind: ClassVar[SpanKind] = SpanKind.INTERNAL

    def __init__(self, name: str | None) -> None:
        self.name = name
        self._span: Span = INVALID_SPAN
        self._context: Context | None = None
        self._attached: Token[Context] | None = None
        self._started_at = 0.0

    # What a kind of operation says about itself. All but the first two are called only while the span records.

    @abstractmethod
    def renewed(self, function_name: str) -> Self:
        """A fresh operation with the same settings, for one call of a decorated function."""

    @abstractmethod
    def start_attributes(self) -> dict[str, Any]:
        """What is known before the work begins, None for unknown: a sampler can see it."""

    def started(self) -> None:
        """Record the content that was given at construction."""

    def called(self, arguments: dict[str, Any]) -> None:
        """A decorated function was called with these arguments, by name."""

    def returned(self, value: object) -> None:
        """A decorated function returned `value`."""

    def yielded(self, value: object) -> None:
        """A decorated generator yielded `value`."""

    def ending(self) -> None:
        """Record what was gathered along the way; the span is about to end."""

    def passed_on(self, outer: Frame | None) -> Frame:
        """What operations inside this one inherit."""
        if outer is None:
            return Frame(self, None, None, None)
        return Frame(self, outer, outer.agent_name, outer.conversation_id)

    # The life of the span.

    @property
    def span(self) -> Span:
        """The OpenTelemetry span, for attributes and events of your own; it records only while the operation runs."""
        return self._span

    @property
    def is_recording(self) -> bool:
        """Whether anything set now will be exported."""
        return self._span.is_recording()

    @quiet
    def open(self) -> None:
        """Start the span without making it current."""
        self._span, self._context = INVALID_SPAN, None
        tracer = _current_tracer()
        if tracer is None:
            return
        outer = current_frame()
        attributes = {names.OPERATION_NAME: self.operation, **self.start_attributes()}
        if outer is not None:
            if outer.agent_name is not None:
                attributes.setdefault(names.AGENT_NAME, outer.agent_name)
            if outer.conversation_id is not None:
                attributes.setdefault(names.CONVERSATION_ID, outer.conversation_id)
        span = tracer.start_span(
            clean_text(f"{self.operation} {self.name}") if self.name else self.operation,
            kind=self.kind,
            attributes={key: value for key, given in attributes.items() if (value := to_attribute(given)) is not None},
        )
        if not span.get_span_context().is_valid:
            return
        self._span = span
        self._context = trace.set_span_in_context(span)
        if span.is_recording():
            self._started_at = perf_counter()
            self._context = context_api.set_value(_FRAME, self.passed_on(outer), self._context)
            self.started()

    def attach(self) -> None:
        """Make the span current for the caller's thread or task."""
        if self._context is not None:
            self._attached = context_api.attach(self._context)

    def detach(self) -> None:
        """Undo `attach`."""
        token, self._attached = self._attached, None
        if token is not None:
            try:
                # Not `context_api.detach`, which logs an error where a `with` block inside a generator is closed from
                # another task than the one that entered it; there is nothing to restore there.
                token.var.reset(token)
            except ValueError:
                return

    @quiet
    def fail(self, error: BaseException) -> None:
        """Record an exception. A generator that its consumer closed early is cancelled, but no error."""
        if not self._span.is_recording():
            return
        error_type = _error_type(error)
        self._span.set_attribute(names.ERROR_TYPE, error_type)
        if isinstance(error, GeneratorExit):
            return
        self._span.set_status(Status(StatusCode.ERROR))  # stands even if the exception cannot say its message
        message = admitted("exception.message", str(error))
        event = {"exception.type": error_type}
        if message is not None:
            event["exception.message"] = to_text(message)
            if message == str(error):  # a redactor that changed the message would see it leak through the stack trace
                event["exception.stacktrace"] = clean_text("".join(traceback.format_exception(error)))
        self._span.add_event("exception", event)
        self._span.set_status(Status(StatusCode.ERROR, event.get("exception.message")))

    @quiet
    def error(self, error_type: str, message: str | None = None) -> None:
        """Record a failure that raised nothing, such as a tool that answers "not found".

        Args:
            error_type: a name from a small set, such as `not_found` or `timeout`.
            message: what happened; content, so it follows the content switch.
        """
        if not self._span.is_recording():
            return
        self._span.set_attribute(names.ERROR_TYPE, clean_text(str(error_type)))
        admitted_message = admitted("error.message", message)
        self._span.set_status(Status(StatusCode.ERROR, None if admitted_message is None else to_text(admitted_message)))

    @quiet
    def close(self) -> None:
        """End the span; a second call does nothing."""
        if self._span.is_recording():
            self._finish()
            self._span.end()

    @quiet
    def _finish(self) -> None:
        self.ending()

    # For the kinds.

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        """Set those that are known."""
        for key, given in attributes.items():
            value = to_attribute(given)
            if value is not None:
                self._span.set_attribute(key, value)

    def set_content(self, attribute: str, value: object) -> None:
        """Set `value` as text, as far as the content switch admits it."""
        recorded = admitted(attribute, value) if self._span.is_recording() else None
        if recorded is not None:
            self._span.set_attribute(attribute, to_text(recorded))

    def set_messages(self, attribute: str, value: object, role: str) -> None:
        """Set `value` as messages in the conventions' shape, as far as the content switch admits it."""
        if value is not None and self._span.is_recording() and records_content():
            self.set_content(attribute, to_messages(value, role=role))

    def seconds_since_start(self) -> float:
        """How long the operation has been running [s]."""
        return perf_counter() - self._started_at

    # How it is used.

    def __enter__(self) -> Self:
        self.open()
        self.attach()
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, error: BaseException | None, trace_back: TracebackType | None
    ) -> None:
        self.detach()
        if error is not None:
            self.fail(error)
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, exception_type: type[BaseException] | None, error: BaseException | None, trace_back: TracebackType | None
    ) -> None:
        self.__exit__(exception_type, error, trace_back)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """`function`, traced at every call; coroutine functions, generators and async generators stay what they are."""
        return decorated(self, function)
