"""What this process uses of the memory it may have."""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

_STATM = Path("/proc/self/statm")
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_READ_EVERY_S = 0.05
_GIVE_BACK_EVERY_S = 1.0


class MemoryGauge:
    """Says when this process has come close to its limit; safe to use from many threads."""

    def __init__(self, limit_bytes: int) -> None:
        """`limit_bytes`: resident memory above which the answer is yes [bytes]."""
        self._limit_bytes = limit_bytes
        self._mutex = threading.Lock()
        self._is_over = False
        self._next_read = 0.0
        self._next_give_back = 0.0

    def is_over(self) -> bool:
        """Whether more than the limit is resident. Memory that is only kept for later use is given back first."""
        with self._mutex:
            if time.monotonic() >= self._next_read:
                self._next_read = time.monotonic() + _READ_EVERY_S
                self._is_over = self._read()
            return self._is_over

    def _read(self) -> bool:
        if resident_bytes() <= self._limit_bytes:
            return False
        if time.monotonic() < self._next_give_back:
            return True
        self._next_give_back = time.monotonic() + _GIVE_BACK_EVERY_S
        give_back()
        return resident_bytes() > self._limit_bytes


def resident_bytes() -> int:
    """Memory of this process that is in RAM [bytes]; 0 where the system does not say."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def available_bytes() -> int:
    """Memory that this process may use: that of the container, or of the machine [bytes]."""
    found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in _CGROUP_LIMITS:
        try:
            text = path.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) > 0:
            found = min(found, int(text))
    return found


def give_back() -> None:
    """Returns freed memory to the system, which allocators otherwise keep for themselves."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
