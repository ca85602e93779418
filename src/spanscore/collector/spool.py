"""The spool: what was acknowledged is here, on disk and synced, before the acknowledgement leaves.

Append-only segments of about 16 MiB. A segment is never reopened for writing: every start begins a new one, so nothing
is ever written after a torn record. Whoever appends while nobody else does writes and syncs at once; whoever comes
meanwhile is gathered into the next write, so one sync serves many requests.
"""

import contextlib
import fcntl
import logging
import os
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from spanscore.collector.records import SpoolRecord
from spanscore.errors import CollectorRunning, SpoolUnavailable, StoreError
from spanscore.store.directory import make_directory, sync_directory

SEGMENT_BYTES = 16 << 20
BATCH_REQUESTS = 256
QUARANTINE = "quarantine"
TORN_SUFFIX = ".torn"
_SEGMENT_NAME = re.compile(r"\d{20}-[0-9a-f]{8}\.spool")

log = logging.getLogger(__name__)


class Spool:
    """The writing end; safe to use from many threads."""

    def __init__(
        self, directory: Path, *, segment_bytes: int = SEGMENT_BYTES, batch_requests: int = BATCH_REQUESTS
    ) -> None:
        """Takes the directory for this process.

        Raises:
            CollectorRunning: another process has it.
            StoreError: it cannot be made.
        """
        self.directory = directory
        self._segment_bytes = segment_bytes
        self._batch_requests = batch_requests
        self._mutex = threading.Lock()
        self._waiting: deque[_Append] = deque()
        self._has_leader = False
        self._is_closed = False
        self._segment: _Segment | None = None
        self._synced: dict[str, int] = {}
        self._sealed: dict[str, int] = {}
        self._lock_fd = _take(directory)
        # Names only ever grow, also after a clock that was set back: the order of the names is that of the records.
        earlier = segment_paths(directory)
        self._last_stamp = int(earlier[-1].name[:20]) if earlier else 0
        self.own_from = f"{self._last_stamp + 1:020d}"
        """Names of segments of this process begin here, those of earlier ones end before."""

    def append(self, record: SpoolRecord) -> None:
        """Returns once the record is synced to disk.

        Raises:
            SpoolUnavailable: it could not be written; the caller may try again later.
        """
        mine = _Append(record)
        with self._mutex:
            if self._is_closed:
                raise SpoolUnavailable("The spool is closed: the collector is stopping.")
            self._waiting.append(mine)
            is_leader = not self._has_leader
            self._has_leader = True
        if not is_leader:
            mine.woken.wait()
        if is_leader or mine.leads_next:
            self._lead()
        if mine.error is not None:
            raise SpoolUnavailable(f"The spool `{self.directory}` cannot be written: {mine.error}.") from mine.error

    def synced(self) -> dict[str, int]:
        """Per segment of this process, up to which offset it is on disk [bytes]."""
        with self._mutex:
            return dict(self._synced)

    def sealed(self) -> dict[str, int]:
        """Per segment of this process that is never written again, its size [bytes]; no other may be deleted."""
        with self._mutex:
            return dict(self._sealed)

    def forget(self, names: Iterable[str]) -> None:
        """Told of sealed segments that have been deleted: nothing of them waits any more."""
        with self._mutex:
            for name in names:
                self._synced.pop(name, None)
                self._sealed.pop(name, None)

    def close(self) -> None:
        """Refuses further records, closes the segment and gives the directory back."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
        while self._has_leader:
            time.sleep(0.001)
        if self._segment is not None:
            self._segment.close()
        os.close(self._lock_fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _lead(self) -> None:
        """Writes one batch, this thread's record among it, and hands over to whoever came meanwhile."""
        with self._mutex:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batch_requests))]
        error: OSError | None = OSError("writing was interrupted")
        try:
            self._commit([item.record for item in batch])
            error = None
        except OSError as problem:
            log.error("The spool could not be written: %s", problem)
            error = problem
        finally:
            with self._mutex:
                self._has_leader = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].leads_next = True
                    self._waiting[0].woken.set()
            for item in batch:
                item.error = error
                item.woken.set()

    def _commit(self, records: list[SpoolRecord]) -> None:
        """Writes the records and syncs them, or abandons the segment where it was last synced."""
        segment = self._segment
        if segment is None:
            segment = self._segment = self._begin_segment()
        try:
            segment.write([part for record in records for part in (record.header(), record.payload)])
        except BaseException:
            # After a failed sync the kernel may call the lost pages clean: this file is not to be trusted again.
            segment.abandon()
            self._seal(segment.path.name, segment.synced)
            raise
        with self._mutex:
            self._synced[segment.path.name] = segment.synced
        if segment.synced >= self._segment_bytes:
            segment.close()
            self._seal(segment.path.name, segment.synced)

    def _begin_segment(self) -> "_Segment":
        self._last_stamp = max(time.time_ns(), self._last_stamp + 1)
        name = f"{self._last_stamp:020d}-{secrets.token_hex(4)}.spool"
        with self._mutex:
            self._synced[name] = 0
        try:
            return _Segment(self.directory / name)
        except BaseException:
            self._seal(name, 0)
            raise

    def _seal(self, name: str, size: int) -> None:
        """From here on the segment may be deleted, once it is loaded to this size."""
        self._segment = None
        with self._mutex:
            self._sealed[name] = size


class _Append:
    __slots__ = ("error", "leads_next", "record", "woken")

    def __init__(self, record: SpoolRecord) -> None:
        self.record = record
        self.woken = threading.Event()
        self.leads_next = False
        self.error: OSError | None = None


class _Segment:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.synced = 0
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            sync_directory(path.parent)
        except OSError:
            self.abandon()
            raise

    def write(self, parts: list[bytes]) -> None:
        total = sum(map(len, parts))
        written = os.writev(self._fd, parts)
        if written < total:
            rest = memoryview(b"".join(parts))
            while written < total:
                written += os.write(self._fd, rest[written:])
        os.fdatasync(self._fd)
        self.synced += total

    def abandon(self) -> None:
        log.error("Segment `%s` is given up at byte %d; a new one is begun", self.path, self.synced)
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self.synced)
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)


def damaged_stretches(directory: Path) -> list[Path]:
    """Copies of what was acknowledged and could not be loaded from a spool, until someone deletes them."""
    folder = directory / QUARANTINE
    return sorted(path for path in folder.iterdir() if path.suffix != TORN_SUFFIX) if folder.is_dir() else []


def segment_paths(directory: Path) -> list[Path]:
    """The segments of a spool, oldest first."""
    return sorted(path for path in directory.iterdir() if _SEGMENT_NAME.fullmatch(path.name))


def _take(directory: Path) -> int:
    """The descriptor that holds the directory's lock; the kernel lets go of it however the process ends."""
    make_directory(directory)
    try:
        sync_directory(directory.parent)
        fd = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(directory, error) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except BlockingIOError:
        holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(fd)
        raise CollectorRunning(
            f"Another collector (PID {holder}) is using `{directory.parent}`. Stop it, or name another --store."
        ) from None
    except OSError as error:
        os.close(fd)
        raise _unusable(directory, error) from error
    return fd


def _unusable(directory: Path, error: OSError) -> StoreError:
    return StoreError(
        f"The spool `{directory}` cannot be used: {error.strerror}.\n"
        "  Check its owner, its mode and the free space, or name another --store."
    )
