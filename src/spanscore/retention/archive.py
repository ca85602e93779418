"""Old traces into the archive: a part at a time, the store free for others in between."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable
    from pathlib import Path

    from spanscore.store.archive.move import ArchiveCounts
    from spanscore.store.compact import Compaction

# The store is held for a part at a time: readers and the collector's loader come in between.
PAUSE_S = 0.25
WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Archived:
    """What was moved, or would be (`is_dry_run`)."""

    counts: ArchiveCounts
    parts: int
    before: dt.datetime
    is_dry_run: bool
    compaction: Compaction | None = None

    def document(self) -> dict[str, Any]:
        """The JSON document of `spanscore archive --format json`."""
        return {
            "before": self.before.isoformat(),
            "dry_run": self.is_dry_run,
            "traces": self.counts.traces,
            "spans": self.counts.spans,
            "log_records": self.counts.log_records,
            "parts": self.parts,
            "archive_bytes_written": None if self.is_dry_run else self.counts.size,
            "database_bytes": None
            if self.compaction is None
            else {"before": self.compaction.before, "after": self.compaction.after},
        }


def archive_store(
    directory: Path,
    before: dt.datetime,
    *,
    is_dry_run: bool = False,
    compact: bool = False,
    on_traces: Callable[[int, int], None] | None = None,
) -> Archived:
    """Moves the traces that have been quiet since `before` out of the database into the archive.

    Args:
        directory: of the store.
        before: UTC, without zone.
        is_dry_run: only count them.
        compact: write the database anew afterwards, so that its file gets smaller.
        on_traces: told (traces done, traces in all).

    Raises:
        StoreMissing: there is no store.
        StoreLocked: another process holds the store.
        StoreError: a file could not be written; what was not moved is in the database as before.
    """
    from spanscore.store import Store, require_store
    from spanscore.store.archive.move import ArchiveCounts, archive_before, find_old
    from spanscore.store.compact import compact as compact_store

    require_store(directory)
    with Store.open(directory, wait_s=WAIT_S) as store:
        found = find_old(store.connection, before)
    if is_dry_run:
        return Archived(found, 0, before, is_dry_run=True)
    moved, parts = ArchiveCounts(), 0
    while True:
        with Store.open(directory, wait_s=WAIT_S) as store:
            counts = archive_before(store.connection, before)
        if counts is None:
            break
        moved, parts = moved + counts, parts + 1
        if on_traces is not None:
            on_traces(min(moved.traces, found.traces), found.traces)
        time.sleep(PAUSE_S)
    return Archived(moved, parts, before, is_dry_run=False, compaction=compact_store(directory) if compact else None)
