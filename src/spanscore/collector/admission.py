"""Whether a request may come in: bytes in memory, room on disk, and whether the collector is stopping."""

import shutil
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from spanscore.collector.config import CollectorConfig
from spanscore.collector.wire import Refusal, Refused

_DISK_CHECK_EVERY_S = 1.0


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

    def refusal(self) -> Refused | None:
        """Why nothing can be accepted at the moment; None when it can."""
        if self._is_stopping:
            return Refused(Refusal.UNAVAILABLE, "The collector is stopping.", retry_after_s=5)
        if time.monotonic() >= self._next_disk_check:
            self._next_disk_check = time.monotonic() + _DISK_CHECK_EVERY_S
            self._disk = self._check_disk()
        return self._disk

    def stop(self) -> None:
        """Refuses whatever comes from now on."""
        self._is_stopping = True

    def hold(self) -> "Hold":
        """A context in which bytes count as in flight."""
        return Hold(self)

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

    def _check_disk(self) -> Refused | None:
        free = shutil.disk_usage(self._config.store).free
        if free < self._config.limits.min_free_bytes:
            return Refused(Refusal.UNAVAILABLE, f"The collector's disk is almost full: {free} bytes are free.", 30)
        waiting = self._waiting_bytes()
        if waiting > self._config.limits.max_waiting_bytes:
            return Refused(Refusal.UNAVAILABLE, f"{waiting} bytes wait to be loaded, more than allowed.", 30)
        return None


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._admission.give_back(self._held)
