"""When a checkpoint may merge row groups.

DuckDB begins a new row group after every checkpoint and merges small ones in a later checkpoint, of every table and as
many as there are: the merge takes many times longer than writing the new rows, and nobody can read the store meanwhile.
Here a checkpoint after much was written merges nothing: the row groups that it makes are large enough. One after
little was loaded merges a few, so that a store that grows by a handful of spans at a time does not fall to pieces. What
is written of scores and alerts never merges: it comes of runs that were loaded, and readers wait for it as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

LITTLE = 2_048
"""Rows that DuckDB reads at a time [rows]: a row group with more of them is no slower to read than a large one."""


def let_merge(connection: duckdb.DuckDBPyConnection, *, rows: int) -> None:
    """Settles whether checkpoints may merge one set of row groups of each table, or none.

    Args:
        connection: the one that writes the database.
        rows: written into one table since it was opened [rows].
    """
    connection.execute(f"set max_vacuum_tasks = {int(0 < rows < LITTLE)}")
