"""Moves what is synced in the spool to the store, in short windows, exactly once.

The store's file is open only while a window lasts: nobody else can read it then. Rows and the manifest row that says
how far a segment has been loaded are one transaction. Whatever goes wrong, the next window opens the store anew and
believes its manifest, never its own memory: a commit that raised may still have happened.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from spanscore.collector.config import CollectorConfig
from spanscore.collector.lag import Lag
from spanscore.collector.quarantine import Quarantine
from spanscore.collector.retired import note_retired, read_retired
from spanscore.collector.slices import Slice, decode_records, read_slices, waiting
from spanscore.collector.spool import Spool, segment_paths
from spanscore.collector.status import CollectorStatus, moment, now
from spanscore.errors import DrainTimeout, StoreLocked
from spanscore.otlp import RawTables
from spanscore.store import ManifestRow, Store, database_path
from spanscore.store.directory import sync_directory
from spanscore.wording import counted

SOURCE = "otlp"
# A window ends soon after these; readers wait for 5 s before they give up.
WINDOW_S = 1.0
DERIVE_WINDOW_S = 2.0
DERIVE_SPANS = 10_000
PAUSE_S = 0.25
LONGEST_PAUSE_S = 1.0
STORE_WAIT_S = 1.0
# Where spans come faster than they are loaded, the trajectory is brought up to date all the same, so often [s].
OVERDUE_S = 30.0
_ONE_BY_ONE_AFTER = 3
_SET_ASIDE_AFTER = 6

log = logging.getLogger(__name__)


class Loader:
    """The only part of the collector that opens the store."""

    def __init__(self, config: CollectorConfig, spool: Spool, status: CollectorStatus) -> None:
        self._config = config
        self._spool = spool
        self._status = status
        self._loaded: dict[str, int] = {}
        self._waiting_items = 0
        self._items_mutex = threading.Lock()
        self._failures = 0
        self._ran_out_of_memory = False
        self._is_settled = False
        self._covered: dict[str, int] = {}
        self._refused_by_store: tuple[str, int] | None = None
        self._quarantine = Quarantine(spool.directory, status)
        self._lag = Lag()
        self._pending = 0
        self._derived_at = time.monotonic()
        self._started_s = time.time() - time.monotonic()
        self._last_hold_s = 0.0
        self._longest_hold_s = 0.0
        self._window_mutex = threading.Lock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spool-loader", daemon=True)

    def start(self) -> None:
        """Makes or opens the store once, so that one that cannot be used is refused at once, and begins to load.

        Raises:
            StoreError: the store cannot be used; one that is only locked is waited for while spans gather in the spool.
        """
        self._look_for_what_is_gone()
        try:
            with self._open_store() as store:
                self._loaded = store.manifest()
        except StoreLocked as error:
            log.warning("%s Spans are kept in the spool meanwhile.", error)
        self._thread.start()

    def _look_for_what_is_gone(self) -> None:
        """A store that vanished is filled again from the spool, which has no more than it still keeps."""
        retired = read_retired(self._spool.directory)
        if retired is None or database_path(self._config.store).exists():
            return
        message = (
            f"The store `{database_path(self._config.store)}` is gone. What the spool keeps is loaded into a new one; "
            f"requests received from {moment(retired.from_ns)} to {moment(retired.until_ns)} were in the old one alone."
        )
        self._status.fail(message)
        log.error("%s", message)

    def notify(self, items: int, size: int) -> None:
        """Told of every request that was spooled: spans or log records in it [count], and its size [bytes]."""
        del size
        self._add_waiting(items)
        if self._waiting_items >= self._config.limits.load_spans:
            self._wake.set()

    def _add_waiting(self, items: int) -> None:
        # From many threads: of two additions at one time, one would be lost.
        with self._items_mutex:
            self._waiting_items += items

    def _take_waiting(self) -> int:
        with self._items_mutex:
            items, self._waiting_items = self._waiting_items, 0
            return items

    def waiting_bytes(self) -> int:
        """Size of what is in the spool and not yet in the store [bytes].

        Raises:
            OSError: the spool cannot be looked at.
        """
        return sum(end - start for _, start, end in self._waiting_now())

    def drain(self, timeout_s: float) -> None:
        """Returns once everything that was synced before the call is in the store and derived.

        Raises:
            DrainTimeout: the store stayed locked, or could not be written; the spool still has everything.
        """
        target = self._target()
        deadline = time.monotonic() + timeout_s
        # In this order: a window says that something is to be derived before it says that it is loaded. The other way
        # round, all of a load could happen between the two, and what was loaded would pass for derived.
        while self._left(target) or not self._is_settled:
            problem = self._try(load=True, derive=True)
            left = self._left(target)
            if time.monotonic() > deadline and (left or not self._is_settled):
                raise DrainTimeout(
                    f"{counted(left, 'byte')} of the spool still wait to be loaded, and "
                    f"{counted(self._pending, 'trace')} to be derived, in `{self._config.store}`: "
                    f"{problem or 'the time was too short'}\n"
                    "  Nothing is lost: the collector goes on with them as soon as it can, or when it is started again."
                ) from problem
            if problem is not None:
                time.sleep(PAUSE_S)

    def _target(self) -> dict[str, int]:
        try:
            return {path.name: end for path, _, end in self._waiting_now()}
        except OSError as error:
            raise DrainTimeout(f"The spool `{self._spool.directory}` cannot be read: {error.strerror}.") from error

    def _left(self, target: Mapping[str, int]) -> int:
        """How much of the target still waits [bytes]; a segment that is gone was loaded, whatever the manifest says."""
        try:
            waits = self._waiting_now()
        except OSError:
            # The attempt to load it says what is wrong.
            return sum(target.values())
        return sum(max(0, min(end, target.get(path.name, 0)) - start) for path, start, end in waits)

    def stop(self) -> None:
        """Ends the thread; a window under way is finished."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        next_derive = 0.0
        while not self._stopping.is_set():
            # One window for both: opening the store, and above all the checkpoint at its end, cost alike for much and
            # for little. What a window had no time for goes on in the next one.
            derive = self._pending > 0 or time.monotonic() >= next_derive
            problem = None
            if self._has_waiting() or (derive and not self._is_settled):
                problem = self._try(load=True, derive=derive)
                if derive and not self._pending:
                    next_derive = time.monotonic() + self._config.limits.derive_interval_s
            # The pause is for readers, who have the store for as long as the loader had it, up to a second, however
            # fast spans pour in. It also lets more gather, so that more of them share what a window costs by itself.
            pause_s = min(max(PAUSE_S, self._last_hold_s), LONGEST_PAUSE_S)
            self._stopping.wait(pause_s)
            self._report()
            is_behind = self._pending > 0 or self._waiting_items >= self._config.limits.load_spans
            if problem is not None or not is_behind:
                self._wait(self._config.limits.load_interval_s - pause_s)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._wake.wait(min(left, 1.0)):
            self._report()
        self._wake.clear()

    def _report(self) -> None:
        with contextlib.suppress(OSError):
            self._status.set(waiting_bytes=self.waiting_bytes())
        self._status.set(waiting_spans=self._waiting_items)
        self._status.write()

    def _has_waiting(self) -> bool:
        try:
            return bool(self._waiting_now())
        except OSError:
            # The attempt to load it says what is wrong.
            return True

    def _waiting_now(self) -> list[tuple[Path, int, int]]:
        spool = self._spool
        return list(waiting(spool.directory, loaded=self._loaded, synced=spool.synced(), own_from=spool.own_from))

    def _try(self, *, load: bool, derive: bool) -> Exception | None:
        """A window in which the store is open; what went wrong, when something did."""
        with self._window_mutex:
            try:
                self._window(load=load, derive=derive)
            except StoreLocked as error:
                self._status.fail(str(error))
                return error
            except Exception as error:  # noqa: BLE001 - whatever it is, the spool keeps the data for the next window
                self._ran_out_of_memory = "OutOfMemory" in type(error).__name__
                self._status.fail(f"Loading from the spool failed: {type(error).__name__}: {error}")
                log.error("Loading from the spool failed: %s: %s", type(error).__name__, error)
                return error
            return None

    def _window(self, *, load: bool, derive: bool) -> None:
        """Loads what waits, derives where nothing waits any more or it is overdue, and deletes segments not needed."""
        synced = self._spool.synced()
        is_derived = False
        with self._open_store() as store:
            started = time.monotonic()
            self._lag.begin_window(store.waiting_since_ns())
            is_complete = not load or self._load_waiting(store, synced)
            if derive and (is_complete or time.monotonic() - self._derived_at > OVERDUE_S):
                # In small rounds: memory and the time that readers wait are bounded by them.
                store.derive(round_spans=DERIVE_SPANS, until=started + DERIVE_WINDOW_S)
                self._pending = store.pending_traces()
                self._derived_at = time.monotonic()
                is_derived = True
            store.checkpoint()
        self._covered = dict(self._loaded)
        self._is_settled = self._is_settled or (is_derived and self._pending == 0)
        self._lag.end_window()
        self._note(time.monotonic() - started)
        self._retire()

    def _open_store(self) -> Store:
        limits = self._config.limits
        is_bounded = not self._ran_out_of_memory and not os.environ.get("SPANSCORE_MEMORY_LIMIT")
        return Store.open(
            self._config.store,
            wait_s=STORE_WAIT_S,
            memory_limit=limits.store_memory if is_bounded else None,
            threads=None if os.environ.get("SPANSCORE_THREADS") else limits.store_threads,
        )

    def _load_waiting(self, store: Store, synced: Mapping[str, int]) -> bool:
        """Loads for as long as a window may last; whether that was everything that is synced."""
        items = self._take_waiting()
        is_complete = False
        try:
            is_complete = self._load_slices(store, synced)
            return is_complete
        finally:
            if not is_complete:
                self._add_waiting(items)

    def _load_slices(self, store: Store, synced: Mapping[str, int]) -> bool:
        loaded = store.manifest()
        self._loaded = dict(loaded)
        self._forget(store, loaded)
        max_records = 1 if self._failures >= _ONE_BY_ONE_AFTER else None
        open_until = time.monotonic() + WINDOW_S
        # Counted beforehand, as a failure is whatever keeps this from reaching its end.
        self._failures += 1
        is_complete = True
        for piece in read_slices(
            self._spool.directory,
            loaded=loaded,
            synced=synced,
            own_from=self._spool.own_from,
            max_records=max_records,
        ):
            if time.monotonic() > open_until and self._loaded != loaded:
                is_complete = False
                break
            self._is_settled = False
            self._status.add(stored_spans=self._load(store, piece))
            self._loaded[piece.segment] = piece.end_offset
        self._failures = 0
        return is_complete

    def _note(self, held_s: float) -> None:
        self._last_hold_s = held_s
        self._longest_hold_s = max(self._longest_hold_s, held_s)
        facts = {"last_load_at": now(), "last_load_s": round(held_s, 3), "held_s_max": round(self._longest_hold_s, 3)}
        self._status.set(**facts)
        self._status.add(loads=1)
        if self._lag.last_s is not None and self._lag.longest_s is not None:
            self._status.set(lag_s=round(self._lag.last_s, 3), lag_s_max=round(self._lag.longest_s, 3))

    def _load(self, store: Store, piece: Slice) -> int:
        """One slice in one transaction; the number of spans that were new."""
        for gap in piece.gaps:
            self._quarantine.set_gap_aside(piece.segment, gap)
        tables, undecodable = decode_records(piece.records, self._config.limits.span)
        for item in undecodable:
            self._quarantine.set_record_aside(piece.segment, item.record, item.reason)
        if (piece.segment, piece.start_offset) == self._refused_by_store and self._failures > _SET_ASIDE_AFTER:
            self._quarantine.set_record_aside(piece.segment, piece.records[0], "the store refused it repeatedly")
            tables = RawTables()
        oldest_ns = min((record.received_ns for record in piece.records), default=None)
        if oldest_ns is not None:
            self._lag.arrive(oldest_ns, tables)
        manifest = ManifestRow(piece.segment, piece.end_offset, len(piece.records))
        try:
            counts = store.load(tables, source=SOURCE, manifest=manifest, received_ns=oldest_ns)
        except Exception as error:
            if len(piece.records) == 1 and _is_about_the_rows(error):
                self._refused_by_store = (piece.segment, piece.start_offset)
            raise
        return counts.spans.stored

    def _forget(self, store: Store, loaded: dict[str, int]) -> None:
        """Drops manifest rows of segments that are gone; their names never come again."""
        present = {path.name for path in segment_paths(self._spool.directory)}
        gone = [name for name in loaded if name not in present]
        if gone:
            store.forget_segments(gone)

    def _retire(self) -> None:
        """Deletes segments that a checkpoint covers, once they are old or the kept ones too large."""
        # A segment of this process is left alone until the spool has sealed it, and even if it is empty: it may just
        # have been begun, and what is acknowledged next goes into it.
        directory, sealed, own_from = self._spool.directory, self._spool.sealed(), self._spool.own_from
        kept = []
        for path in segment_paths(directory):
            found = path.stat()
            size = sealed.get(path.name) if path.name >= own_from else found.st_size
            if size is not None and self._covered.get(path.name, 0) >= size:
                kept.append((path, found))
        total = sum(found.st_size for _, found in kept)
        leaving = []
        # A clock that is set forward while the collector runs makes no segment old.
        now_s = self._started_s + time.monotonic()
        for path, found in kept:
            if total <= self._config.limits.keep_bytes and now_s - found.st_mtime <= self._config.limits.keep_s:
                break
            leaving.append((path, found))
            total -= found.st_size
        if leaving:
            note_retired(directory, leaving)
            for path, _ in leaving:
                path.unlink()
            self._spool.forget(path.name for path, _ in leaving)
            sync_directory(directory)
        self._status.set(kept_bytes=total)


def _is_about_the_rows(error: Exception) -> bool:
    """Whether an error of the database is about the rows, not about the disk or the memory (names as in PEP 249)."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return not names.isdisjoint({"DataError", "IntegrityError", "ProgrammingError", "NotSupportedError"})
