"""What can still be read of a damaged store, table by table and row by row, copied into a new one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from spanscore.errors import StoreDamaged, StoreUnrecognised
from spanscore.store import derive, model
from spanscore.store.connection import DEFAULT_WAIT_S, connect_for_reading
from spanscore.store.counts import LoadCounts, SignalCounts
from spanscore.store.load import record_counts
from spanscore.store.migrate import require_recognised, schema_version
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from spanscore.store.store import Store

SOURCE = "salvaged"
# Made anew: by migrations, by the loader, or out of the rows themselves.
_MADE_ANEW = {"schema_migrations", "store_meta", "spool_manifest", "pending_traces", "ingest_accounting"}
# What the new store has from the spool already, it has whole: of a span, events and links come from one source.
_OWNERS = {
    "resources": ("resources", ("resource_id",)),
    "scopes": ("scopes", ("scope_id",)),
    "spans": ("spans", ("trace_id", "span_id")),
    "span_events": ("spans", ("trace_id", "span_id")),
    "span_links": ("spans", ("trace_id", "span_id")),
    "span_conflicts": ("span_conflicts", ("trace_id", "span_id")),
    "log_records": ("log_records", ("log_record_id",)),
}
# Rows are read in ranges of so many, the size in which DuckDB compresses them; a range that cannot be read is halved
# down to the size of its vectors.
_LARGEST_RANGE = 122_880
_SMALLEST_RANGE = 2048


@dataclass(slots=True)
class SalvagedTable:
    """One table of the damaged store.

    Attributes:
        rows: how many it held [rows]; None where that cannot be read.
        copied: how many were copied [rows]; what was there already is not counted.
        unreadable: how many lie where nothing can be read [rows].
        received: when those were received, first and last [UTC]; None where that cannot be read either.
    """

    name: str
    rows: int | None = None
    copied: int = 0
    unreadable: int = 0
    received: tuple[datetime, datetime] | None = None


def unreadable(path: Path, *, is_store: bool) -> str | None:
    """Reads every row of every table; what DuckDB says of the first it cannot read, None when it can read them all.

    Args:
        path: of the file.
        is_store: whether something else says that it is one of ours, so that a header that is none is damage.

    Raises:
        StoreLocked, StoreTooNew, StoreUnrecognised: the file is in use, newer, or no spanscore store.
    """
    try:
        connection = connect_for_reading(path, wait_s=DEFAULT_WAIT_S, timeout_s=None, memory_limit=None, threads=None)
    except StoreUnrecognised:
        if not is_store:
            raise
        return "it does not begin as a DuckDB file does: its header is damaged"
    except StoreDamaged as error:
        return str(error).splitlines()[0]
    try:
        require_recognised(schema_version(connection), path)
        for table in _tables(connection, ""):
            connection.execute(f'select bit_xor(hash(every_row)) from "{table}" as every_row').fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    finally:
        connection.close()
    return None


def salvage_rows(store: Store, damaged: Path) -> list[SalvagedTable] | None:
    """Copies what can be read of the file `damaged` into a new store, which then has all traces pending.

    Rows of traces that are in the archive are taken out again: the archive has them, and whoever loads more of such a
    trace brings it back whole.

    Returns:
        What became of each table; None when DuckDB cannot open the file at all.

    """
    con = store.connection
    try:
        con.execute(f"attach '{str(damaged).replace(chr(39), chr(39) * 2)}' as damaged (read_only)")
    except duckdb.Error:
        return None
    try:
        present = set(_tables(con, "damaged"))
        names = [name for name in _tables(con, "") if name in present and _is_to_be_copied(con, name)]
        for owner, keys in set(_OWNERS.values()):
            con.execute(
                f'create or replace temp table "had_{owner}" as select distinct {", ".join(keys)} from "{owner}"'
            )
        found = [_copy(con, name) for name in names]
    except duckdb.Error:
        # The list of the tables is itself unreadable.
        return None
    finally:
        con.execute("detach damaged")
    for table in ("spans", "span_events", "span_links", "span_conflicts", "log_records"):
        con.execute(f'delete from "{table}" where trace_id in (select trace_id from archived_traces)')
    # Files that are written anew take the place of these, which are then this database's own to delete.
    con.execute(
        "insert into store_meta select 'archive_owner', split_part(max(part), '-', 2) from archive_parts "
        "having count(*) > 0"
    )
    con.execute("delete from pending_traces")
    model.mark_all_pending(con)
    _account(con)
    return found


def _tables(con: duckdb.DuckDBPyConnection, database: str) -> list[str]:
    rows = con.execute(
        "select table_name from duckdb_tables() where database_name = coalesce(nullif(?, ''), current_database()) "
        "and not internal and not temporary order by table_name",
        [database],
    ).fetchall()
    return [name for (name,) in rows]


def _is_to_be_copied(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Whether no other source has the rows: what can be derived, and what a new store comes with, is left alone."""
    if table in _MADE_ANEW or table in derive.DERIVED_TABLES:
        return False
    return table in _OWNERS or _count(con, f'"{table}"') == 0


def _copy(con: duckdb.DuckDBPyConnection, name: str) -> SalvagedTable:
    table = SalvagedTable(name)
    try:
        table.rows = _count(con, f'damaged."{name}"')
        ((last,),) = con.execute(f'select max(rowid) from damaged."{name}"').fetchall()
    except duckdb.Error:
        return table
    before = _count(con, f'"{name}"')
    if last is not None:
        for start in range(0, int(last) + 1, _LARGEST_RANGE):
            _copy_range(con, table, start, min(start + _LARGEST_RANGE, int(last) + 1))
    table.copied = _count(con, f'"{name}"') - before
    return table


def _copy_range(con: duckdb.DuckDBPyConnection, table: SalvagedTable, start: int, end: int) -> None:
    name = table.name
    query = f'select * from damaged."{name}" where rowid >= {start} and rowid < {end}'
    if name in _OWNERS:
        owner, keys = _OWNERS[name]
        query = f'select * from ({query}) anti join "had_{owner}" using ({", ".join(keys)})'
    with _whole_or_not_at_all(con) as attempt:
        con.execute(f'insert into "{name}" by name {query}')
    if attempt:
        return
    if end - start <= _SMALLEST_RANGE:
        table.unreadable += end - start
        _note_when_received(con, table, start, end)
        return
    middle = start + max(1, (end - start) // 2 // _SMALLEST_RANGE) * _SMALLEST_RANGE
    _copy_range(con, table, start, middle)
    _copy_range(con, table, middle, end)


def _note_when_received(con: duckdb.DuckDBPyConnection, table: SalvagedTable, start: int, end: int) -> None:
    try:
        ((first, last),) = con.execute(
            f'select min(received_at), max(received_at) from damaged."{table.name}" where rowid >= ? and rowid < ?',
            [start, end],
        ).fetchall()
    except duckdb.Error:
        return
    if first is not None:
        known = table.received or (first, last)
        table.received = (min(first, known[0]), max(last, known[1]))


def _count(con: duckdb.DuckDBPyConnection, table: str) -> int:
    ((n,),) = con.execute(f"select count(*) from {table}").fetchall()
    return int(n)


@contextmanager
def _whole_or_not_at_all(con: duckdb.DuckDBPyConnection) -> Iterator[list[bool]]:
    """A transaction; the list is empty when it failed."""
    outcome: list[bool] = []
    con.execute("begin transaction")
    try:
        yield outcome
        con.execute("commit")
        outcome.append(True)
    except duckdb.Error:
        roll_back(con)


def _account(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the accounting say what is stored: what was salvaged has no load of its own."""
    stored = {}
    for signal in ("spans", "log_records"):
        ((n,),) = con.execute(
            f"""
            select
                (select count(*) from "{signal}")
                + (select coalesce(sum({signal}), 0) from archived_traces)
                - (
                    select coalesce(sum(n) filter (where outcome = 'stored'), 0)
                    from ingest_accounting
                    where signal = ?
                )
            """,
            [signal],
        ).fetchall()
        stored[signal] = SignalCounts(received=int(n), stored=int(n))
    record_counts(con, LoadCounts(**stored), source=SOURCE)
