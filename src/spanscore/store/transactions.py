"""How a transaction ends that failed."""

from __future__ import annotations

import duckdb


def roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Ends a failed transaction; a failed commit has already ended it, and a fatal error the connection.

    Nothing is raised, so that whoever re-raises tells what went wrong and not that there is nothing to roll back.
    """
    try:
        connection.execute("rollback")
    except duckdb.Error:
        return
