"""Interrupts a query that runs too long. DuckDB's own limit also counts the time in which nobody reads its rows."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AGAIN_S = 0.05


class Stopwatch:
    """Calls `interrupt` once `seconds` have passed in the body of the `with`, pauses aside, and then ever again."""

    def __init__(self, seconds: float, interrupt: Callable[[], None]) -> None:
        self._left_s = seconds
        self._interrupt = interrupt
        self._since: float | None = time.monotonic()
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time in the body does not count."""
        with self._changed:
            assert self._since is not None
            self._left_s -= time.monotonic() - self._since
            self._since = None
        try:
            yield
        finally:
            with self._changed:
                self._since = time.monotonic()
                self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._is_over:
                left = None if self._since is None else self._left_s - (time.monotonic() - self._since)
                if left is not None and left <= 0:
                    # One that comes between two statements stops neither.
                    self._interrupt()
                    left = _AGAIN_S
                self._changed.wait(left)
