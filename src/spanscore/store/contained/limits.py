"""What the operating system holds a worker to. Where it knows no such limit (macOS: memory) the others still stand."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import threading
from pathlib import Path

HEADROOM_BYTES = 1 << 30
"""Memory beside what DuckDB may use [bytes]: threads reserve more than they touch, and rows are copied for the pipe."""

_OPEN_FILES = 64


def bound(memory_bytes: int) -> None:
    """No file may grow, no core be dumped, few be opened, and only so much more memory be mapped [bytes]. For good."""
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _lower(resource.RLIMIT_AS, pages * resource.getpagesize() + memory_bytes)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)


def allow_processor(seconds: float) -> None:
    """Lets this process use so much more processor time from now on [s]; the system ends it when it uses more."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    wanted = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def end_with(descriptor: int) -> None:
    """Ends this process, whatever it does then, when the other end of a pipe is closed: nobody waits for it."""
    threading.Thread(target=_watch, args=(descriptor,), daemon=True).start()


def _watch(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, 0)
    while not any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll()):
        pass
    os._exit(0)


def _lower(kind: int, wanted: int) -> None:
    hard = resource.getrlimit(kind)[1]
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (limit, limit))
