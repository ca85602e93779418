"""The room that a store takes on disk, down to its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store.connection import database_path

if TYPE_CHECKING:
    from pathlib import Path

    from spanscore.store.session import ReadSession

_TABLES = """
select table_name
from duckdb_tables()
where database_name = current_database() and not temporary
order by table_name
"""

# A segment reaches to the next one in its block, the last one to the end of it; long texts have blocks of their own.
_SIZES = """
with segments as (
    select
        table_name,
        additional_block_ids,
        coalesce(lead(block_offset) over (partition by block_id order by block_offset), $block) - block_offset as size
    from ({every_table})
    where block_id >= 0
)
select table_name, sum(size + $block * len(additional_block_ids))::bigint as bytes
from segments
group by table_name
"""


@dataclass(frozen=True, slots=True)
class TableUsage:
    """A table of the database file: its rows [count] and its room [bytes]; 0 bytes: it is in the log, or empty."""

    table: str
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class DatabaseUsage:
    """The database file: its size, what of it is free to be used again, the write-ahead log [bytes], and its tables."""

    size: int
    free: int
    wal: int
    tables: tuple[TableUsage, ...]


def database_usage(session: ReadSession, directory: Path) -> DatabaseUsage:
    """What the database file holds, largest table first; rows of the archive do not count."""
    connection = session.connection
    name = session.path.stem
    ((_, _, block, _, _, free, _, _, _),) = connection.execute("call pragma_database_size()").fetchall()
    tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
    every_table = " union all ".join(
        f"select '{table}' as table_name, block_id, block_offset, additional_block_ids "
        f"from pragma_storage_info('{name}.main.{table}')"
        for table in tables
    )
    sizes = dict(connection.execute(_SIZES.format(every_table=every_table), {"block": block}).fetchall())
    counts = connection.execute(
        " union all ".join(f"select '{table}', count(*) from {name}.main.\"{table}\"" for table in tables)
    ).fetchall()
    path = database_path(directory)
    wal = path.with_name(f"{path.name}.wal")
    return DatabaseUsage(
        size=path.stat().st_size,
        free=free * block,
        wal=wal.stat().st_size if wal.exists() else 0,
        tables=tuple(
            sorted(
                (TableUsage(table, rows, sizes.get(table, 0)) for table, rows in counts),
                key=lambda usage: (-usage.size, -usage.rows, usage.table),
            )
        ),
    )
