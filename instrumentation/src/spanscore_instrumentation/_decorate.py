"""One operation per call of a decorated function, whether it returns, is awaited or yields.

A span is never current while a generator is suspended: its consumer would become a child of it. So it is attached for
each step and detached before the value is handed out.
"""

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from spanscore_instrumentation._content import records_content
from spanscore_instrumentation._quiet import quiet

if TYPE_CHECKING:
    from spanscore_instrumentation._operation import Operation

P = ParamSpec("P")
R = TypeVar("R")


def decorated(operation: "Operation", function: Callable[P, R]) -> Callable[P, R]:
    """`function` with a renewed `operation` around every call, of the same sort as `function` itself."""
    begin = _Beginning(operation, function)
    if inspect.isasyncgenfunction(function):
        wrapper: Any = _async_generator(begin, function)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(begin, function)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(begin, function)
    else:
        wrapper = _plain(begin, function)
    return cast("Callable[P, R]", functools.wraps(function)(wrapper))


class _Beginning:
    """Starts the operation of one call, and records what the function was called with."""

    def __init__(self, operation: "Operation", function: Callable[..., Any]) -> None:
        self._operation = operation
        self._name: str = getattr(function, "__name__", type(function).__name__)
        self._signature = _signature(function)

    def renewed(self) -> "Operation":
        return self._operation.renewed(self._name)

    @quiet
    def called(self, active: "Operation", args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if active.is_recording and records_content():
            active.called(_by_name(self._signature, args, kwargs))


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return None


def _by_name(signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter name, without `self` and `cls`."""
    try:
        bound = signature.bind(*args, **kwargs) if signature is not None else None
    except TypeError:  # the call itself is about to fail with the same message
        bound = None
    if bound is None:
        return {**({"args": list(args)} if args else {}), **kwargs}
    arguments: dict[str, Any] = {}
    for position, (name, value) in enumerate(bound.arguments.items()):
        if position == 0 and name in {"self", "cls"}:
            continue
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    return arguments


@quiet
def _returned(active: "Operation", value: object) -> None:
    if active.is_recording:
        active.returned(value)


@quiet
def _yielded(active: "Operation", value: object) -> None:
    if active.is_recording:
        active.yielded(value)


def _plain(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with begin.renewed() as active:
            begin.called(active, args, kwargs)
            value = function(*args, **kwargs)
            _returned(active, value)
        return value

    return call


def _coroutine(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with begin.renewed() as active:
            begin.called(active, args, kwargs)
            value = await function(*args, **kwargs)
            _returned(active, value)
        return value

    return call


def _generator(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        active = begin.renewed()
        active.open()
        begin.called(active, args, kwargs)
        resume, argument = generator.send, None
        try:
            while True:
                active.attach()
                try:
                    item = resume(argument)
                except StopIteration as stop:
                    if stop.value is not None:
                        _returned(active, stop.value)
                    return stop.value
                finally:
                    active.detach()
                _yielded(active, item)
                try:
                    resume, argument = generator.send, (yield item)
                except GeneratorExit:
                    active.attach()
                    try:
                        generator.close()
                    finally:
                        active.detach()
                    raise
                except BaseException as thrown:  # noqa: BLE001 - it belongs to the generator, whatever it is
                    resume, argument = generator.throw, thrown
        except BaseException as error:
            active.fail(error)
            raise
        finally:
            active.close()

    return call


def _async_generator(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **kwargs)
        active = begin.renewed()
        active.open()
        begin.called(active, args, kwargs)
        resume, argument = generator.asend, None
        try:
            while True:
                active.attach()
                try:
                    item = await resume(argument)
                except StopAsyncIteration:
                    return
                finally:
                    active.detach()
                _yielded(active, item)
                try:
                    resume, argument = generator.asend, (yield item)
                except GeneratorExit:
                    active.attach()
                    try:
                        await generator.aclose()
                    finally:
                        active.detach()
                    raise
                except BaseException as thrown:  # noqa: BLE001 - it belongs to the generator, whatever it is
                    resume, argument = generator.athrow, thrown
        except BaseException as error:
            active.fail(error)
            raise
        finally:
            active.close()

    return call
