"""What `check` finds in an evaluator without data."""

from __future__ import annotations

from typing import Any

import pytest

from spanscore.evaluate import read_evaluator
from spanscore.evaluate.contract import check
from spanscore.store.evaluation import SCOPED_TABLES, EvaluationSession

PARAMETER = '\n[params.most]\ntype = "BIGINT"\ndefault = 3\ndoc = "The most."\n'


@pytest.mark.parametrize(
    "select",
    [
        "select run_id, 1 as score_value from runs",
        "select run_id, null as score_value, 'never' as not_applicable_reason, null as evidence from runs;",
        "-- a remark\nselect run_id, safe_ratio(1, 0) as score_value, to_json({'a': 1}) as evidence from runs; -- end",
        "from runs select run_id, 0.5 as score_value",
    ],
)
def test_a_good_evaluator_has_no_problem(write: Any, empty: EvaluationSession, select: str) -> None:
    assert check(read_evaluator(write("good", select)), empty) == []


@pytest.mark.parametrize("table", SCOPED_TABLES)
def test_every_table_can_be_read(write: Any, empty: EvaluationSession, table: str) -> None:
    evaluator = read_evaluator(
        write("reads", f"select run_id, (select count(*) from {table}) as score_value from runs")
    )

    assert check(evaluator, empty) == []


@pytest.mark.parametrize(
    ("select", "more", "expected"),
    [
        ("select 1; select 2", "", "expected one SELECT after the header, found 2 statements"),
        ("", "", "found 0 statements"),
        ("delete from runs", "", "this is DELETE"),
        ("selec run_id", "", "Parser Error"),
        ("select run_id, 1 as score_value from runns", "", "runns"),
        ("select run_id, 1 as score_value, 2 as socre_label from runs", "", "column `socre_label` is none"),
        ("select run_id from runs", "", "column `score_value` is missing"),
        ("select 1 as score_value from runs", "", "column `run_id` is missing"),
        ("select 1 as run_id, 1 as score_value from runs", "", "`run_id` is INTEGER, and must be VARCHAR"),
        ("select run_id, '1' as score_value from runs", "", "`score_value` is VARCHAR, and must be DOUBLE"),
        ("select run_id, true as score_value from runs", "", "`score_value` is BOOLEAN, and must be DOUBLE"),
        ("select run_id, 1 as score_value, 1 as explanation from runs", "", "`explanation` is INTEGER"),
        ("select run_id, 1 as score_value, {'a': 1} as evidence from runs", "", "and must be JSON"),
        ("select run_id, 1 as score_value, 1 as score_value from runs", "", "`score_value` is given twice"),
        ("select run_id, $least as score_value from runs", "", ":8: parameter `$least` is used but not declared"),
        ("select run_id, ? as score_value from runs", "", "Name it: `$min_calls`"),
        ("select run_id, 1 as score_value from runs", PARAMETER, ":8: parameter `most` is declared but not used"),
        ("select 'x' as run_id, 1 as score_value", "", "it gives 1 row when there is no run"),
        ("select content as run_id, 1 as score_value from read_text('/etc/hostname')", "", "Permission Error"),
        (
            "with x as (delete from spanscore.main.scores returning run_id) select run_id, 1 as score_value from x",
            "",
            "read-only",
        ),
    ],
)
def test_a_broken_evaluator_is_caught(
    write: Any, empty: EvaluationSession, select: str, more: str, expected: str
) -> None:
    found = check(read_evaluator(write("bad", select, more=more)), empty)

    assert len(found) == 1
    assert expected in found[0]
    assert "bad.sql" in found[0]


def test_other_grains_need_their_key_and_the_run(write: Any, empty: EvaluationSession) -> None:
    path = write("calls", "select tool_call_id, 1 as score_value from tool_calls", grain='"tool_call"')

    assert ["`run_id` is missing" in problem for problem in check(read_evaluator(path), empty)] == [True]


def test_a_boolean_may_be_a_boolean(write: Any, empty: EvaluationSession) -> None:
    path = write("is_good", "select run_id, true as score_value from runs", unit='"boolean"')

    assert check(read_evaluator(path), empty) == []
