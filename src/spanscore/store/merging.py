"""When a checkpoint may merge row groups.

DuckDB begins a new row group after every checkpoint and merges small ones in a later checkpoint, of every table and as
many as there are: the merge takes many times longer than writing the new rows, and nobody can read the store meanwhile.
Here a checkpoint after much was written merges nothing: the row groups that it makes are large enough. One after
little was written merges a few, so that a store that grows by a handful of spans at a time does not fall to pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

LITTLE = 2_048
"""Rows that DuckDB reads at a time [rows]: a row group with more of them is no slower to read than a large one."""

LITTLE_BYTES = 4 << 20
"""Log of about so many spans with their trajectories [bytes]."""


def let_merge(connection: duckdb.DuckDBPyConnection, *, rows: int) -> None:
    """Settles whether checkpoints may merge one set of row groups of each table, or none.

    Args:
        connection: the one that writes the database.
        rows: written into one table since it was opened [rows].
    """
    connection.execute(f"set max_vacuum_tasks = {int(0 < rows < LITTLE)}")


def let_merge_by_log(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """As `let_merge`, by the size of the log of the database file `path` where rows were not counted."""
    try:
        size = path.with_name(f"{path.name}.wal").stat().st_size
    except FileNotFoundError:
        return
    connection.execute(f"set max_vacuum_tasks = {int(0 < size < LITTLE_BYTES)}")
