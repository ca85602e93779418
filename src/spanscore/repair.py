"""A new store in place of a damaged one: out of what the spool keeps, and of what can still be read of the old file."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.store import SalvagedTable, Store

SCHEMA_VERSION = "1.0"
_WORKSHOP = ".repair"
_SOURCE = "otlp"
_UNFINISHED = "repair-unfinished.json"
"""In the store while a new database stands there and the archive does not belong to it yet."""


def repair_store(
    directory: Path,
    *,
    on_traces: Callable[[int, int], None] | None = None,
    on_bytes: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Repairs the store in `directory` where it is damaged; the JSON document of `spanscore doctor --repair`.

    Every row is read first: a store without damage is left as it is. A damaged log is put aside when the file without
    it is whole, as what it held is still in the spool. Otherwise a new store is made beside the old one, and takes its
    place once it is complete. Damaged files are moved into a folder and never deleted.

    Every file of the archive is compared with what was written. One that is missing or damaged is listed no more, so
    that the others can be read; where the list itself is lost, it is made anew of the files.

    Args:
        directory: of the store.
        on_traces: told (traces done, traces in all) while the trajectory is derived.
        on_bytes: told (bytes done, bytes in all) while the archive is read.

    Raises:
        StoreMissing: there is neither a store nor a spool.
        CollectorRunning, StoreLocked: something works with the store.
        StoreTooNew, StoreUnrecognised: the file is newer, or something else than a spanscore store; it is left alone.
    """
    from spanscore.collector.spool import Spool
    from spanscore.errors import StoreMissing
    from spanscore.store import database_path, unreadable
    from spanscore.store.directory import spool_bytes

    path = database_path(directory)
    spool = directory / "spool"
    has_archive = any((directory / "archive").rglob("*.parquet"))
    if not path.exists() and not spool.is_dir() and not has_archive:
        raise StoreMissing(
            f"There is neither a store nor a spool in `{directory}`.\n  Name its directory with --store."
        )
    # A spool came through a collector of this directory, an archive out of its store: the file beside it is a store,
    # however it looks.
    is_store = spool_bytes(directory) > 0 or has_archive
    with Spool(spool):
        problem = unreadable(path, is_store=is_store) if path.exists() else "the file is missing"
        aside = directory / f"damaged-{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S.%fZ}"
        if problem is None and is_unfinished(directory):
            return _go_on(directory, on_traces, on_bytes)
        if problem is None:
            notes = _mend_archive(directory, aside, on_bytes)
            if not notes:
                return {"schema_version": SCHEMA_VERSION, "store": str(directory), "damage": None, "notes": []}
            damage = "files of the archive are missing or damaged; the database is whole"
            return _document(directory, damage, aside if aside.exists() else None, None, 0, notes)
        if _is_only_the_log(path, aside, is_store=is_store):
            notes = [*_notes_on_log(directory), *_mend_archive(directory, aside, on_bytes)]
            return _document(directory, problem, aside, None, 0, notes)
        return _replace(directory, path, problem, aside, on_traces, on_bytes)


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _is_only_the_log(path: Path, aside: Path, *, is_store: bool) -> bool:
    """Puts the log aside, and back again when the file is damaged without it too."""
    from spanscore.store import unreadable

    log = _log_of(path)
    if not path.exists() or not log.exists():
        return False
    aside.mkdir(mode=0o700)
    log.rename(aside / log.name)
    if unreadable(path, is_store=is_store) is None:
        _sync(path.parent)
        return True
    (aside / log.name).rename(log)
    aside.rmdir()
    return False


def _replace(
    directory: Path,
    path: Path,
    problem: str,
    aside: Path,
    on_traces: Callable[[int, int], None] | None,
    on_bytes: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    from spanscore.store import Store, database_path, salvage_rows

    workshop = directory / _WORKSHOP
    shutil.rmtree(workshop, ignore_errors=True)
    with Store.open(workshop) as store:
        from_spool, unusable = _load_spool(store, directory / "spool")
        has_file = path.exists()
        salvaged = salvage_rows(store, path) if has_file else None
        store.derive(on_traces)
        store.checkpoint()
    # The old files have a second name before the first one goes: whenever this is cut short, nothing is lost.
    aside.mkdir(mode=0o700)
    for old in (path, _log_of(path)):
        if old.exists():
            os.link(old, aside / old.name)
    _sync(aside)
    _log_of(path).unlink(missing_ok=True)
    if (directory / "archive").is_dir():
        is_listed = _lists_the_archive(salvaged)
        unfinished = {"damage": problem, "aside": aside.name, "is_listed": is_listed}
        (directory / _UNFINISHED).write_text(json.dumps(unfinished), encoding="utf-8")
        _sync(directory)
    database_path(workshop).replace(path)
    _sync(directory)
    shutil.rmtree(workshop, ignore_errors=True)
    of_archive = _finish(directory, aside, on_traces, on_bytes)
    if not any(aside.iterdir()):
        aside.rmdir()
    notes = _notes(directory, salvaged, unusable, has_file=has_file) + of_archive
    if aside.exists():
        notes.append(
            f"The old files are in `{aside}`, with all they hold; `purge` does not reach them. Delete the folder once "
            "nothing in it is needed."
        )
    return _document(directory, problem, aside if aside.exists() else None, salvaged, from_spool, notes)


def is_unfinished(directory: Path) -> bool:
    """Whether a repair was cut short that had put a new database into place: what is in the archive may be missing."""
    return (directory / _UNFINISHED).exists()


def _go_on(
    directory: Path,
    on_traces: Callable[[int, int], None] | None,
    on_bytes: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    unfinished = json.loads((directory / _UNFINISHED).read_text(encoding="utf-8"))
    aside = directory / str(unfinished["aside"])
    notes = ["An earlier repair was cut short, and is finished now.", *_finish(directory, aside, on_traces, on_bytes)]
    kept = aside if aside.exists() and any(aside.iterdir()) else None
    return _document(directory, str(unfinished["damage"]), kept, None, 0, notes)


def _finish(
    directory: Path,
    aside: Path,
    on_traces: Callable[[int, int], None] | None,
    on_bytes: Callable[[int, int], None] | None,
) -> list[str]:
    """Makes the archive that of the new database; every step can be done again. Notes on it."""
    from spanscore.store import Store

    mark = directory / _UNFINISHED
    if not mark.exists():
        return []
    is_listed = json.loads(mark.read_text(encoding="utf-8"))["is_listed"]
    notes = [] if is_listed else _list_archive_anew(directory)
    notes += _mend_archive(directory, aside, on_bytes)
    # Spans that came after their trace was archived: the archive can be read now, and brings the trace back.
    with Store.open(directory) as store:
        _load_spool(store, directory / "spool")
        store.rebuild(on_traces)
        store.checkpoint()
    mark.unlink()
    _sync(directory)
    return notes


def _lists_the_archive(salvaged: list[SalvagedTable] | None) -> bool:
    """Whether the new store knows all that the old one did of its archive."""
    listing = [table for table in salvaged or [] if table.name.startswith("archive")]
    return bool(listing) and all(table.rows is not None and not table.unreadable for table in listing)


def _list_archive_anew(directory: Path) -> list[str]:
    """Lists the files of an archive whose list is lost, and says what came of it; nothing where there is no file."""
    from spanscore.store import Store
    from spanscore.store.archive.heal import adopt

    if not any((directory / "archive").rglob("*.parquet")):
        return []
    with Store.open(directory) as store:
        adopted = adopt(store.connection)
    listed = (
        f"The list of the archive was lost: {counted(adopted.files, 'file')} with {counted(adopted.traces, 'trace')} "
        f"{agreeing(adopted.files, 'is', 'are')} listed anew. Their "
        "resources and scopes, such as the name of the service, are there only as far as the old file or the spool "
        "still had them."
    )
    notes = [listed]
    if adopted.unreadable:
        notes.append(f"{counted(adopted.unreadable, 'file')} of the archive cannot be read, and stayed unlisted.")
    return notes


def _mend_archive(directory: Path, aside: Path, on_bytes: Callable[[int, int], None] | None) -> list[str]:
    """Gives up files of the archive that are missing or damaged, and names them; nothing where all are whole."""
    from spanscore.store import Store
    from spanscore.store.archive.check import check_archive
    from spanscore.store.archive.heal import give_up

    damaged = check_archive(directory, is_whole=True, on_bytes=on_bytes).damaged
    if not damaged:
        return []
    for one in damaged:
        if one.is_there:
            kept = aside / one.file.path
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (directory / one.file.path).rename(kept)
    with Store.open(directory) as store:
        give_up(store.connection, damaged)
    return [
        f"The archive file `{one.file.path}` was given up ({one.problem}): {counted(one.file.rows, 'row')} of "
        f"`{one.file.table}` {agreeing(one.file.rows, 'is', 'are')} gone. Runs of these traces stay as they "
        "were derived, until they are derived again."
        for one in damaged
    ]


def _load_spool(store: Store, spool: Path) -> tuple[int, int]:
    """Loads all segments: spans and log records that were new, and bytes that could not be used."""
    from spanscore.collector.slices import decode_records, read_slices
    from spanscore.store import ManifestRow

    stored = unusable = 0
    for piece in read_slices(spool, loaded={}, synced={}):
        tables, undecodable = decode_records(piece.records)
        manifest = ManifestRow(piece.segment, piece.end_offset, len(piece.records))
        counts = store.load(tables, source=_SOURCE, manifest=manifest)
        stored += counts.spans.stored + counts.log_records.stored
        unusable += sum(len(gap.content) for gap in piece.gaps if not gap.is_torn_tail)
        unusable += sum(len(item.record.payload) for item in undecodable)
    return stored, unusable


def _document(
    directory: Path,
    problem: str,
    aside: Path | None,
    salvaged: list[SalvagedTable] | None,
    from_spool: int,
    notes: list[str],
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "store": str(directory),
        "damage": problem,
        "moved_to": None if aside is None else str(aside),
        "from_spool": from_spool,
        "salvaged": [
            {"table": table.name, "rows": table.rows, "copied": table.copied, "unreadable": table.unreadable}
            for table in salvaged or []
            if table.rows != 0
        ],
        "notes": notes,
    }


def _notes_on_log(directory: Path) -> list[str]:
    from spanscore.store.directory import store_option

    return [
        "Only the log was damaged; the file without it is whole.",
        f"What the collector had in it is loaded again from the spool:  spanscore collect {store_option(directory)}",
        "What `ingest`, `evaluate` or `bench` wrote last may have been in the log alone: run them again.",
    ]


def _notes(directory: Path, salvaged: list[SalvagedTable] | None, unusable: int, *, has_file: bool) -> list[str]:
    """What cannot be there, and what to do about it."""
    from spanscore.collector.retired import read_retired
    from spanscore.collector.spool import segment_paths
    from spanscore.collector.status import moment

    notes = []
    spool = directory / "spool"
    kept = segment_paths(spool)
    kept_from = int(kept[0].name[:20]) if kept else None
    since = "nothing" if kept_from is None else f"what was received since {moment(kept_from)}"
    if salvaged is None:
        retired = read_retired(spool)
        if retired is not None:
            notes.append(
                f"Spans received from {moment(retired.from_ns)} to {moment(retired.until_ns)} cannot be there, unless "
                f"the spool still has them: it keeps {since}."
            )
        notes.append(
            f"{'Nothing could be read of the old file' if has_file else 'There was no old file'}: captured files "
            "have to be ingested again, and scores, experiments, cases and evaluation results have to be made again."
        )
    for table in salvaged or []:
        if table.rows is None:
            notes.append(f"Nothing of the table `{table.name}` could be read.")
        elif table.unreadable:
            when = "at times that cannot be read"
            if table.received is not None:
                first, last = (f"{at:%Y-%m-%dT%H:%M:%S}Z" for at in table.received)
                when = f"received from {first} to {last}"
            notes.append(
                f"Up to {counted(table.unreadable, 'row')} of `{table.name}` could not be read, {when}; the "
                f"spool had {since}."
            )
    if unusable:
        notes.append(f"{counted(unusable, 'byte')} of the spool could not be used.")
    return notes


def _sync(directory: Path) -> None:
    from spanscore.store.directory import sync_directory

    sync_directory(directory)
