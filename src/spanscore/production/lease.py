"""One process scores a store at a time. The kernel gives the lease back when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spanscore.errors import ScoringRunning, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "score.lock"
_PAUSE_S = 0.2


@contextmanager
def lease(directory: Path, *, wait_s: float) -> Iterator[None]:
    """Holds the right to score the store in `directory`.

    Args:
        directory: of a store; it lies on a local disk, as DuckDB's own lock demands.
        wait_s: how long to wait for another holder [s].

    Raises:
        ScoringRunning: another process holds it, still after the wait.
        StoreError: the file of the lease cannot be made.
    """
    path = directory / FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"`{path}` cannot be opened: {error.strerror}.\n  Check the owner and the mode.") from error
    try:
        _take(descriptor, path, wait_s)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
                named = f"process {holder}" if holder.isdigit() else "another process"
                raise ScoringRunning(
                    f"The store `{path.parent}` is being scored by {named}.\n"
                    "  Let it finish, or wait for it with --wait S."
                ) from None
            time.sleep(min(left, _PAUSE_S))
        else:
            return
