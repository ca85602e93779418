"""Archived traces whose trajectories are of another model: they come back, are derived, and are archived again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.store import derive
from spanscore.store.archive.move import put_back
from spanscore.store.archive.recall import recall
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

    Progress = Callable[[int, int], None] | None


def count_stale(connection: duckdb.DuckDBPyConnection) -> int:
    """Archived traces whose trajectories wait to be derived [traces]."""
    ((count,),) = connection.execute(
        "select count(*) from archived_traces inner join archive_parts using (part) "
        "where archive_parts.model_version is distinct from $1",
        [derive.MODEL_VERSION],
    ).fetchall()
    return int(count)


def derive_stale(connection: duckdb.DuckDBPyConnection, progress: Progress) -> int:
    """Derives the trajectories of archived traces of another model, a part at a time, and returns how many [traces].

    Killed in between, the traces of one part stay in the database, and the next archiving moves them.
    """
    total, done = count_stale(connection), 0
    connection.execute("create or replace temp table archived_before as select trace_id from archived_traces")
    while parts := _stale_parts(connection):
        connection.begin()
        try:
            traces = f"select trace_id from archived_traces where part = '{parts[0]}'"
            connection.execute(
                f"insert into pending_traces (trace_id) ({traces} except select trace_id from pending_traces)"
            )
            recall(connection, traces)
            connection.commit()
        except BaseException:
            roll_back(connection)
            raise
        done += derive.derive(connection)
        # Deriving brings back what shares a run with them, too.
        put_back(connection, "select trace_id from archived_before anti join archived_traces using (trace_id)")
        if progress is not None:
            progress(min(done, total), total)
    return done


def more(progress: Progress, waiting: int) -> Progress:
    """`progress` that is told of `waiting` more traces in all."""
    return None if progress is None else lambda done, total: progress(done, total + waiting)


def after(progress: Progress, done_before: int) -> Progress:
    """`progress` that is told of traces done before."""
    return None if progress is None else lambda done, total: progress(done_before + done, done_before + total)


def _stale_parts(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "select part from archive_parts where model_version is distinct from $1 order by part limit 1",
        [derive.MODEL_VERSION],
    ).fetchall()
    return [part for (part,) in rows]
