"""One short transaction on the store of another process's collector: waits for the file, commits all or nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from spanscore.store import migrate, model
from spanscore.store.connection import connect_for_writing, database_path
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb


@contextmanager
def transaction(directory: Path, *, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection in a transaction that is committed at the end, or rolled back when the body fails.

    Args:
        directory: of a store that is as this version makes it.
        wait_s: how long to wait for others to let go of the store [s].

    Raises:
        StoreLocked: another process held the store for longer.
        StoreOutdated, StoreTooNew, StoreUnrecognised, StoreDamaged: it cannot be written.
    """
    path = database_path(directory)
    connection = connect_for_writing(path, wait_s=wait_s, memory_limit=None, threads=None)
    try:
        migrate.require_current(connection, path)
        model.require_current(connection, path)
        connection.begin()
        try:
            yield connection
            connection.commit()
        except BaseException:
            roll_back(connection)
            raise
    finally:
        connection.close()
