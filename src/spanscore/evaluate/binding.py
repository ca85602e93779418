"""An evaluator as a script for a DuckDB shell: the macros and views it needs, then its SELECT with its parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spanscore.evaluate.macros import TOKEN, code, macros_used
from spanscore.store.queries import read_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.evaluate.header import Evaluator

_CASES_VIEW = """create or replace temp view cases as
select run_cases.run_id, cases.* exclude (stored_at)
from run_cases
inner join spanscore.main.cases as cases on cases.rowid = run_cases.case_row;
"""


def as_script(evaluator: Evaluator, values: Mapping[str, Any]) -> str:
    """A script that gives the rows of `evaluator` for all runs of a store, in any DuckDB shell on its file.

    Args:
        evaluator: whose SELECT it is.
        values: what its parameters are bound to.
    """
    parts = [f"{statement}\n" for statement in macros_used(evaluator.sql)]
    if re.search(r"\bcases\b", code(evaluator.sql)):
        parts += [bind(read_query("evaluation/run_cases.sql"), {"suite": None}), _CASES_VIEW]
    return "\n".join([*parts, bind(evaluator.sql, values)])


def bind(sql: str, values: Mapping[str, Any]) -> str:
    """`sql` with a literal in the place of every parameter in `values`."""

    def literal(match: re.Match[str]) -> str:
        name = match["name"]
        return match[0] if name is None or name not in values else as_literal(values[name])

    return TOKEN.sub(literal, sql)


def as_literal(value: object) -> str:
    """`value` as DuckDB reads it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value!r}::double"
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
