"""Traces deleted for good: from the spool, every table, the archive, and the pages of the database file."""

from __future__ import annotations

import datetime as dt
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spanscore.collector.expunge import Expunged
    from spanscore.collector.spool import Spool
    from spanscore.store.compact import Compaction
    from spanscore.store.purge import Purgeable, PurgeCounts

WAIT_S = 30.0
LOAD_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Purged:
    """What was deleted, or would be (`is_dry_run`)."""

    counts: PurgeCounts
    is_dry_run: bool
    journals: int
    """Journals of experiments whose answers were blanked [count]."""
    spool: Expunged | None
    """None where there is no spool, and for a dry run."""
    compaction: Compaction | None
    """None where the database was not written anew: nothing was deleted, or it was left for later."""
    waiting_bytes: int
    """Bytes in the spool that a dry run could not look into; they are loaded before anything is deleted."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing matched."""
        return not self.counts.traces and not self.counts.log_records

    def document(self) -> dict[str, Any]:
        """The JSON document of `spanscore purge --format json`."""
        return {
            "dry_run": self.is_dry_run,
            **asdict(self.counts),
            "journals": self.journals,
            "spool": None if self.spool is None else asdict(self.spool),
            "waiting_bytes": self.waiting_bytes,
            "compacted": self.compaction is not None,
            "database_bytes": None if self.compaction is None else asdict(self.compaction),
        }


def plan_purge(directory: Path, wanted: Purgeable) -> Purged:
    """Counts what a purge would delete, and deletes nothing.

    Raises:
        UsageError: an id or a session is unknown, or an id ambiguous.
        StoreError: the store cannot be used.
    """
    from spanscore.collector.collector import SPOOL_FOLDER
    from spanscore.collector.slices import waiting
    from spanscore.errors import UsageError
    from spanscore.store import Store, require_store
    from spanscore.store.purge import select

    require_store(directory)
    with Store.open(directory, wait_s=WAIT_S) as store:
        spool = directory / SPOOL_FOLDER
        pieces = waiting(spool, loaded=store.manifest(), synced={}) if spool.is_dir() else ()
        waiting_bytes = sum(end - start for _, start, end in pieces)
        try:
            counts = select(store.connection, wanted)
        except UsageError as error:
            if not waiting_bytes:
                raise
            raise UsageError(
                f"{error}\n  {waiting_bytes} bytes wait in the spool and were not looked into: with --yes they are "
                "loaded first."
            ) from error
    return Purged(counts, True, 0, None, None, waiting_bytes)


def purge_store(directory: Path, wanted: Purgeable, *, compact: bool = True, whole_quarantine: bool = False) -> Purged:
    """Deletes what is `wanted`. No collector may run on the store meanwhile.

    Killed at any moment, what is not deleted yet is still found by the same call. Only the last step, writing the
    database anew, leaves no trace to be found by: `finish_purge` does it, and `spanscore doctor` says that it is due.

    Args:
        directory: of the store.
        wanted: what goes.
        compact: write the database anew: until then bytes of deleted rows can be read from its file.
        whole_quarantine: delete all copies of unreadable requests too, whatever they hold.

    Raises:
        UsageError: an id or a session is unknown, or an id ambiguous.
        CollectorRunning: a collector uses the store.
        StoreError: the store cannot be used.
    """
    from spanscore.bench.forget import forget_answers
    from spanscore.collector.expunge import expunge
    from spanscore.store import Store, require_store
    from spanscore.store.batches import FOLDER as BATCHES
    from spanscore.store.purge import has_loose_logs, is_compaction_due, purge, select, selected_traces

    require_store(directory)
    expunged = None
    with _stopped_spool(directory) as spool:
        with Store.open(directory, wait_s=WAIT_S) as store:
            counts = select(store.connection, wanted)
            traces = selected_traces(store.connection)
            journals = forget_answers(directory, traces)
            if spool is not None:
                expunged = expunge(
                    spool.directory,
                    traces,
                    loose_logs=has_loose_logs(store.connection),
                    before_ns=_unix_nano(wanted.before),
                    whole_quarantine=whole_quarantine,
                )
            # Copies that a killed `spanscore score` left; one that runs makes its copy again.
            shutil.rmtree(directory / BATCHES, ignore_errors=True)
            if counts.traces or counts.log_records:
                purge(store.connection, counts)
            # Nothing was deleted, now or by a purge that was killed: the file holds no byte that should be gone.
            is_due = is_compaction_due(store.connection)
        compaction = finish_purge(directory) if compact and is_due else None
    return Purged(counts, False, journals, expunged, compaction, 0)


def finish_purge(directory: Path) -> Compaction:
    """Writes the database anew, without the bytes of what was deleted from it, and removes leftovers of the archive.

    Raises:
        StoreError: it could not be done; the store is as it was.
    """
    from spanscore.store import Store, require_store
    from spanscore.store.archive.files import sweep
    from spanscore.store.compact import compact

    require_store(directory)
    with Store.open(directory, wait_s=WAIT_S) as store:
        sweep(store.connection, directory.absolute())
    return compact(directory)


@contextmanager
def _stopped_spool(directory: Path) -> Iterator[Spool | None]:
    """The spool, held and all of it loaded; None where there is none."""
    from spanscore.collector.collector import SPOOL_FOLDER
    from spanscore.collector.config import CollectorConfig
    from spanscore.collector.loader import Loader
    from spanscore.collector.spool import Spool
    from spanscore.collector.status import CollectorStatus
    from spanscore.errors import CollectorRunning

    if not (directory / SPOOL_FOLDER).is_dir():
        yield None
        return
    with ExitStack() as stack:
        try:
            spool = stack.enter_context(Spool(directory / SPOOL_FOLDER))
        except CollectorRunning as error:
            raise CollectorRunning(
                f"A collector is using `{directory}`: it could store again what is being deleted.\n"
                "  Stop it, purge, and start it again; exporters keep what they cannot send meanwhile and retry."
            ) from error
        config = CollectorConfig(store=directory, grpc=None, http=None)
        Loader(config, spool, CollectorStatus(directory)).drain(LOAD_TIMEOUT_S)
        yield spool


def _unix_nano(moment: dt.datetime | None) -> int | None:
    return None if moment is None else round(moment.replace(tzinfo=dt.UTC).timestamp()) * 1_000_000_000
