"""Passes at even distances of a clock that only goes forward: daylight saving and corrected clocks do not move them."""

from __future__ import annotations

import math
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SLICE_S = 0.5


class Stop:
    """Asked to stop: by SIGTERM, or by Ctrl-C."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ask(self) -> None:
        """Ask to stop after what is in hand."""
        self._event.set()

    def is_asked(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits that long, or until asked; returns whether asked."""
        # A signal that the kernel gives to another thread does not wake this one, and its handler runs only here.
        deadline = time.monotonic() + seconds
        while not self._event.wait(max(0.0, min(_SLICE_S, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                return False
        return True


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """A `Stop` that SIGTERM and SIGINT ask; a second SIGINT interrupts at once."""
    stop = Stop()

    def ask(number: int, _: object) -> None:
        stop.ask()
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    earlier = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def every(
    interval_s: float,
    work: Callable[[], None],
    *,
    is_stopping: Callable[[], bool],
    wait: Callable[[float], bool],
    clock: Callable[[], float] = time.monotonic,
    on_missed: Callable[[int], None] = lambda _: None,
) -> None:
    """Works at once, then in every slot, until asked to stop.

    Slots lie `interval_s` apart, counted from the start and not from the end of the work, so nothing drifts. Work that
    takes longer than that runs into the next slots: these are left out, not made up for.

    Args:
        interval_s: distance of slots [s].
        work: what to do, once a slot.
        is_stopping: whether somebody asked to stop.
        wait: waits that long [s], or until asked; returns whether asked.
        clock: that only goes forward [s].
        on_missed: told how many slots were left out [count].
    """
    start = clock()
    slot = 0
    while not is_stopping():
        work()
        passed = math.floor((clock() - start) / interval_s)
        if passed > slot:
            on_missed(passed - slot)
        slot = max(slot, passed) + 1
        while (left := start + slot * interval_s - clock()) > 0:
            if wait(left):
                return
