"""The contract of an evaluator: one SELECT, its parameters declared, its columns of the right name and type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid, QueryError
from spanscore.evaluate.steadiness import unsteady
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.evaluate.header import Evaluator
    from spanscore.store.contained.evaluation import ContainedSession
    from spanscore.store.evaluation import Answer, EvaluationSession
    from spanscore.store.result import Column

    Session = EvaluationSession | ContainedSession

TEXT_COLUMNS = ("score_label", "not_applicable_reason", "explanation", "agent_name")
"""Columns of text that an evaluator may give, beside the key, `score_value` and `evidence`."""

_NUMBER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\)")
_NULL = '"NULL"'
_WANTED = {
    "score_value": ("DOUBLE", "\n  Cast it: `(…)::double`."),
    "evidence": ("JSON", "\n  Write `to_json({…})`."),
}
_LINE = re.compile(r"\bLINE (\d+):")


def statement_problems(evaluator: Evaluator, session: Session) -> list[str]:
    """What is wrong with the text of the SELECT: it is not one, or its parameters are not those of the header."""
    try:
        facts = session.facts(evaluator.sql)
    except QueryError as error:
        return [refusal(evaluator, error)]
    if len(facts.kinds) != 1:
        return [f"{evaluator.path}: expected one SELECT after the header, found {len(facts.kinds)} statements."]
    if facts.kinds[0] != "SELECT":
        return [f"{evaluator.path}: an evaluator is one SELECT, and this is {facts.kinds[0]}."]
    problems = []
    for call in unsteady(evaluator.sql):
        line = _line_of(evaluator.sql, rf"(?im)^(?!\s*--).*?\b{re.escape(call.split('(')[0])}\b")
        problems.append(
            f"{evaluator.path}:{line}: `{call}` gives another value each time, and a score must not change by itself."
            "\n  Compare times of the run with each other; sample with `repeatable (seed)`."
        )
    for name in sorted(facts.parameters - evaluator.params.keys()):
        line = _line_of(evaluator.sql, rf"\${re.escape(name)}\b" if not name.isdigit() else r"\?|\$\d")
        if name.isdigit():
            advice = "Name it: `$min_calls`, not `?`."
        else:
            advice = f'Declare it in the header:  [params.{name}]  type = "BIGINT"  default = 1  doc = "…"'
        problems.append(f"{evaluator.path}:{line}: parameter `${name}` is used but not declared.\n  {advice}")
    for name in sorted(evaluator.params.keys() - facts.parameters):
        line = _line_of(evaluator.sql, rf"params\.{re.escape(name)}\b")
        problems.append(
            f"{evaluator.path}:{line}: parameter `{name}` is declared but not used.\n  Use `${name}`, or take it out."
        )
    return problems


def column_problems(evaluator: Evaluator, columns: Sequence[Column]) -> list[str]:
    """What is wrong with the columns that the SELECT gives."""
    return [f"{evaluator.path}: {text}" for text in _column_problems(evaluator, columns)]


def _column_problems(evaluator: Evaluator, columns: Sequence[Column]) -> Iterator[str]:
    names = [column.name for column in columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"column `{name}` is given twice."
    types = {column.name: column.type for column in columns}
    keys = [evaluator.subject_column]
    if evaluator.grain not in ("run", "session"):
        keys.insert(0, "run_id")
    for key in (*keys, "score_value"):
        if key not in types:
            need = (
                "NULL where the evaluator does not apply" if key == "score_value" else f"key of grain {evaluator.grain}"
            )
            yield f"column `{key}` is missing ({need})."
    allowed = (*keys, "score_value", *TEXT_COLUMNS, "evidence")
    for name, kind in types.items():
        if name not in allowed:
            known = ", ".join(f"`{one}`" for one in allowed)
            yield f"column `{name}` is none that an evaluator gives.\n  It may give: {known}."
        elif not _fits(name, kind, evaluator.unit):
            wanted, advice = _WANTED.get(name, ("VARCHAR", ""))
            yield f"column `{name}` is {kind}, and must be {wanted}.{advice}"


def _fits(name: str, kind: str, unit: str) -> bool:
    if name == "score_value":
        return _NUMBER.fullmatch(kind) is not None or (kind == "BOOLEAN" and unit == "boolean") or kind == _NULL
    if name == "evidence":
        return kind in ("JSON", _NULL)
    return kind == "VARCHAR" or (kind == _NULL and name in TEXT_COLUMNS)


def check(evaluator: Evaluator, empty: Session) -> list[str]:
    """Everything that is wrong with an evaluator, found without data.

    Args:
        evaluator: with a header that could be read.
        empty: a session on a store that has every table and no row.
    """
    problems = statement_problems(evaluator, empty)
    if problems:
        return problems
    try:
        answer = empty.answer(evaluator.sql, evaluator.defaults)
    except QueryError as error:
        return [refusal(evaluator, error)]
    problems = column_problems(evaluator, answer.columns)
    if answer.rows.num_rows and not problems:
        n = answer.rows.num_rows
        advice = "Select from `runs`, and group by its key."
        problems = [f"{evaluator.path}: it gives {counted(n, 'row')} when there is no run.\n  {advice}"]
    return problems


def run(evaluator: Evaluator, session: Session, params: dict[str, Any]) -> Answer:
    """The rows that an evaluator gives, their columns checked.

    Raises:
        EvaluatorInvalid: it breaks the contract, or DuckDB refuses it.
        QueryTimeout: it took too long.
    """
    problems = statement_problems(evaluator, session)
    if problems:
        raise EvaluatorInvalid(problems)
    try:
        answer = session.answer(evaluator.sql, params)
    except QueryError as error:
        raise EvaluatorInvalid([refusal(evaluator, error)]) from error
    problems = column_problems(evaluator, answer.columns)
    if problems:
        raise EvaluatorInvalid(problems)
    return answer


def refusal(evaluator: Evaluator, error: QueryError) -> str:
    """DuckDB's words about an evaluator, after the place in its file."""
    text = str(error).strip()
    match = _LINE.search(text)
    return f"{evaluator.path}:{match[1]}: {text}" if match else f"{evaluator.path}: {text}"


def _line_of(text: str, pattern: str) -> int:
    match = re.search(pattern, text)
    return 1 if match is None else text.count("\n", 0, match.start()) + 1
