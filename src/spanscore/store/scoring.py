"""What `spanscore score` asks of the store: which runs want scoring, and in one transaction what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from spanscore.store.queries import read_query
from spanscore.store.scores import ScoreCounts, replace_scores
from spanscore.store.session import read_session
from spanscore.store.writing import transaction

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb
    import pyarrow as pa

WAIT_S = 60.0
"""How long a pass waits for others to let go of the store [s]; it holds nothing meanwhile."""

MOST_ATTEMPTS = 3
"""Passes in which an evaluator that failed over a run is tried, until the run or the evaluator changes [count]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringScope:
    """Which runs are scored. None passes everything; times are UTC, without zone."""

    source: str | None
    service: str | None = None
    since: dt.datetime | None = None
    until: dt.datetime | None = None
    sample_below: str | None = None
    """Runs whose trace id has an MD5 (32 hex digits) below this; None = all."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Runs, or sessions, by what a pass does with them [count]."""

    unchanged: int = 0
    scored: int = 0
    rescored: int = 0
    waiting: int = 0
    sampled_out: int = 0
    failed: int = 0
    """Of all these: how many an evaluator has failed over."""

    @property
    def considered(self) -> int:
        """All of them, `failed` aside, which are counted already."""
        return self.unchanged + self.scored + self.rescored + self.waiting + self.sampled_out


@dataclass(frozen=True, slots=True)
class Plan:
    """What a pass would do, and the first part of it.

    Attributes:
        runs, sessions: by what becomes of them.
        work: kind, subject_id, fingerprint, case_fingerprint, n_runs, n_spans, missing (places of evaluators),
            verdict and received_at of what is to be scored.
        oldest_waiting: when the last span of the run came that has waited longest [UTC]; None = nothing waits.
    """

    runs: Tally
    sessions: Tally
    work: pa.Table
    oldest_waiting: dt.datetime | None


def plan(
    directory: Path,
    scope: ScoringScope,
    evaluators: pa.Table,
    *,
    quiet_before: dt.datetime,
    limit: int,
) -> Plan:
    """Looks which runs and sessions want scoring; the store is only read, and let go of at the end.

    Args:
        directory: of the store.
        scope: which runs.
        evaluators: position, evaluator, evaluator_sha256, params, and kind (run or session) of each.
        quiet_before: a run that is not finished is scored when its last span came before this [UTC].
        limit: how much work to return at most [subjects].

    Raises:
        StoreError: the store cannot be read.
    """
    with read_session(directory, wait_s=WAIT_S, may_spill=True) as session:
        connection = session.connection
        connection.execute(read_query("evaluation/run_cases.sql"), {"suite": None})
        values = asdict(scope)
        _make(connection, "plan_runs", {name: values[name] for name in ("source", "service", "since", "until")})
        connection.register("wanted_evaluators", evaluators)
        _make(connection, "plan_wanted")
        chosen = {"sample_below": scope.sample_below, "most_attempts": MOST_ATTEMPTS}
        _make(connection, "plan_subjects", chosen)
        _make(connection, "plan_arrivals", {"quiet_before": quiet_before})
        _make(connection, "plan_verdicts")
        work = connection.sql(read_query("production/plan_work.sql"), params={"limit": limit}).to_arrow_table()
        counts = connection.execute(read_query("production/plan_counts.sql")).fetchall()
    oldest = [moment for _, verdict, _, _, moment in counts if verdict == "waiting" and moment is not None]
    return Plan(_tally(counts, "run"), _tally(counts, "session"), work, min(oldest, default=None))


def _tally(counts: Sequence[tuple[str, str, int, int, object]], kind: str) -> Tally:
    found = {verdict: n for one, verdict, n, _, _ in counts if one == kind}
    return Tally(**found, failed=sum(failed for one, _, _, failed, _ in counts if one == kind))


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """What became of a batch."""

    scores: ScoreCounts
    left: frozenset[str]
    """Runs or sessions that changed while they were evaluated; the next pass takes them."""


def write_batch(
    directory: Path,
    *,
    subjects: pa.Table,
    evaluators: pa.Table,
    outcomes: Sequence[pa.Table],
    evaluated: pa.Table,
    runs: pa.Table,
    source: str | None,
    destination: str | None,
) -> BatchCounts:
    """Stores the scores of a batch, that it has been scored, and that the scores are to be sent, or nothing of it.

    Args:
        directory: of the store.
        subjects: kind, subject_id, fingerprint and case_fingerprint of what was scored, all of one kind.
        evaluators: as for `plan`, with `has_run` and `failed`.
        outcomes, evaluated, runs: as for `write_scores`.
        source: of the runs.
        destination: where the scores are to be sent; None = nowhere.

    Raises:
        StoreLocked: another process holds the store.
    """
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.register("wanted_evaluators", evaluators)
        connection.register("given_subjects", subjects)
        _make(connection, "keep_versions")
        _make(connection, "batch_versions")
        _make(connection, "batch_subjects", {"source": source})
        as_read = connection.sql("select subject_id from batch_subjects").to_arrow_table()
        left = frozenset(subjects.column("subject_id").to_pylist()) - set(as_read.column("subject_id").to_pylist())
        kept_outcomes, kept_runs = list(outcomes), runs
        if left:
            is_session = subjects.column("kind")[0].as_py() == "session"
            kept_outcomes = [_only(rows, "subject_id" if is_session else "run_id", as_read) for rows in outcomes]
            kept_runs = _only(runs, "session_id" if is_session else "run_id", as_read)
        scores = replace_scores(
            connection, outcomes=kept_outcomes, evaluators=evaluated, runs=kept_runs, is_selection=None
        )
        _make(connection, "drop_failures")
        connection.execute(read_query("evaluation/insert_failures.sql"))
        _make(connection, "batch_states")
        _make(connection, "drop_states")
        _make(connection, "insert_states")
        if destination is not None:
            _make(connection, "batch_queue", {"destination": destination})
            _make(connection, "drop_queued")
            _make(connection, "queue_scores")
    return BatchCounts(scores, left)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was scored and is there no more, or failed and works.

    Attributes:
        runs, sessions: that are gone [count].
        failures: of evaluators that work now [count].
        errors: of evaluators that do not, by evaluator.
    """

    runs: int
    sessions: int
    failures: int
    errors: Mapping[str, str]


def drop_leftovers(directory: Path, *, source: str | None, wanted: Sequence[str], broken: Sequence[str]) -> Leftovers:
    """Deletes scores of runs that turned out to be parts of others, and failures that have passed.

    The store is opened for writing only where there is something to delete.

    Args:
        directory: of the store.
        source: that is scored.
        wanted: ids of the evaluators in use.
        broken: ids of those whose files cannot be read: their failures stay.

    Raises:
        StoreLocked: another process holds the store.
    """
    parameters = {"source": source, "wanted": list(wanted), "broken": list(broken)}
    with read_session(directory, wait_s=WAIT_S, may_spill=True) as session:
        found = _leftovers(session.connection, parameters)
    if not (found.runs or found.sessions or found.failures):
        return found
    with transaction(directory, wait_s=WAIT_S) as connection:
        found = _leftovers(connection, parameters)
        for name in ("drop_leftover_scores", "drop_leftover_states", "drop_leftover_messages"):
            _make(connection, name)
    return found


def store_failures(directory: Path, evaluated: pa.Table) -> None:
    """Stores the errors of evaluators that could not be run over anything, where they are not known.

    Raises:
        StoreLocked: another process holds the store.
    """
    failures = {row["evaluator"]: row for row in evaluated.to_pylist() if row["error"] is not None}
    with read_session(directory, wait_s=WAIT_S) as session:
        rows = session.rows("select evaluator, evaluator_sha256 from scores where error is not null")
    if {(name, row["evaluator_sha256"]) for name, row in failures.items()} <= set(rows):
        return
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.register("evaluated", evaluated)
        _make(connection, "drop_failures")
        connection.execute(read_query("evaluation/insert_failures.sql"))


def _leftovers(connection: duckdb.DuckDBPyConnection, parameters: Mapping[str, object]) -> Leftovers:
    _make(connection, "plan_leftovers", parameters)
    rows = connection.execute("select kind, count(*) from leftovers group by kind").fetchall()
    counts = dict(rows)
    errors = connection.execute(
        """
        select evaluator, error
        from scores
        where error is not null
            and evaluator in (select unnest($wanted::varchar[]))
            and evaluator not in (select subject_id from leftovers where kind = 'failure')
        """,
        {"wanted": parameters["wanted"]},
    ).fetchall()
    return Leftovers(counts.get("run", 0), counts.get("session", 0), counts.get("failure", 0), dict(errors))


def _only(rows: pa.Table, column: str, subjects: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    kept = subjects.column("subject_id").combine_chunks()
    return rows.filter(pc.is_in(rows.column(column), value_set=kept))


def _make(connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, object] | None = None) -> None:
    """Runs one statement of `queries/production`."""
    connection.execute(read_query(f"production/{name}.sql"), parameters or {})
