"""Cases of an evaluator: TOML files that say which rows go in and which scores must come out."""

from __future__ import annotations

import datetime as dt
import json
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid, QueryError
from spanscore.evaluate.catalogue import Catalogue
from spanscore.evaluate.contract import TEXT_COLUMNS
from spanscore.evaluate.run import evaluate
from spanscore.store.evaluation import SCOPED_TABLES, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.evaluate.contract import Session
    from spanscore.evaluate.header import Evaluator

TOLERANCE = 1e-9
_KEYS = {"why", "params", "given", "expect"}
_SUITE_OF_GIVEN_CASES = "given"


@dataclass(frozen=True, slots=True)
class Case:
    """One file: rows of tables, and the scores that the evaluator must give for them."""

    path: Path
    why: str
    params: Mapping[str, Any]
    given: Mapping[str, Sequence[Mapping[str, Any]]]
    expect: Sequence[Mapping[str, Any]]


def case_files(evaluator: Evaluator, *, folder: Path | None = None) -> list[Path]:
    """The case files of an evaluator: `<id>/*.toml` in `folder`, else beside the evaluator."""
    return sorted(((folder or evaluator.path.parent) / evaluator.id).glob("*.toml"))


def read_case(path: Path, evaluator: Evaluator) -> Case:
    """The case in the file `path`.

    Raises:
        EvaluatorInvalid: it is no case of this evaluator.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise EvaluatorInvalid([f"{path}: the case cannot be read: {error}"]) from error
    problems = [f"{path}: {problem}" for problem in _shape_problems(document, evaluator)]
    if problems:
        raise EvaluatorInvalid(problems)
    return Case(path, document["why"], document.get("params", {}), document["given"], document["expect"])


def run_case(case: Case, evaluator: Evaluator, empty: Session) -> list[str]:
    """What came out other than the case expects; nothing when it passes.

    Args:
        case: of this evaluator.
        evaluator: runs as it does on a store.
        empty: a session on an empty store; it is empty again afterwards.

    Raises:
        EvaluatorInvalid: the rows do not fit the tables, or the parameters not the evaluator.
    """
    values = {evaluator.id: evaluator.bound(case.params)}
    tables = _with_cases_of_runs(case)
    try:
        for table, rows in tables.items():
            _fill(case, table, rows, empty)
        empty.find_runs(Scope())
        evaluation = evaluate(empty, Catalogue((evaluator,)), scope=Scope(), values=values)
    finally:
        empty.clear(tables)
    if evaluation.failed:
        return [f"{case.path}: the evaluator failed: {evaluation.failed[0].error}"]
    rows = [row for table in evaluation.outcomes for row in table.to_pylist()]
    return [f"{case.path}: {text}" for text in _differences(case, evaluator, rows)]


def _fill(case: Case, table: str, rows: Sequence[Mapping[str, Any]], empty: Session) -> None:
    known = empty.columns(table)
    unknown = sorted({name for row in rows for name in row} - known.keys())
    if unknown:
        raise EvaluatorInvalid([f"{case.path}: given.{table}: there is no column `{name}`." for name in unknown])
    try:
        empty.fill(table, [{name: _given(row[name], known[name]) for name in row} for row in rows])
    except QueryError as error:
        raise EvaluatorInvalid([f"{case.path}: given.{table}: {error}"]) from error


def check_cases(evaluator: Evaluator, paths: Sequence[Path], empty: Session) -> Iterator[tuple[Path, list[str]]]:
    """Each case file with what is wrong with it: nothing when it passes."""
    for path in paths:
        try:
            yield path, run_case(read_case(path, evaluator), evaluator, empty)
        except EvaluatorInvalid as error:
            yield path, list(error.problems)


def _shape_problems(document: Mapping[str, Any], evaluator: Evaluator) -> Iterator[str]:
    for key in sorted(document.keys() - _KEYS):
        yield f"unknown key `{key}`; a case has `why`, `params`, `given` and `expect`."
    if not isinstance(document.get("why"), str):
        yield "`why` is missing: say in a sentence what the case shows."
    if not isinstance(document.get("params", {}), dict):
        yield '`params` must be a table: params = { name = "value" }.'
    given = document.get("given")
    if not isinstance(given, dict):
        yield '`given` is missing: given.runs = [{ run_id = "r1" }].'
    else:
        for table, rows in given.items():
            if table not in SCOPED_TABLES:
                yield f"given.{table}: there is no such table; there are {', '.join(SCOPED_TABLES)}."
            elif not _are_rows(rows):
                yield f'given.{table} must be a list of rows: [{{ run_id = "r1" }}].'
    expected = document.get("expect")
    if not _are_rows(expected):
        yield "`expect` is missing: a list of rows, empty when no row is expected."
        return
    key = evaluator.subject_column
    allowed = {"run_id", key, "score_value", "evidence", *TEXT_COLUMNS}
    for row in expected or ():
        if key not in row:
            yield f"expect: a row has no `{key}`: {row}."
        for name in sorted(row.keys() - allowed):
            yield f"expect: there is no column `{name}`."


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _with_cases_of_runs(case: Case) -> dict[str, list[dict[str, Any]]]:
    """The rows to insert. A case with a `run_id` becomes the case of that run, as evaluators see it."""
    tables = {table: [dict(row) for row in rows] for table, rows in case.given.items()}
    runs = {run.get("run_id"): run for run in tables.get("runs", [])}
    cases: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in tables.pop("cases", []):
        run_id = row.pop("run_id", None)
        if run_id is not None and run_id not in runs:
            raise EvaluatorInvalid([f"{case.path}: given.cases: there is no run `{run_id}` in given.runs."])
        run = runs.get(run_id, {})
        row.setdefault("suite_name", run.get("suite_name", _SUITE_OF_GIVEN_CASES))
        row.setdefault("case_id", run.get("case_id", run_id))
        run.setdefault("suite_name", row["suite_name"])
        run.setdefault("case_id", row["case_id"])
        cases[row["suite_name"], row.get("suite_version"), row["case_id"]] = row
    if cases:
        tables["cases"] = list(cases.values())
    return tables


def _given(value: Any, kind: str) -> object:
    """A TOML value in the form in which it is bound for a column of type `kind`."""
    if kind == "JSON":
        return value if isinstance(value, str) and _is_json(value) else json.dumps(value, default=str)
    if kind in ("VARIANT", "MAP(VARCHAR, VARIANT)"):
        return json.dumps(value, default=str)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    return value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _differences(case: Case, evaluator: Evaluator, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    left = [{**row, "subject_id": row["subject_id"] or row["run_id"]} for row in rows]
    for expected in case.expect:
        subject = expected[evaluator.subject_column]
        name = f"`{subject}`"
        found = next((row for row in left if _is_about(row, subject, expected.get("run_id"))), None)
        if found is None:
            yield f"no row for {name}."
            continue
        left.remove(found)
        for column, value in expected.items():
            if column in (evaluator.subject_column, "run_id"):
                continue
            actual = found[column]
            if column == "evidence" and actual is not None:
                actual = json.loads(actual)
            if not matches(value, actual):
                yield f"{name}: {column} is {_shown(actual)}, expected {_shown(value)}."
    for row in left:
        yield f"a row for `{row['subject_id']}` that is not expected: score_value {_shown(row['score_value'])}."


def _is_about(row: Mapping[str, Any], subject: object, run_id: object) -> bool:
    return row["subject_id"] == subject and (run_id is None or row["run_id"] == run_id)


def matches(expected: Any, actual: Any) -> bool:
    """Whether `actual` is what a case expects: numbers within 1e-9; of an object only the members that are named."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(name in actual and matches(value, actual[name]) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(matches, expected, actual))
    return bool(expected == actual)


def _shown(value: object) -> str:
    return "NULL" if value is None else json.dumps(value, ensure_ascii=False, default=str)
