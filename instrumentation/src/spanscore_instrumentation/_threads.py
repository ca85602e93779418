"""Work that runs on another thread, still part of the operation that started it."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from opentelemetry import context as context_api

P = ParamSpec("P")
R = TypeVar("R")


def in_current_context(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, running as a part of the operation that is current now, on whatever thread it is called.

    `asyncio` does this by itself, thread pools do not: `pool.submit(in_current_context(work), item)`.
    """
    context = context_api.get_current()

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        token = context_api.attach(context)
        try:
            return function(*args, **kwargs)
        finally:
            context_api.detach(token)

    return call
