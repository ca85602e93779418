"""Tools that always answer the same, for agents that are tried without the world."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spanscore_instrumentation._faults import Fault, injectable
from spanscore_instrumentation._tool import Tool


def mock_tool(
    name: str,
    answers: Mapping[Any, object] | Callable[..., object] | object,
    *,
    faults: Sequence[Fault] = (),
    description: str | None = None,
) -> Callable[..., Any]:
    """A traced tool that needs nothing from outside, and gives the same answer to the same arguments.

    Args:
        name: under which the model knows the tool.
        answers: what it answers. A mapping: by the first argument, KeyError for what is not in it; a function: what
            that returns; anything else: always this.
        faults: that always happen; those of the benchmark's current case come on top.
        description: what the model is told about the tool.
    """
    if callable(answers):
        function: Callable[..., Any] = answers
    elif isinstance(answers, Mapping):
        function = functools.partial(_looked_up, name, answers)
    else:
        function = functools.partial(_constant, answers)
    return Tool(name, description=description)(injectable(name, faults=faults)(_named(function, name)))


def _looked_up(name: str, answers: Mapping[Any, object], key: object) -> object:
    if key not in answers:
        raise KeyError(f"{name} has no answer for {key!r}")
    return answers[key]


def _constant(answer: object, *_: object, **__: object) -> object:
    return answer


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    if hasattr(function, "__name__"):
        return function
    named: Any = functools.partial(function)
    named.__name__ = name
    return named  # type: ignore[no-any-return]
