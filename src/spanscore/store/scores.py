"""Writes scores: one short hold on the store, one transaction, and nothing at all where nothing has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store.queries import read_query
from spanscore.store.writing import transaction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb
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
    outcomes: Sequence[pa.Table],
    evaluators: pa.Table,
    runs: pa.Table,
    is_selection: bool,
    wait_s: float = WAIT_S,
) -> ScoreCounts:
    """Stores the outcome of an evaluation, in the place of what the same evaluators said of the same runs.

    Args:
        directory: of the store.
        outcomes: rows of the evaluators, all rows of one in the same table: evaluator_index, run_id, subject_id (NULL
            where the run is scored), and the columns that an evaluator gives.
        evaluators: one row per evaluator: evaluator_index, params, the columns of the table `evaluators`, and `error`
            for one that failed; it has no outcomes.
        runs: run_id, session_id and fingerprint of all runs in scope.
        is_selection: whether evaluators were left out: the earlier failures of these are then kept.
        wait_s: how long to wait for others to let go of the store [s].

    Raises:
        StoreLocked: another process holds the store.
    """
    with transaction(directory, wait_s=wait_s) as connection:
        return replace_scores(
            connection, outcomes=outcomes, evaluators=evaluators, runs=runs, is_selection=is_selection
        )


def replace_scores(
    connection: duckdb.DuckDBPyConnection,
    *,
    outcomes: Sequence[pa.Table],
    evaluators: pa.Table,
    runs: pa.Table,
    is_selection: bool | None,
) -> ScoreCounts:
    """As `write_scores`, in a transaction of the caller. Where `is_selection` is None failures are left alone."""
    connection.register("evaluated", evaluators)
    connection.register("scored_runs", runs)
    written = unchanged = removed = 0
    _run(connection, "scored_sessions")
    # An evaluator that gave no row has a batch too: its earlier scores go.
    silent = _indices_without_error(evaluators)
    for rows in outcomes:
        batch = rows.column("evaluator_index").unique().to_pylist()
        silent -= set(batch)
        new = _write_batch(connection, rows, batch)
        written, unchanged, removed = written + new.written, unchanged + new.unchanged, removed + new.removed
    if silent and outcomes:
        removed += _write_batch(connection, outcomes[0].slice(0, 0), sorted(silent)).removed
    failures = new_failures = 0
    if is_selection is not None:
        removed += _run(connection, "delete_failures", {"is_selection": is_selection})
        failures = sum(error is not None for error in evaluators.column("error").to_pylist())
        new_failures = _run(connection, "insert_failures")
    connection.execute(read_query("evaluation/keep_evaluators.sql"))
    return ScoreCounts(written + new_failures, unchanged + failures - new_failures, removed)


def _write_batch(connection: duckdb.DuckDBPyConnection, rows: pa.Table, batch: Sequence[int]) -> ScoreCounts:
    import pyarrow as pa

    numbers = pa.array(range(rows.num_rows), pa.int64())
    connection.register("given_outcomes", rows.append_column("row_index", numbers))
    _run(connection, "given_scores")
    unchanged = _run(connection, "unchanged")
    removed = _run(connection, "delete_scores", {"batch": list(batch)})
    written = _run(connection, "insert_scores")
    return ScoreCounts(written, unchanged, removed)


def _indices_without_error(evaluators: pa.Table) -> set[int]:
    rows = evaluators.select(["evaluator_index", "error"]).to_pylist()
    return {row["evaluator_index"] for row in rows if row["error"] is None}


def _run(connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, object] | None = None) -> int:
    """Runs one statement of `queries/evaluation`, and returns how many rows it wrote [rows]."""
    rows = connection.execute(read_query(f"evaluation/{name}.sql"), parameters or {}).fetchall()
    return int(rows[0][0]) if rows else 0
