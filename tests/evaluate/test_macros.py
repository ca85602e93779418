"""Only the macros that a query calls are created, and those that these call."""

from __future__ import annotations

import re

import pytest

from spanscore.evaluate.binding import as_literal, bind
from spanscore.evaluate.macros import macros_used
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.queries import read_query


def names(sql: str) -> list[str]:
    return [statement.split("temp macro ")[1].split("(")[0] for statement in macros_used(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1", []),
        ("select safe_ratio(1, 2)", ["safe_ratio"]),
        ("select SAFE_RATIO (1, 2)", ["safe_ratio"]),
        ("select 'safe_ratio(1)' -- safe_ratio(2)\n /* safe_ratio(3) */", []),
    ],
)
def test_what_is_called_is_created(sql: str, expected: list[str]) -> None:
    assert names(sql) == expected


def test_what_a_macro_calls_comes_before_it() -> None:
    found = names("select numbers_in('1')")

    assert found.index("numbers_in") > 0


def test_every_macro_of_every_file_is_known() -> None:
    for name in EVALUATOR_MACROS:
        text = read_query(f"macros/{name}.sql")
        for macro in re.findall(r"^create or replace temp macro (\w+)", text, flags=re.MULTILINE):
            assert macro in names(f"select {macro}()")


def test_parameters_are_bound_and_nothing_else() -> None:
    sql = "select $a, '$a', \"$a\", $ab -- $a\n"

    assert bind(sql, {"a": "it's"}) == "select 'it''s', '$a', \"$a\", $ab -- $a\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "null"), (True, "true"), (3, "3"), (0.1, "0.1::double"), ("a'b", "'a''b'"), (1e300, "1e+300::double")],
)
def test_a_literal_is_what_duckdb_reads(value: object, expected: str) -> None:
    assert as_literal(value) == expected
