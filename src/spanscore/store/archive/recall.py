"""The way back: a trace of the archive that something touches becomes rows of the database again.

Loading compares what arrives with what is there, and deriving reads a whole trace; both know the tables of the database
alone. So a trace returns before either looks at it, in the transaction in which they work.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.store.archive.files import READ_AS, existing, literal, store_directory
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    import duckdb

_LOADING = Path(__file__).parents[1] / "loading"
_ARCHIVE = Path(__file__).parent


@cache
def _macros(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def install_macros(connection: duckdb.DuckDBPyConnection, *, writing: bool = False) -> None:
    """Creates the macros that rows of the archive are read with, and with `writing` those they are written with."""
    connection.execute(_macros(_LOADING / "values.sql"))
    if writing:
        connection.execute(_macros(_ARCHIVE / "values.sql"))


def has_archive(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any trace is in the archive."""
    return bool(connection.execute("select 1 from archived_traces limit 1").fetchall())


def recall(connection: duckdb.DuckDBPyConnection, traces: str) -> int:
    """Brings traces back from the archive, in the transaction of the caller, and returns how many [traces].

    Args:
        connection: holds the store for writing.
        traces: a query that gives `trace_id`; those that are not in the archive are passed over.

    Raises:
        StoreDamaged: a file of the archive is missing.
    """
    connection.execute(
        "create or replace temp table recalled_traces as "
        f"select trace_id, part from archived_traces where trace_id in ({traces})"
    )
    ((count,),) = connection.execute("select count(*) from recalled_traces").fetchall()
    if count == 0:
        return 0
    directory = store_directory(connection)
    install_macros(connection)
    files = connection.execute(
        "select part, table_name, path from archive_files where part in (select part from recalled_traces)"
    ).fetchall()
    for part, table, path in files:
        connection.execute(
            f"insert into {table} by name select * replace ({READ_AS[table]}) "
            f"from read_parquet({literal(existing(directory, path))}, hive_partitioning = false) "
            "where trace_id in (select trace_id from recalled_traces where part = $part)",
            {"part": part},
        )
    connection.execute("insert into archive_returned select trace_id, part from recalled_traces")
    connection.execute("delete from archived_traces where trace_id in (select trace_id from recalled_traces)")
    drop_empty_parts(connection)
    return int(count)


def drop_empty_parts(connection: duckdb.DuckDBPyConnection) -> None:
    """Forgets parts that no trace is in any more; their files stay until the next sweep."""
    for table in ("archive_files", "archive_returned", "archive_parts"):
        connection.execute(f"delete from {table} where part not in (select part from archived_traces)")


def recall_pending(connection: duckdb.DuckDBPyConnection) -> int:
    """Brings back what is about to be derived: traces that wait, and those that share a run with one that waits."""
    if not has_archive(connection):
        return 0
    from spanscore.store.queries import read_query

    connection.begin()
    try:
        count = recall(connection, read_query("retention/pending_with_neighbours.sql"))
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise
    return count
