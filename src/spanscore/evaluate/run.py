"""Runs evaluators over the runs in scope and keeps what they say: reads first, lets go of the store, then writes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid, QueryError
from spanscore.evaluate import contract
from spanscore.evaluate.header import OWN
from spanscore.evaluate.macros import macros_used
from spanscore.store.connection import default_threads
from spanscore.store.contained.evaluation import ContainedSession, contained_evaluation
from spanscore.store.evaluation import EvaluationSession, Scope, evaluation_session
from spanscore.store.scores import ScoreCounts, write_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from spanscore.evaluate.catalogue import BrokenFile, Catalogue
    from spanscore.evaluate.header import Evaluator
    from spanscore.store.evaluation import Answer

DEFAULT_TIMEOUT_S = 60.0

# DuckDB divides one query among threads only beyond some 120,000 rows: below, evaluators run beside each other instead.
# Above, each has all threads and the memory to itself.
_RUNS_SIDE_BY_SIDE = 20_000

# Rows checked and written at once: bounds the memory of a catalogue over a large store.
_ROWS_AT_ONCE = 1_000_000

_VIOLATIONS = {
    "keyless": "a row has no key",
    "out_of_scope": "a row scores what is not in scope",
    "not_finite": "a score is no finite number; guard the denominator with `safe_ratio`",
    "no_reason": "a row has neither a score nor a `not_applicable_reason`",
    "needless_reason": "a row has both a score and a `not_applicable_reason`",
    "not_ratio": "a score is not between 0 and 1, and the unit is ratio",
    "not_boolean": "a score is neither 1 nor 0, and the unit is boolean",
    "repeated": "a subject has more than one row",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one evaluator said, in figures."""

    id: str
    evaluator: Evaluator | None
    """None when its file is broken."""
    question: str
    sha256: str
    params: Mapping[str, Any]
    n_total: int = 0
    """Runs in scope, or calls, handoffs … that it gave a row for [count]."""
    n_scored: int = 0
    mean: float | None = None
    """Mean of the scores; NULL when there is none."""
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many have no score for it [count]."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What all evaluators said about the runs in scope."""

    scope: Scope
    results: tuple[Result, ...]
    runs: pa.Table
    """run_id, session_id and fingerprint of the runs in scope."""
    outcomes: tuple[pa.Table, ...]
    """Rows that evaluators gave, those of failed ones left out; `evaluator_index` is the place in `results`."""
    is_selection: bool = False
    """Whether there are evaluators that were left out."""
    undecided: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Runs that may be attempts at several cases and are taken for none: run id -> the cases."""

    @property
    def failed(self) -> tuple[Result, ...]:
        """The evaluators that could not be run."""
        return tuple(result for result in self.results if result.error is not None)


def evaluate_store(
    directory: Path,
    catalogue: Catalogue,
    *,
    scope: Scope,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
    on_done: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Runs every evaluator of `catalogue` over the runs in scope. An evaluator that fails stops no other.

    Args:
        directory: of the store; it is only read.
        catalogue: the evaluators.
        scope: which runs.
        params: values for parameters, by evaluator and name; they win over the settings and the defaults.
        timeout_s: how long one evaluator may run [s].
        on_done: told (evaluators done, evaluators in all).

    Raises:
        EvaluatorInvalid: a value in `params` does not fit.
        StoreError: the store cannot be read.
    """
    values = catalogue.bound(params or {})
    with ExitStack() as stack:
        contained = None
        if not all(evaluator.is_shipped for evaluator in catalogue.evaluators):
            contained = stack.enter_context(contained_evaluation(directory, scope, timeout_s=timeout_s))
        session = stack.enter_context(evaluation_session(directory, scope, macros=(), timeout_s=timeout_s))
        session.create_macros(_macros(catalogue.evaluators))
        return evaluate(session, catalogue, scope=scope, values=values, contained=contained, on_done=on_done)


def evaluate(
    session: EvaluationSession | ContainedSession,
    catalogue: Catalogue,
    *,
    scope: Scope,
    values: Mapping[str, dict[str, Any]],
    contained: ContainedSession | None = None,
    on_done: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Runs evaluators on a prepared session.

    Args:
        session: where they run.
        catalogue: the evaluators.
        scope: which runs; that of the session.
        values: their parameters, as `Catalogue.bound` gives them.
        contained: where those of the user run; None = beside the others.
        on_done: told (evaluators done, evaluators in all).
    """
    evaluators = catalogue.evaluators
    runs = session.scoped_runs()
    sessions = _sessions(session, scope, evaluators, n_runs=runs.num_rows)
    results: dict[int, Result] = {}
    outcomes: list[pa.Table] = []
    n_at_once = max(1, _ROWS_AT_ONCE // max(1, runs.num_rows))
    for first in range(0, len(evaluators), n_at_once):
        indices = range(first, min(first + n_at_once, len(evaluators)))
        answers, errors = _answers(sessions, contained, evaluators, values, indices, on_done)
        rows = _outcomes(evaluators, answers)
        errors |= _violations(session, evaluators, rows)
        if errors:
            import pyarrow.compute as pc

            rows = rows.filter(pc.invert(pc.is_in(rows.column("evaluator_index"), _indices(errors))))
        outcomes.append(rows)
        summaries = {row["evaluator_index"]: row for row in session.query("summary", {"outcomes": rows}).to_pylist()}
        for index in indices:
            evaluator = evaluators[index]
            results[index] = _result(
                evaluator, values[evaluator.id], summaries.get(index), errors.get(index), n_runs=runs.num_rows
            )
    broken = [_broken_result(file) for file in catalogue.broken]
    return Evaluation(
        scope,
        (*results.values(), *broken),
        runs,
        tuple(outcomes),
        catalogue.is_selection,
        session.undecided_runs(),
    )


def store_evaluation(directory: Path, evaluation: Evaluation) -> ScoreCounts:
    """Writes the scores into the store, in one short hold on it.

    Raises:
        StoreLocked: another process holds the store.
    """
    return write_scores(
        directory,
        outcomes=evaluation.outcomes,
        evaluators=evaluated_table(evaluation),
        runs=evaluation.runs,
        is_selection=evaluation.is_selection,
    )


def evaluated_table(evaluation: Evaluation) -> pa.Table:
    """What ran and with what, a row per evaluator, as `write_scores` takes it."""
    import pyarrow as pa

    text, listed = pa.string(), pa.list_(pa.string())
    columns: Sequence[tuple[str, Any, pa.DataType]] = [
        ("evaluator", lambda result: result.id, text),
        ("evaluator_sha256", lambda result: result.sha256, text),
        ("params", lambda result: canonical(result.params), text),
        ("question", lambda result: result.question, text),
        ("error", lambda result: result.error, text),
        ("grain", lambda result: "run" if result.evaluator is None else result.evaluator.grain, text),
        ("title", lambda result: result.evaluator and result.evaluator.title, text),
        ("unit", lambda result: result.evaluator and result.evaluator.unit, text),
        ("better", lambda result: result.evaluator and result.evaluator.better, text),
        ("needs", lambda result: result.evaluator and list(result.evaluator.needs), listed),
        ("tags", lambda result: result.evaluator and list(result.evaluator.tags), listed),
        ("is_shipped", lambda result: result.question != OWN, pa.bool_()),
    ]
    results = evaluation.results
    evaluators = pa.table({name: pa.array([value(one) for one in results], kind) for name, value, kind in columns})
    return evaluators.append_column("evaluator_index", _indices(range(len(results))))


def _sessions(
    session: EvaluationSession | ContainedSession, scope: Scope, evaluators: Sequence[Evaluator], *, n_runs: int
) -> Sequence[EvaluationSession | ContainedSession]:
    """The sessions in which evaluators run beside each other."""
    if isinstance(session, ContainedSession):
        return [session]
    workers = min(default_threads(), len(evaluators)) if n_runs <= _RUNS_SIDE_BY_SIDE else 1
    beside = [session.beside() for _ in range(workers - 1)]
    for one in beside:
        one.prepare(scope, macros=())
        one.create_macros(_macros(evaluators))
    return [session, *beside]


def _macros(evaluators: Sequence[Evaluator]) -> list[str]:
    return macros_used("\n".join(evaluator.sql for evaluator in evaluators))


def _answers(
    sessions: Sequence[EvaluationSession | ContainedSession],
    contained: ContainedSession | None,
    evaluators: Sequence[Evaluator],
    values: Mapping[str, dict[str, Any]],
    indices: range,
    on_done: Callable[[int, int], None] | None,
) -> tuple[dict[int, Answer], dict[int, str]]:
    """The rows of every evaluator, and what went wrong with the others, by index."""
    answers: dict[int, Answer] = {}
    errors: dict[int, str] = {}
    of_user = [index for index in indices if contained is not None and not evaluators[index].is_shipped]
    todo = iter([index for index in indices if index not in set(of_user)])

    def work(own: EvaluationSession | ContainedSession, todo: Iterator[int]) -> None:
        # `next` on a shared iterator of a list holds the interpreter lock: no index is given twice.
        for index in todo:
            evaluator = evaluators[index]
            try:
                if own is contained:
                    contained.renew(macros_used(evaluator.sql))
                answers[index] = contract.run(evaluator, own, values[evaluator.id])
            except (EvaluatorInvalid, QueryError) as error:
                errors[index] = str(error)
            if on_done is not None:
                on_done(indices.start + len(answers) + len(errors), len(evaluators))

    lanes = [(session, todo) for session in sessions]
    if contained is not None and of_user:
        lanes.append((contained, iter(of_user)))
    if len(lanes) == 1:
        work(*lanes[0])
    else:
        with ThreadPoolExecutor(len(lanes)) as pool:
            list(pool.map(lambda lane: work(*lane), lanes))
    return answers, errors


def _violations(
    session: EvaluationSession | ContainedSession, evaluators: Sequence[Evaluator], rows: pa.Table
) -> dict[int, str]:
    """What breaks the contract in `rows`, by evaluator: the kind that most rows show."""
    found: dict[int, str] = {}
    for row in session.query("violations", {"outcomes": rows, "evaluated": _evaluated(evaluators)}).to_pylist():
        example = "" if row["example"] is None else f", such as `{row['example']}`"
        text = f"{_VIOLATIONS[row['kind']]} ({row['n']} of them{example})."
        found.setdefault(row["evaluator_index"], f"{evaluators[row['evaluator_index']].path}: {text}")
    return found


def _outcomes(evaluators: Sequence[Evaluator], answers: Mapping[int, Answer]) -> pa.Table:
    """All rows in one table, absent columns NULL. `subject_id` stands only where it is not the run."""
    import pyarrow as pa

    schema = pa.schema(
        [
            ("evaluator_index", pa.int32()),
            ("run_id", pa.string()),
            ("subject_id", pa.string()),
            ("score_value", pa.float64()),
            *((name, pa.string()) for name in (*contract.TEXT_COLUMNS, "evidence")),
        ]
    )
    tables = []
    for index, answer in answers.items():
        rows = answer.rows
        present = set(rows.column_names)
        columns = []
        for column in schema:
            name = column.name
            if name == "subject_id" and evaluators[index].grain != "run":
                name = evaluators[index].subject_column
            if name == "evaluator_index":
                columns.append(pa.repeat(pa.scalar(index, pa.int32()), rows.num_rows))
            elif name in present:
                columns.append(rows.column(name).cast(column.type))
            else:
                columns.append(pa.nulls(rows.num_rows, column.type))
        tables.append(pa.table(columns, schema=schema))
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _evaluated(evaluators: Sequence[Evaluator]) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            "evaluator_index": _indices(range(len(evaluators))),
            "grain": pa.array([evaluator.grain for evaluator in evaluators], pa.string()),
            "unit": pa.array([evaluator.unit for evaluator in evaluators], pa.string()),
        }
    )


def _result(
    evaluator: Evaluator,
    params: Mapping[str, Any],
    summary: Mapping[str, Any] | None,
    error: str | None,
    *,
    n_runs: int,
) -> Result:
    found = summary or {"n_rows": 0, "n_scored": 0, "mean": None, "not_applicable": None}
    return Result(
        id=evaluator.id,
        evaluator=evaluator,
        question=evaluator.question,
        sha256=evaluator.sha256,
        params=params,
        n_total=n_runs if evaluator.grain == "run" else found["n_rows"],
        n_scored=found["n_scored"],
        mean=found["mean"],
        not_applicable=json.loads(found["not_applicable"] or "{}"),
        error=error,
    )


def _broken_result(file: BrokenFile) -> Result:
    try:
        digest = sha256(file.path.read_bytes()).hexdigest()
    except OSError:
        digest = ""
    return Result(file.id, None, file.question, digest, {}, error="\n".join(file.problems))


def _indices(values: Iterable[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(list(values), pa.int32())


def canonical(params: Mapping[str, Any]) -> str:
    """Parameters as the store keeps them."""
    return json.dumps(dict(params), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
