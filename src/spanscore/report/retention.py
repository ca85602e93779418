"""What `spanscore archive`, `purge` and `export` say when they are done."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.terminal import console
from spanscore.store.directory import store_option

if TYPE_CHECKING:
    from pathlib import Path

    from spanscore.retention.archive import Archived
    from spanscore.retention.purge import Purged
    from spanscore.store.compact import Compaction
    from spanscore.store.exporting import ExportedTable


def print_archived(archived: Archived, form: str) -> None:
    """Print what was moved into the archive, as `text` or `json`."""
    if form == "json":
        print_json(archived.document())
        return
    counts = archived.counts
    what = _amount(counts.traces, counts.spans, counts.log_records)
    if archived.is_dry_run:
        _say(f"Would move {what} that have been quiet since {figures.when(archived.before.isoformat())} UTC.")
        return
    if not counts.traces:
        _say(f"Nothing to move: no trace has been quiet since {figures.when(archived.before.isoformat())} UTC.")
    else:
        _say(f"Moved {what} into the archive: {figures.size(counts.size)} written.")
    if archived.compaction is not None:
        _say(_compacted(archived.compaction))


def print_purged(purged: Purged, form: str, *, store: Path) -> None:
    """Print what was deleted from the store in the directory `store`, as `text` or `json`."""
    if form == "json":
        print_json(purged.document())
        return
    counts = purged.counts
    verb = "Would delete" if purged.is_dry_run else "Deleted"
    archived = f", {figures.count(counts.archived_traces)} of them in the archive" if counts.archived_traces else ""
    if purged.is_empty:
        _say(f"Nothing matched{'' if purged.is_dry_run else ', and nothing was deleted'}.")
    else:
        _say(
            f"{verb} {_amount(counts.traces, counts.spans, counts.log_records)}{archived}, with "
            f"{figures.counted(counts.runs, 'run')} and {figures.counted(counts.scores, 'score')}."
        )
    if counts.shared_traces:
        n = counts.shared_traces
        share, stay = figures.agreeing(n, "shares", "share"), figures.agreeing(n, "stays", "stay")
        _say(f"{figures.counted(n, 'trace')} that {share} a run with them {stay}, without scores.")
    if purged.waiting_bytes:
        _say(f"{figures.size(purged.waiting_bytes)} wait in the spool and are not counted; a purge loads them first.")
    if purged.journals:
        _say(f"Journals of {figures.counted(purged.journals, 'experiment')} keep the attempts, without answers.")
    if purged.spool is not None:
        spool = purged.spool
        _say(
            f"Spool: {figures.counted(spool.segments_rewritten, 'segment')} rewritten, {spool.segments_deleted} "
            f"deleted; {figures.counted(spool.quarantine_deleted, 'copy', 'copies')} of unreadable requests deleted, "
            f"{spool.quarantine_left} left"
            f"{' (delete them with --quarantine)' if spool.quarantine_left else ''}."
        )
    if purged.compaction is not None:
        _say(_compacted(purged.compaction))
    elif not purged.is_dry_run and not purged.is_empty:
        _say(
            "Bytes of the deleted rows remain in the database file until it is written anew:  "
            f"spanscore purge --compact {store_option(store)}"
        )


def print_compacted(compaction: Compaction, form: str) -> None:
    """Print the sizes of a database that was written anew, as `text` or `json`."""
    if form == "json":
        print_json({"compacted": True, "database_bytes": asdict(compaction)})
    else:
        _say(_compacted(compaction))


def print_exported(target: Path | None, tables: list[ExportedTable], form: str) -> None:
    """Print which tables were copied, as `text` or `json`."""
    if form == "json":
        print_json({"target": str(target), "tables": {one.table: one.rows for one in tables}})
        return
    rows = {one.table: one.rows for one in tables}
    _say(
        f"Copied {figures.counted(rows.get('runs'), 'run')}, {figures.counted(rows.get('spans'), 'span')} and "
        f"{figures.counted(rows.get('scores'), 'score')} in {figures.counted(len(tables), 'table')} to {target}."
    )


def _compacted(compaction: Compaction) -> str:
    return f"Database written anew: {figures.size(compaction.before)} before, {figures.size(compaction.after)} now."


def _amount(traces: int, spans: int, log_records: int) -> str:
    return (
        f"{figures.counted(traces, 'trace')} ({figures.counted(spans, 'span')}, "
        f"{figures.counted(log_records, 'log record')})"
    )


def _say(sentence: str) -> None:
    console().print(sentence, soft_wrap=True, markup=False, highlight=False)
