"""An agent that is a Python callable of this process."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.bench.agents.agent import answer_text, timed_out, within
from spanscore.bench.agents.telemetry import Telemetry
from spanscore.bench.trial import Ending, Outcome
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from spanscore.bench.suites import Case
    from spanscore.bench.trial import TrialContext

# What clients raise when they cannot reach a service, beside Python's own ConnectionError: names, as none is imported.
_CANNOT_REACH = frozenset({"APIConnectionError", "ConnectError", "NewConnectionError", "ServiceUnavailable"})


class CallableAgent:
    """Calls `package.module:callable` with the text of the case; with `case` and `context` too, if it takes them.

    It may be a function or coroutine function, or a generator of either kind, whose pieces are joined.
    """

    settle_s = 0.0

    def __init__(self, target: str) -> None:
        """Args: target: `package.module:callable`, or `path/to/file.py:callable`; imported when opened."""
        module, colon, name = target.rpartition(":")
        if not colon or not module or not name:
            raise UsageError(f"--agent {target} names no callable. Write package.module:callable, or file.py:callable.")
        self.description = target
        self._module = module
        self._name = name
        self._function: Callable[..., Any] | None = None
        self._extra: frozenset[str] = frozenset()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telemetry = Telemetry()

    def open(self, endpoint: str) -> None:
        """Imports the callable, with the endpoint in the environment, and listens to the spans of this process.

        Raises:
            UsageError: it cannot be imported, or cannot be called.
        """
        self._telemetry.open(endpoint)
        self._function = self._imported()
        self._extra = _extra_parameters(self._function)
        self._telemetry.attach(service_name=self._module.rpartition("/")[2].removesuffix(".py"))
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="spanscore-agents", daemon=True).start()

    def ask(self, case: Case, context: TrialContext, *, timeout_s: float) -> Outcome:
        """Calls it on a thread of its own; a coroutine runs on one event loop for all trials, as in a server."""
        given = {"case": case, "context": context}
        extra = {name: given[name] for name in self._extra}
        return within(timeout_s, lambda: self._call(case.input, extra, context, timeout_s))

    def _call(self, text: str, extra: dict[str, Any], context: TrialContext, timeout_s: float) -> Outcome:
        assert self._function is not None
        try:
            with _in_context(context):
                value = self._function(text, **extra)
                if inspect.isgenerator(value):
                    value = _joined(list(value))
            if inspect.isasyncgen(value) or inspect.isawaitable(value):
                value = self._awaited(_in_task(value, context), timeout_s)
        except TimeoutError as error:
            return Outcome(Ending.ERROR, None, "TimeoutError", str(error) or None)
        except _Late:
            return timed_out(timeout_s)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the agent raises is its outcome, SystemExit too
            return _failure(error)
        return Outcome(Ending.OK, answer_text(value))

    def _awaited(self, work: Coroutine[Any, Any, Any], timeout_s: float) -> Any:
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(_marked(work), timeout_s), self._loop)
        try:
            return future.result().value()
        except TimeoutError:
            raise _Late from None

    def flush(self) -> None:
        """Exports what has been recorded."""
        self._telemetry.flush()

    def close(self) -> None:
        """Stops the event loop and the export."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None
        self._telemetry.close()

    def _imported(self) -> Callable[..., Any]:
        try:
            found: Any = self._imported_module()
            for part in self._name.split("."):
                found = getattr(found, part)
        except Exception as error:
            raise UsageError(
                f"--agent {self.description} cannot be imported: {type(error).__name__}: {error}\n"
                "  The folder you are in is searched first; is everything it imports installed here?"
            ) from error
        if not callable(found):
            raise UsageError(f"--agent {self.description} is no callable, but a {type(found).__name__}.")
        function: Callable[..., Any] = found
        return function

    def _imported_module(self) -> Any:
        if not self._module.endswith(".py"):
            folder = str(Path.cwd())
            if folder not in sys.path:
                sys.path.insert(0, folder)
            return importlib.import_module(self._module)
        path = Path(self._module).resolve()
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise ImportError(f"there is no file `{path}`")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module


class _Late(Exception):
    """The harness ran out of patience; not the same as a TimeoutError that the agent raised."""


class _Result:
    """A value or an error, so that an agent's own TimeoutError passes through `wait_for` unseen."""

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self._value = value
        self._error = error

    def value(self) -> Any:
        if isinstance(self._error, TimeoutError):
            raise _OwnTimeout(str(self._error)) from self._error
        if self._error is not None:
            raise self._error
        return self._value


class _OwnTimeout(Exception):
    """A TimeoutError of the agent."""


async def _marked(work: Coroutine[Any, Any, Any]) -> _Result:
    try:
        return _Result(await work)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
        return _Result(error=error)


async def _in_task(value: Any, context: TrialContext) -> Any:
    with _in_context(context):
        if inspect.isasyncgen(value):
            return _joined([piece async for piece in value])
        return await value


def _joined(pieces: list[Any]) -> Any:
    """Texts as one; of other pieces the last."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces[-1]


def _failure(error: BaseException) -> Outcome:
    names = {kind.__name__ for kind in type(error).__mro__}
    cannot_reach = isinstance(error, ConnectionError) or not names.isdisjoint(_CANNOT_REACH)
    kind = "TimeoutError" if isinstance(error, _OwnTimeout) else type(error).__qualname__
    return Outcome(Ending.INFRASTRUCTURE if cannot_reach else Ending.ERROR, None, kind, str(error)[:2000] or None)


def _extra_parameters(function: Callable[..., Any]) -> frozenset[str]:
    """Which of `case` and `context` the callable takes, beside the text."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return frozenset()
    named = {one.name for one in parameters[1:] if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    return frozenset(named & {"case", "context"})


@contextmanager
def _in_context(context: TrialContext) -> Iterator[None]:
    """Inside, OpenTelemetry's context is that of the attempt, if OpenTelemetry is there."""
    try:
        from opentelemetry import context as context_api
        from opentelemetry.baggage.propagation import W3CBaggagePropagator
        from opentelemetry.context import Context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError:
        yield
        return
    # From an empty context: what the harness itself is part of is none of the agent's business.
    extracted = TraceContextTextMapPropagator().extract(context.headers, Context())
    token = context_api.attach(W3CBaggagePropagator().extract(context.headers, extracted))
    try:
        yield
    finally:
        context_api.detach(token)
