"""Bounds on a query that DuckDB's own limits do not give: a single call inside it heeds neither time nor memory limit.

`repeat('x', 4000000000)` allocates past `memory_limit`, and `regexp_replace` of a huge text runs past
`max_execution_time` and `interrupt()` (both measured with DuckDB 2.0.1). The operating system has the last word.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import QueryTimeout
from spanscore.store.connection import default_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

GRACE_S = 2.0
"""How long a query may go on after its time limit before the process ends [s]: DuckDB's own limit comes first."""

_HEADROOM_BYTES = 1 << 30


@contextmanager
def contained(timeout_s: float, *, memory_bytes: int | None = None, grace_s: float = GRACE_S) -> Iterator[None]:
    """Ends this process when the body runs too long, and makes allocations beyond a limit fail (on Linux).

    For a command whose only work is the query: the process ends at once, with the exit code of a time limit and a
    message on standard error, without unwinding. It must hold nothing that needs closing; a read-only store does not.

    Args:
        timeout_s: the time limit of the query [s].
        memory_bytes: how much may be allocated in the body [bytes]; None = DuckDB's limit and 1 GiB more.
        grace_s: how much longer than `timeout_s` the body may take [s].
    """
    limit = default_memory_bytes() + _HEADROOM_BYTES if memory_bytes is None else memory_bytes
    watchdog = threading.Timer(timeout_s + grace_s, _end, args=(timeout_s,))
    watchdog.daemon = True
    watchdog.start()
    try:
        with _address_space(limit):
            yield
    finally:
        watchdog.cancel()


def _end(timeout_s: float) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(
            f"spanscore: The query was stopped: it ran longer than the {timeout_s:g} s it was allowed.\n"
            "  Narrow it down, or allow more with --timeout.\n"
        )
        sys.stderr.flush()
    os._exit(QueryTimeout.exit_code)


@contextmanager
def _address_space(more_bytes: int) -> Iterator[None]:
    """Lets the process map `more_bytes` [bytes] more than it does now; without /proc or limits, as much as it likes."""
    try:
        import resource

        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    soft, hard = before
    wanted = mapped + more_bytes
    if soft != resource.RLIM_INFINITY:
        wanted = min(wanted, soft)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
