"""Slots lie evenly, each is used once, and nothing but the steady clock moves them."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.production.durations import seconds
from spanscore.production.schedule import Stop, every, stop_on_signals


class Clock:
    """A steady clock that work and waiting push on."""

    def __init__(self, took: list[float], start: float) -> None:
        self.now = start
        self.began: list[float] = []
        self.missed = 0
        self._took = took

    def work(self) -> None:
        self.began.append(self.now)
        self.now += self._took[len(self.began) - 1]

    def wait(self, left: float) -> bool:
        self.now += left
        return False

    def is_stopping(self) -> bool:
        return len(self.began) == len(self._took)

    def run(self, interval_s: float) -> None:
        def missed(slots: int) -> None:
            self.missed += slots

        every(
            interval_s,
            self.work,
            is_stopping=self.is_stopping,
            wait=self.wait,
            clock=lambda: self.now,
            on_missed=missed,
        )


def test_passes_do_not_drift() -> None:
    clock = Clock([0.3, 0.1, 0.9, 0.2], start=1000.0)
    clock.run(5.0)

    assert clock.began == [1000.0, 1005.0, 1010.0, 1015.0]


def test_a_slot_that_was_missed_is_not_made_up_for() -> None:
    clock = Clock([1.0, 12.0, 1.0, 1.0], start=0.0)
    clock.run(5.0)

    assert clock.began == [0.0, 5.0, 20.0, 25.0]
    assert clock.missed == 2


@given(
    took=st.lists(st.integers(0, 400), min_size=2, max_size=12),
    interval=st.integers(1, 60),
    start=st.integers(0, 10**6),
)
def test_every_pass_has_a_slot_of_its_own(took: list[int], interval: int, start: int) -> None:
    clock = Clock([float(one) for one in took], start=float(start))
    clock.run(float(interval))
    slots = [(moment - start) / interval for moment in clock.began]

    assert all(slot == int(slot) for slot in slots)
    assert len(set(slots)) == len(slots)


def test_a_wall_clock_that_jumps_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[float] = []
    start = time.monotonic()
    monkeypatch.setattr(time, "time", lambda: 1e12)
    every(
        0.05,
        lambda: began.append(time.monotonic() - start),
        is_stopping=lambda: len(began) == 3,
        wait=lambda left: time.sleep(left) or False,  # type: ignore[func-returns-value]
    )

    assert [round(moment / 0.05) for moment in began] == sorted({round(moment / 0.05) for moment in began})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait(number: signal.Signals) -> None:
    done: list[float] = []
    with stop_on_signals() as stop:
        threading.Timer(0.1, lambda: signal.raise_signal(number)).start()
        began = time.monotonic()
        every(60.0, lambda: done.append(1), is_stopping=stop.is_asked, wait=stop.wait)

    assert done == [1]
    assert time.monotonic() - began < 30
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_nobody_asked() -> None:
    assert Stop().wait(0.001) is False


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90s", 90),
        ("5m", 300),
        ("1.5h", 5400),
        ("7d", 604800),
        ("0s", None),
        ("5", None),
        ("* * * * *", None),
        ("-1m", None),
    ],
)
def test_lengths_of_time(text: str, length: float | None) -> None:
    assert seconds(text) == length
