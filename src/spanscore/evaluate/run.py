"""Runs evaluators over the runs in scope and keeps what they say: reads first, lets go of the store, then writes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid, QueryError
from spanscore.evaluate import contract
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.connection import default_threads
from spanscore.store.evaluation import EvaluationSession, Scope, evaluation_session
from spanscore.store.scores import ScoreCounts, write_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from spanscore.evaluate.catalogue import BrokenFile, Catalogue
    from spanscore.evaluate.header import Evaluator
    from spanscore.store.evaluation import Answer

DEFAULT_TIMEOUT_S = 60.0

# DuckDB divides one query among threads only beyond some 120,000 rows: below, evaluators run beside each other instead.
# Above, each has all threads and the memory to itself.
_RUNS_SIDE_BY_SIDE = 20_000

_VIOLATIONS = {
    "keyless": "a row has no key",
    "out_of_scope": "a row scores what is not in scope",
    "not_finite": "a score is no finite number; guard the denominator with `safe_ratio`",
    "no_reason": "a row has neither a score nor a `not_applicable_reason`",
    "needless_reason": "a row has both a score and a `not_applicable_reason`",
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
    """run_id and session_id of the runs in scope."""
    scores: pa.Table
    """Rows for the table `scores`, without `scored_at`."""
    is_selection: bool = False
    """Whether there are evaluators that were left out."""

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
    with evaluation_session(directory, scope, macros=EVALUATOR_MACROS, timeout_s=timeout_s) as session:
        return evaluate(session, catalogue, scope=scope, values=values, on_done=on_done)


def evaluate(
    session: EvaluationSession,
    catalogue: Catalogue,
    *,
    scope: Scope,
    values: Mapping[str, dict[str, Any]],
    on_done: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Runs evaluators on a prepared session. `values` are their parameters, as `Catalogue.bound` gives them."""
    evaluators = catalogue.evaluators
    runs = session.scoped_runs()
    answers = _answers(session, evaluators, scope, values, n_runs=runs.num_rows, on_done=on_done)
    errors = {index: answer for index, answer in enumerate(answers) if isinstance(answer, str)}
    outcomes = _outcomes(evaluators, {i: answer for i, answer in enumerate(answers) if not isinstance(answer, str)})
    violations = session.query("violations", {"outcomes": outcomes, "evaluated": _evaluated(evaluators)})
    for row in violations.to_pylist():
        example = "" if row["example"] is None else f", such as `{row['example']}`"
        text = f"{_VIOLATIONS[row['kind']]} ({row['n']} of them{example})."
        errors.setdefault(row["evaluator_index"], f"{evaluators[row['evaluator_index']].path}: {text}")
    scored = session.query("scored", {"outcomes": outcomes}, {"failed": list(errors)})
    summaries = {row["evaluator_index"]: row for row in session.query("summary", {"scored": scored}).to_pylist()}
    results = [
        _result(evaluator, values[evaluator.id], summaries.get(index), errors.get(index), n_runs=runs.num_rows)
        for index, evaluator in enumerate(evaluators)
    ]
    broken = [_broken_result(file) for file in catalogue.broken]
    return Evaluation(scope, (*results, *broken), runs, _score_rows(results, broken, scored), catalogue.is_selection)


def store_evaluation(directory: Path, evaluation: Evaluation) -> ScoreCounts:
    """Writes the scores into the store, in one short hold on it.

    Raises:
        StoreLocked: another process holds the store.
    """
    import pyarrow as pa

    listed = pa.list_(pa.string())
    columns: Sequence[tuple[str, Any, pa.DataType]] = [
        ("evaluator", lambda one: one.id, pa.string()),
        ("evaluator_sha256", lambda one: one.sha256, pa.string()),
        ("title", lambda one: one.title, pa.string()),
        ("question", lambda one: one.question, pa.string()),
        ("grain", lambda one: one.grain, pa.string()),
        ("unit", lambda one: one.unit, pa.string()),
        ("better", lambda one: one.better, pa.string()),
        ("needs", lambda one: list(one.needs), listed),
        ("tags", lambda one: list(one.tags), listed),
        ("is_shipped", lambda one: one.is_shipped, pa.bool_()),
    ]
    good = [r.evaluator for r in evaluation.results if r.error is None and r.evaluator is not None]
    evaluators = pa.table({name: pa.array([value(one) for one in good], kind) for name, value, kind in columns})
    return write_scores(
        directory,
        scores=evaluation.scores,
        evaluators=evaluators,
        runs=evaluation.runs,
        is_selection=evaluation.is_selection,
    )


def _answers(
    session: EvaluationSession,
    evaluators: Sequence[Evaluator],
    scope: Scope,
    values: Mapping[str, dict[str, Any]],
    *,
    n_runs: int,
    on_done: Callable[[int, int], None] | None,
) -> list[Answer | str]:
    """The rows of every evaluator, or what went wrong with it."""
    workers = max(1, min(default_threads(), len(evaluators))) if n_runs <= _RUNS_SIDE_BY_SIDE else 1
    if workers == 1:
        sessions = [session]
    else:
        sessions = [session, *(session.beside() for _ in range(workers - 1))]
        for beside in sessions[1:]:
            beside.prepare(scope, macros=EVALUATOR_MACROS)
    answers: list[Answer | str] = [""] * len(evaluators)
    todo = iter(range(len(evaluators)))
    done = 0

    def work(own: EvaluationSession) -> None:
        nonlocal done
        # `next` on a shared iterator of range holds the interpreter lock: no index is given twice.
        for index in todo:
            evaluator = evaluators[index]
            try:
                answers[index] = contract.run(evaluator, own, values[evaluator.id])
            except (EvaluatorInvalid, QueryError) as error:
                answers[index] = str(error)
            done += 1
            if on_done is not None:
                on_done(done, len(evaluators))

    if workers == 1:
        work(session)
        return answers
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, sessions))
    return answers


def _outcomes(evaluators: Sequence[Evaluator], answers: Mapping[int, Answer]) -> pa.Table:
    """All rows in one table, absent columns NULL."""
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
            name = evaluators[index].subject_column if column.name == "subject_id" else column.name
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
            "evaluator_index": pa.array(range(len(evaluators)), pa.int32()),
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


def _score_rows(results: Sequence[Result], broken: Sequence[Result], scored: pa.Table) -> pa.Table:
    """`scored` with what is the same for all rows of an evaluator, then one row per evaluator that failed."""
    import pyarrow as pa

    same = {
        "evaluator": [result.id for result in results],
        "evaluator_sha256": [result.sha256 for result in results],
        "params": [_canonical(result.params) for result in results],
        "grain": [_grain(result) for result in results],
    }
    indices = scored.column("evaluator_index")
    table = scored.drop_columns(["evaluator_index"])
    for name, values in same.items():
        table = table.append_column(name, pa.array(values, pa.string()).take(indices.combine_chunks()))
    table = table.append_column("error", pa.nulls(scored.num_rows, pa.string()))
    failures = pa.Table.from_pylist(
        [
            {
                "evaluator": result.id,
                "evaluator_sha256": result.sha256,
                "params": _canonical(result.params),
                "grain": _grain(result),
                "error": result.error,
            }
            for result in (*results, *broken)
            if result.error is not None
        ],
        schema=table.schema,
    )
    whole = pa.concat_tables([table, failures])
    return whole.append_column("score_index", pa.array(range(whole.num_rows), pa.int64()))


def _grain(result: Result) -> str:
    return "run" if result.evaluator is None else result.evaluator.grain


def _canonical(params: Mapping[str, Any]) -> str:
    return json.dumps(dict(params), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
