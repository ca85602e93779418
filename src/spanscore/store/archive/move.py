"""Moves the raw rows of old traces into the archive, a part at a time.

A part is written to files, synced, before one transaction enters it in the manifest and deletes its rows from the
database. Killed before the transaction, the database has everything and the files do not count; killed after it, the
files have it. The next sweep removes files that do not count.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store.archive.files import (
    RAW_TABLES,
    STORED_AS,
    ArchiveFile,
    archive_owner,
    existing,
    literal,
    store_directory,
    sweep,
    write_file,
)
from spanscore.store.archive.recall import drop_empty_parts, install_macros
from spanscore.store.derive import MODEL_VERSION
from spanscore.store.migrate import known_migrations
from spanscore.store.queries import read_query
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    import duckdb

PART_SPANS = 100_000
"""Spans of a part [spans]: bounds the memory and the time for which the store is held."""

MERGE_SPANS = PART_SPANS // 2
"""A part of the same day with fewer spans is written anew together with what comes to it [spans]."""


@dataclass(frozen=True, slots=True)
class ArchiveCounts:
    """What was moved: traces, spans, log records [count], and the files written [bytes]."""

    traces: int = 0
    spans: int = 0
    log_records: int = 0
    size: int = 0

    def __add__(self, other: ArchiveCounts) -> ArchiveCounts:
        return ArchiveCounts(
            self.traces + other.traces,
            self.spans + other.spans,
            self.log_records + other.log_records,
            self.size + other.size,
        )


def find_old(connection: duckdb.DuckDBPyConnection, before: dt.datetime) -> ArchiveCounts:
    """Makes the temporary table `old_traces` of what may be moved, and returns how much that is; `size` stays 0."""
    connection.execute(read_query("retention/last_seen.sql"))
    connection.execute(read_query("retention/old_traces.sql"), {"before": before})
    ((traces, spans, log_records),) = connection.execute(
        "select count(*), coalesce(sum(spans), 0)::bigint, coalesce(sum(log_records), 0)::bigint from old_traces"
    ).fetchall()
    return ArchiveCounts(traces, spans, log_records)


def archive_before(connection: duckdb.DuckDBPyConnection, before: dt.datetime) -> ArchiveCounts | None:
    """Moves one part of the traces that have been quiet since `before` [UTC]; None when there is nothing left to move.

    Whole runs move together: a trace that shares a run with a younger one, or that waits to be derived, stays.

    Raises:
        StoreError: a file could not be written; the database still has the rows.
    """
    if find_old(connection, before).traces == 0:
        sweep(connection, store_directory(connection))
        return None
    connection.execute(read_query("retention/next_part.sql"), {"part_spans": PART_SPANS})
    return move(connection)


def put_back(connection: duckdb.DuckDBPyConnection, traces: str) -> ArchiveCounts:
    """Moves traces that were archived before into the archive again; `traces` is a query that gives `trace_id`."""
    moved = ArchiveCounts()
    connection.execute(read_query("retention/last_seen.sql"))
    connection.execute(
        f"create or replace temp table old_traces as select * from last_seen where trace_id in ({traces}) "
        "and trace_id not in (select trace_id from pending_traces)"
    )
    while connection.execute("select 1 from old_traces limit 1").fetchall():
        connection.execute(read_query("retention/next_part.sql"), {"part_spans": PART_SPANS})
        moved += move(connection)
        connection.execute("delete from old_traces where trace_id in (select trace_id from moving_traces)")
    return moved


def move(connection: duckdb.DuckDBPyConnection) -> ArchiveCounts:
    """Moves the traces of the temporary table `moving_traces`, all of one day, and returns what that was."""
    directory = store_directory(connection)
    ((day,),) = connection.execute("select any_value(day) from moving_traces").fetchall()
    merged = [
        part
        for (part,) in connection.execute(
            read_query("retention/mergeable_parts.sql"),
            {"day": day, "merge_spans": MERGE_SPANS, "model_version": MODEL_VERSION},
        ).fetchall()
    ]
    written = write_part(connection, directory, day=day, merged=merged, moving=True)
    connection.begin()
    try:
        enter(connection, written)
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise
    ((traces, spans, log_records),) = connection.execute(
        "select count(*), sum(spans)::bigint, sum(log_records)::bigint from moving_traces"
    ).fetchall()
    sweep(connection, directory)
    return ArchiveCounts(traces, spans, log_records, written.size)


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part whose files are written and do not count yet."""

    part: str
    day: dt.date
    files: tuple[ArchiveFile, ...]
    merged: list[str]
    """Parts that it takes the place of."""
    moving: bool
    """Whether the traces of `moving_traces` leave the database for it."""
    dropped: str | None
    """A query that gives the `trace_id` of what is left out of the merged parts, for good."""

    @property
    def size(self) -> int:
        """Of its files together [bytes]."""
        return sum(file.size for file in self.files)


def write_part(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    *,
    day: dt.date,
    merged: list[str],
    moving: bool = False,
    dropped: str | None = None,
) -> WrittenPart:
    """Writes the files of a part, for `enter`: what counts in the parts `merged`, and with `moving` `moving_traces`."""
    part = f"{day:%Y%m%d}-{archive_owner(connection)}-{secrets.token_hex(6)}"
    install_macros(connection, writing=True)
    files = []
    for table in RAW_TABLES:
        sources = _archived_sources(connection, directory, table, merged, dropped)
        if moving:
            sources.append(
                f"select * replace ({STORED_AS[table]}) from {table} "
                "where trace_id in (select trace_id from moving_traces)"
            )
        if sources:
            query = f"select * from ({' union all by name '.join(sources)}) order by trace_id"
            file = write_file(connection, directory, table=table, day=day, part=part, query=query)
            files += [file] if file else []
    return WrittenPart(part, day, tuple(files), merged, moving, dropped)


def _archived_sources(
    connection: duckdb.DuckDBPyConnection, directory: Path, table: str, parts: list[str], dropped: str | None
) -> list[str]:
    """A query for the file of `table` in each part: its rows that count, as they are in the file."""
    rows = connection.execute(
        "select part, path from archive_files where table_name = $table and part in (select unnest($parts::varchar[]))",
        {"table": table, "parts": parts},
    ).fetchall()
    left_out = "" if dropped is None else f" and trace_id not in ({dropped})"
    return [
        f"select * from read_parquet({literal(existing(directory, path))}, hive_partitioning = false) "
        f"where trace_id in (select trace_id from archived_traces where part = '{part}'){left_out}"
        for part, path in rows
    ]


def enter(connection: duckdb.DuckDBPyConnection, written: WrittenPart) -> None:
    """In the transaction of the caller: the part counts, and nothing of it is anywhere else any more."""
    in_merged = "part in (select unnest($merged::varchar[]))"
    merged = {"merged": written.merged}
    ((stale,),) = connection.execute(
        f"select count(*) from archive_parts where {in_merged} and model_version is distinct from $model",
        {**merged, "model": MODEL_VERSION},
    ).fetchall()
    if written.dropped is not None:
        connection.execute(f"delete from archived_traces where {in_merged} and trace_id in ({written.dropped})", merged)
    connection.execute(f"update archived_traces set part = $part where {in_merged}", {**merged, "part": written.part})
    if written.moving:
        connection.execute(
            "insert into archived_traces by name "
            "select trace_id, $part as part, spans, log_records, last_at from moving_traces",
            {"part": written.part},
        )
        for table in RAW_TABLES:
            connection.execute(f"delete from {table} where trace_id in (select trace_id from moving_traces)")
    connection.execute(
        "insert into archive_parts by name select $part as part, $day as day, count(*) as traces, "
        "$schema as schema_version, $model as model_version, current_localtimestamp()::timestamp as archived_at "
        "from archived_traces where part = $part",
        {
            "part": written.part,
            "day": written.day,
            "schema": known_migrations()[-1].version,
            "model": None if stale else MODEL_VERSION,
        },
    )
    for file in written.files:
        connection.execute(
            "insert into archive_files values (?, ?, ?, ?, ?, ?)",
            [written.part, file.table, file.path, file.rows, file.size, file.sha256],
        )
    drop_empty_parts(connection)
