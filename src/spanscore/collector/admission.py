"""Whether a request may come in: bytes in memory, room on disk, and whether the collector is stopping."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from spanscore.collector.config import CollectorConfig
from spanscore.collector.memory import MemoryGauge, available_bytes
from spanscore.collector.wire import Refusal, Refused

QUEUE_WITHIN_S = 5.0
LARGE_BYTES = 4 << 20
"""Requests larger than this are decoded one at a time."""

THREADS = 64
"""Of each receiver: so many that some are left when large requests wait for their turn."""

_UNPACKED_AT_ONCE = 2
_DISK_CHECK_EVERY_S = 1.0
_SOFT_LIMIT = 0.8
_SPOOL_RETRY_S = 30


class Admission:
    """Says no early and in a way that makes clients keep their data."""

    def __init__(self, config: CollectorConfig, *, waiting_bytes: Callable[[], int]) -> None:
        """`waiting_bytes` gives the size of the spool that is not yet loaded [bytes]."""
        self._config = config
        self._waiting_bytes = waiting_bytes
        self._mutex = threading.Lock()
        self._in_flight = 0
        self._is_stopping = False
        self._disk: Refused | None = None
        self._next_disk_check = 0.0
        self._memory = MemoryGauge(round(_SOFT_LIMIT * (config.limits.max_memory_bytes or available_bytes())))
        self._spool_failed_until = 0.0
        self._decoding = Decoding(config.limits.max_in_flight_bytes)
        self._unpacked = threading.Semaphore(_UNPACKED_AT_ONCE)

    def refusal(self) -> Refused | None:
        """Why nothing can be accepted at the moment; None when it can."""
        if self._is_stopping:
            return Refused(Refusal.UNAVAILABLE, "The collector is stopping.", retry_after_s=5)
        if time.monotonic() >= self._next_disk_check:
            self._next_disk_check = time.monotonic() + _DISK_CHECK_EVERY_S
            self._disk = self._check_disk()
        return self._disk or self.memory_refusal()

    def unreadiness(self) -> Refused | None:
        """Why requests are refused at the moment, those included that only the next one to come would find out."""
        with self._mutex:
            is_full = self._in_flight >= self._config.limits.max_in_flight_bytes
        if is_full:
            return Refused(Refusal.UNAVAILABLE, "The collector is overloaded: too many bytes are in flight.")
        if time.monotonic() < self._spool_failed_until:
            return Refused(Refusal.UNAVAILABLE, "The last request could not be written to disk.", _SPOOL_RETRY_S)
        return self.refusal()

    def note_spool(self, *, has_failed: bool) -> None:
        """Remembers how the last write ended, for as long as clients were told to wait before they try again."""
        self._spool_failed_until = time.monotonic() + _SPOOL_RETRY_S if has_failed else 0.0

    def memory_refusal(self) -> Refused | None:
        """The refusal where this process has come close to the memory it may use; None where it has not."""
        if self._memory.is_over():
            return Refused(Refusal.UNAVAILABLE, "The collector is overloaded: its memory is almost used up.", 5)
        return None

    def stop(self) -> None:
        """Refuses whatever comes from now on."""
        self._is_stopping = True

    def hold(self) -> "Hold":
        """A context in which bytes count as in flight."""
        return Hold(self)

    def turn(self, *, waits_since: float) -> "Turn":
        """A context in which a request is unpacked and decoded; see `decoding` for `waits_since`."""
        return Turn(self._unpacked, waits_since + QUEUE_WITHIN_S)

    def take(self, amount: int) -> bool:
        """Counts bytes as in flight; False, counting nothing, when there is no room for them."""
        with self._mutex:
            if self._in_flight + amount > self._config.limits.max_in_flight_bytes:
                return False
            self._in_flight += amount
            return True

    def give_back(self, amount: int) -> None:
        """The opposite of `take`."""
        with self._mutex:
            self._in_flight -= amount

    @contextmanager
    def decoding(self, size: int, memory: int, *, waits_since: float) -> Iterator[Refused | None]:
        """A context in which a request may be decoded, once there is memory for it; the refusal when there is not soon.

        Args:
            size: of the request [bytes].
            memory: what decoding it will take [bytes].
            waits_since: when it was read completely, on the monotonic clock [s].
        """
        deadline = waits_since + QUEUE_WITHIN_S
        if not self._decoding.begin(size, memory, deadline):
            yield waited_too_long()
            return
        try:
            yield None
        finally:
            self._decoding.end(size, memory)

    def _check_disk(self) -> Refused | None:
        try:
            return self._disk_refusal()
        except OSError as error:
            return Refused(Refusal.UNAVAILABLE, f"The collector's disk cannot be looked at: {error.strerror}.", 30)

    def _disk_refusal(self) -> Refused | None:
        free = shutil.disk_usage(self._config.store).free
        if free < self._config.limits.min_free_bytes:
            return Refused(Refusal.UNAVAILABLE, f"The collector's disk is almost full: {free} bytes are free.", 30)
        waiting = self._waiting_bytes()
        if waiting > self._config.limits.max_waiting_bytes:
            return Refused(Refusal.UNAVAILABLE, f"{waiting} bytes wait to be loaded, more than allowed.", 30)
        return None


def waited_too_long() -> Refused:
    """The refusal of a request whose turn did not come in time."""
    return Refused(Refusal.UNAVAILABLE, "The collector is overloaded: the request waited too long.", 5)


class Decoding:
    """Shares out the memory for decoding: a payload grows many times over meanwhile, so large ones take turns."""

    def __init__(self, budget: int) -> None:
        """`budget`: for everything that is decoded at one time [bytes]. A request that needs more is decoded alone."""
        self._budget = budget
        self._memory = 0
        self._has_large = False
        self._changed = threading.Condition()

    def begin(self, size: int, memory: int, deadline: float) -> bool:
        """Waits for room; False, taking none, when there is none by the deadline on the monotonic clock [s]."""
        is_large = size > LARGE_BYTES

        def has_room() -> bool:
            fits = self._memory == 0 or self._memory + memory <= self._budget
            return fits and not (is_large and self._has_large)

        with self._changed:
            left = deadline - time.monotonic()
            if left < 0 or not self._changed.wait_for(has_room, left):
                return False
            self._memory += memory
            self._has_large = self._has_large or is_large
            return True

    def end(self, size: int, memory: int) -> None:
        """The opposite of `begin`."""
        with self._changed:
            self._memory -= memory
            if size > LARGE_BYTES:
                self._has_large = False
            self._changed.notify_all()


class Turn:
    """The right to unpack a large request: if all were unpacked at the same time, there would be room for none."""

    __slots__ = ("_deadline", "_has_turn", "_turns", "_unpacked")

    def __init__(self, turns: threading.Semaphore, deadline: float) -> None:
        self._turns = turns
        self._deadline = deadline
        self._has_turn = False
        self._unpacked = 0

    def grow(self, amount: int) -> Refused | None:
        """Told of every piece that came out [bytes]; waits for the turn, and refuses when it does not come in time."""
        self._unpacked += amount
        if self._unpacked <= LARGE_BYTES or self._has_turn:
            return None
        self._has_turn = self._turns.acquire(timeout=max(0.0, self._deadline - time.monotonic()))
        return None if self._has_turn else waited_too_long()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._has_turn:
            self._turns.release()


class Hold:
    """Bytes of one request that are in flight."""

    __slots__ = ("_admission", "_held")

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._held = 0

    def grow(self, amount: int) -> Refused | None:
        """Holds more bytes; the refusal when there is no room."""
        if not self._admission.take(amount):
            return Refused(Refusal.UNAVAILABLE, "The collector is overloaded: too many bytes are in flight.")
        self._held += amount
        return None

    def give_back(self) -> None:
        """Holds nothing any more."""
        held, self._held = self._held, 0
        self._admission.give_back(held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.give_back()
