"""Writes scores: one short hold on the store, one transaction, and nothing at all when nothing has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store import load, migrate, model
from spanscore.store.connection import connect_for_writing, database_path
from spanscore.store.queries import read_query

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

# The scores are there already: better to wait for a loader than to lose them.
WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """What became of the scores [rows]."""

    written: int
    unchanged: int
    removed: int
    """Earlier scores that are replaced, or that no evaluator gives any more."""


def write_scores(
    directory: Path,
    *,
    scores: pa.Table,
    evaluators: pa.Table,
    runs: pa.Table,
    is_selection: bool,
    wait_s: float = WAIT_S,
) -> ScoreCounts:
    """Stores the outcome of an evaluation, and takes the place of what the same evaluators said of the same runs.

    Args:
        directory: of the store.
        scores: columns of the table `scores` but `scored_at`; a row with an `error` for an evaluator that failed.
        evaluators: columns of the table `evaluators`, of all that ran without failing.
        runs: run_id and session_id of all runs in scope.
        is_selection: whether evaluators were left out: the earlier failures of these are then kept.
        wait_s: how long to wait for others to let go of the store [s].

    Raises:
        StoreLocked: another process holds the store.
    """
    path = database_path(directory)
    connection = connect_for_writing(path, wait_s=wait_s, memory_limit=None, threads=None)
    try:
        migrate.require_current(connection, path)
        model.require_current(connection, path)
        for name, table in (("given_scores", scores), ("given_evaluators", evaluators), ("scored_runs", runs)):
            connection.register(name, table)
        connection.begin()
        try:
            connection.execute(read_query("evaluation/unchanged.sql"))
            ((unchanged,),) = connection.execute("select count(*) from unchanged").fetchall()
            ((removed,),) = connection.execute(
                read_query("evaluation/delete_scores.sql"), {"is_selection": is_selection}
            ).fetchall()
            ((written,),) = connection.execute(read_query("evaluation/insert_scores.sql")).fetchall()
            connection.execute(read_query("evaluation/keep_evaluators.sql"))
            connection.execute("drop table unchanged")
            connection.commit()
        except BaseException:
            load.roll_back(connection)
            raise
        return ScoreCounts(written=written, unchanged=unchanged, removed=removed)
    finally:
        connection.close()
