"""Scores what has changed: reads a few runs, lets go of the store, evaluates, and writes what is still true.

A pass can be killed anywhere. What it has written is whole (scores, that the run is scored, and that they are to be
sent, in one transaction), and what it has not is found again by the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spanscore.evaluate import Catalogue, Evaluator, canonical, evaluate_store, evaluated_table
from spanscore.store.batches import Batches
from spanscore.store.evaluation import Scope
from spanscore.store.scoring import (
    WAIT_S,
    Plan,
    ScoringScope,
    Tally,
    drop_leftovers,
    plan,
    store_failures,
    write_batch,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

PLANNED = 50_000
"""Runs that are looked up at a time [count]."""

BATCH_SPANS = 40_000
"""Most spans whose runs are evaluated at a time [count]. Every batch has a cost of its own: statements are planned, and
the tables of the store are looked through for its runs."""

SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to score, with what, and how.

    Attributes:
        batch: most runs evaluated at a time [count], and no more than have `BATCH_SPANS` spans: bounds memory.
        settle_s: how long nothing of a run without an end must have come [s].
        timeout_s: how long one evaluator may run over a batch [s].
        destination: where scores are to be sent; None = nowhere.
    """

    store: Path
    catalogue: Catalogue
    params: Mapping[str, Mapping[str, Any]]
    scope: ScoringScope
    batch: int
    settle_s: float
    timeout_s: float
    destination: str | None


@dataclass(slots=True)
class Scored:
    """What a pass has done.

    Attributes:
        plan: what there was to do.
        scored, rescored: runs and sessions that were done, for the first time and again [count].
        left: that changed while they were evaluated [count].
        skipped: that were planned, and left because the process was asked to stop [count].
        removed_runs: that are no runs any more: their scores went [count].
        errors: what went wrong, by evaluator.
        written, unchanged: scores [count].
    """

    plan: Plan
    scored: dict[str, int] = field(default_factory=lambda: {"run": 0, SESSION: 0})
    rescored: dict[str, int] = field(default_factory=lambda: {"run": 0, SESSION: 0})
    left: int = 0
    skipped: int = 0
    removed_runs: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    written: int = 0
    unchanged: int = 0

    @property
    def done(self) -> int:
        """Runs and sessions that were scored [count]."""
        return sum(self.scored.values()) + sum(self.rescored.values())


def score(
    job: Job,
    *,
    now: dt.datetime,
    on_step: Callable[[str, int, int], None],
    is_stopping: Callable[[], bool],
) -> Scored:
    """Scores all that wants scoring.

    Args:
        job: what and how.
        now: UTC, without zone.
        on_step: told (step that is done, runs and sessions done, of how many).
        is_stopping: whether to end after the batch in hand.

    Raises:
        StoreError: the store cannot be read or written; what was scored until then stays.
        EvaluatorInvalid: a parameter does not fit.
    """
    import datetime as dt

    values = job.catalogue.bound(job.params)
    evaluators = _evaluators(job.catalogue, values)
    quiet_before = now - dt.timedelta(seconds=job.settle_s)

    def planned() -> Plan:
        return plan(job.store, job.scope, evaluators, quiet_before=quiet_before, limit=PLANNED)

    result = Scored(planned())
    result.errors |= {file.id: "\n".join(file.problems) for file in job.catalogue.broken}
    on_step("planned", 0, 0)
    todo, total = result.plan, result.plan.runs.scored + result.plan.runs.rescored
    total += result.plan.sessions.scored + result.plan.sessions.rescored
    with Batches(job.store, wait_s=WAIT_S) as batches:
        while todo.work.num_rows:
            before = result.done
            for part in _parts(todo.work, job.batch):
                if is_stopping():
                    result.skipped = total - result.done - result.left
                    return result
                _score_part(job, part, evaluators, values, batches, result, on_step, total)
            if todo.work.num_rows < PLANNED or result.done == before:
                break
            todo = planned()
    _tidy(job, result)
    on_step("tidied", result.done, total)
    return result


def _tidy(job: Job, result: Scored) -> None:
    broken = [file.id for file in job.catalogue.broken]
    wanted = [evaluator.id for evaluator in job.catalogue.evaluators]
    leftovers = drop_leftovers(job.store, source=job.scope.source, wanted=[*wanted, *broken], broken=broken)
    result.removed_runs = leftovers.runs
    result.errors = {**leftovers.errors, **result.errors}
    if broken:
        # Nothing was evaluated for these: one evaluation of no run says what is wrong with them.
        only_broken = Catalogue(broken=job.catalogue.broken, is_selection=True)
        evaluation = evaluate_store(job.store, only_broken, scope=Scope(runs=("-",)))
        store_failures(job.store, evaluated_table(evaluation))


def _evaluators(catalogue: Catalogue, values: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    evaluators = catalogue.evaluators
    return pa.table(
        {
            "position": pa.array(range(len(evaluators)), pa.int32()),
            "evaluator": pa.array([one.id for one in evaluators], pa.string()),
            "evaluator_sha256": pa.array([one.sha256 for one in evaluators], pa.string()),
            "params": pa.array([canonical(values[one.id]) for one in evaluators], pa.string()),
            "kind": pa.array([_kind(one) for one in evaluators], pa.string()),
        }
    )


def _kind(evaluator: Evaluator) -> str:
    return SESSION if evaluator.grain == SESSION else "run"


@dataclass(frozen=True, slots=True)
class _Part:
    """Subjects of one kind that lack the same evaluators."""

    kind: str
    missing: tuple[int, ...]
    subjects: pa.Table


def _parts(work: pa.Table, batch: int) -> Iterator[_Part]:
    """The work in pieces of `batch` runs or `BATCH_SPANS` spans; a run or a session is never divided."""
    import pyarrow as pa

    members: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    kinds, missing = work.column("kind").to_pylist(), work.column("missing").to_pylist()
    for row, key in enumerate(zip(kinds, map(tuple, missing), strict=True)):
        members.setdefault(key, []).append(row)
    sizes = list(zip(work.column("n_runs").to_pylist(), work.column("n_spans").to_pylist(), strict=True))
    for (kind, lacking), rows in members.items():
        for some in _cut(rows, sizes, (batch, BATCH_SPANS)):
            yield _Part(kind, lacking, work.take(pa.array(some, pa.int64())))


def _cut(rows: Sequence[int], sizes: Sequence[tuple[int, int]], most: tuple[int, int]) -> Iterator[list[int]]:
    """The rows in pieces in which neither size exceeds what is allowed, unless it does so in one row."""
    some: list[int] = []
    runs = spans = 0
    for row in rows:
        n_runs, n_spans = sizes[row]
        if some and (runs + n_runs > most[0] or spans + n_spans > most[1]):
            yield some
            some, runs, spans = [], 0, 0
        some.append(row)
        runs, spans = runs + n_runs, spans + n_spans
    if some:
        yield some


def _score_part(
    job: Job,
    part: _Part,
    evaluators: pa.Table,
    values: Mapping[str, dict[str, Any]],
    batches: Batches,
    result: Scored,
    on_step: Callable[[str, int, int], None],
    total: int,
) -> None:
    import pyarrow as pa

    ids = part.subjects.column("subject_id").combine_chunks()
    copy = batches.of_sessions(ids, source=job.scope.source) if part.kind == SESSION else batches.of_runs(ids)
    on_step("copied", result.done, total)
    chosen = Catalogue(tuple(job.catalogue.evaluators[place] for place in part.missing), is_selection=True)
    bound = {one.id: values[one.id] for one in chosen.evaluators}
    evaluation = evaluate_store(copy, chosen, scope=Scope(), params=bound, timeout_s=job.timeout_s)
    on_step("evaluated", result.done, total)
    failed = {one.id: one.error or "" for one in evaluation.failed}
    has_run = [place in set(part.missing) for place in range(evaluators.num_rows)]
    went_wrong = [name in failed for name in evaluators.column("evaluator").to_pylist()]
    marked = evaluators.append_column("has_run", pa.array(has_run)).append_column("failed", pa.array(went_wrong))
    counts = write_batch(
        job.store,
        subjects=part.subjects.select(["kind", "subject_id", "fingerprint", "case_fingerprint"]),
        evaluators=marked,
        outcomes=evaluation.outcomes,
        evaluated=evaluated_table(evaluation),
        runs=evaluation.runs,
        source=job.scope.source,
        destination=job.destination,
    )
    result.errors |= failed
    result.written += counts.scores.written
    result.unchanged += counts.scores.unchanged
    result.left += len(counts.left)
    for subject, verdict in zip(ids.to_pylist(), part.subjects.column("verdict").to_pylist(), strict=True):
        if subject not in counts.left:
            (result.scored if verdict == "scored" else result.rescored)[part.kind] += 1
    on_step("written", result.done, total)


__all__ = ["PLANNED", "Job", "Scored", "ScoringScope", "Tally", "score"]
