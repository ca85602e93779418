"""Keeps the trajectory tables in the model of this version: another model drops them and derives them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.errors import StoreOutdated
from spanscore.store import derive
from spanscore.store.directory import store_option
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

_KEY = "model_version"


def model_version(connection: duckdb.DuckDBPyConnection) -> int | None:
    """The model the trajectory tables of the store were made for; None = none yet."""
    rows = connection.execute("select value from store_meta where key = ?", [_KEY]).fetchall()
    return int(rows[0][0]) if rows else None


def install(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates macros, views and trajectory tables; when the model is new, drops the old ones and makes all pending."""
    # One transaction for some 200 statements: each by itself would wait for the disk.
    connection.begin()
    try:
        is_current = model_version(connection) == derive.MODEL_VERSION
        if not is_current:
            for table in derive.DERIVED_TABLES:
                connection.execute(f'drop table if exists "{table}"')
        derive.install(connection)
        if not is_current:
            mark_all_pending(connection)
            connection.execute("delete from store_meta where key = ?", [_KEY])
            connection.execute("insert into store_meta values (?, ?)", [_KEY, str(derive.MODEL_VERSION)])
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise


def mark_all_pending(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes every trace of the store wait for its trajectory to be rebuilt."""
    connection.execute(
        """
        insert into pending_traces (trace_id)
        select trace_id from spans
        union
        select trace_id from log_records where trace_id is not null
        except
        select trace_id from pending_traces
        """
    )


def require_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Checks, without writing, that the trajectory tables are of the model this version reads.

    Raises:
        StoreOutdated: they are of another one.
    """
    found = model_version(connection)
    if found != derive.MODEL_VERSION:
        described = "has no trajectories yet" if found is None else f"holds trajectories of model {found}"
        raise StoreOutdated(
            f"The store `{path}` {described}; this version of spanscore reads model {derive.MODEL_VERSION}.\n"
            f"  Derive them again with:  spanscore rebuild {store_option(path.parent)}"
        )
