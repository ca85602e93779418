"""Evaluators of users run in a process of their own: what they cannot do, and what others do not notice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import spanscore.evaluate.examine as examine
from spanscore.evaluate import Evaluation, evaluate_store, find_evaluators
from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.store.contained import process
from spanscore.store.evaluation import Scope

DEAF = (
    "select run_id, sum(length(regexp_replace(repeat('ab', 1000000 + i + tool_calls), '(a|b)', '', 'g')))"
    " as score_value from runs cross join range(100) as t(i) group by run_id"
)
"""Hears neither DuckDB's time limit nor its interrupt."""

GREEDY = "select run_id, length(repeat('x', 4000000000)) as score_value from runs"
COUNTED = "select run_id, tool_calls::double as score_value from runs"


def evaluate(store: Path, folder: Path, *selection: str, **options: Any) -> Evaluation:
    catalogue = find_evaluators(folder, selection=selection)
    return evaluate_store(store, catalogue, scope=options.pop("scope", Scope()), **options)


def values(evaluation: Evaluation) -> dict[str, list[tuple[Any, ...]]]:
    """Every row, by evaluator."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table in evaluation.outcomes:
        for row in table.to_pylist():
            name = evaluation.results[row.pop("evaluator_index")].id
            found.setdefault(name, []).append(tuple(row.items()))
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        (DEAF, "ran longer than"),
        (GREEDY, "more memory"),
        ("select content as run_id, 1 as score_value from read_text('/etc/hostname')", "Permission Error"),
        (
            "with gone as (delete from spanscore.main.runs returning run_id) select run_id, 1 as score_value from gone",
            "",
        ),
        ("select run_id, 1 as score_value from runs; drop table runs", "expected one SELECT"),
    ],
    ids=["deaf", "greedy", "reads a file", "deletes", "drops"],
)
def test_a_breach_is_the_error_of_one_evaluator(
    write: Any, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, select: str, expected: str
) -> None:
    monkeypatch.setattr(process, "GRACE_S", 0.3)
    write("a_before", COUNTED)
    write("bad", select)
    write("z_after", COUNTED)
    began = time.monotonic()
    evaluation = evaluate(store, tmp_path, "a_before", "bad", "z_after", "run_error", timeout_s=1)

    ((failed),) = evaluation.failed
    assert failed.id == "bad"
    assert expected in (failed.error or "")
    assert {result.id: result.n_scored for result in evaluation.results if result.question == "own"} == {
        "a_before": 3,
        "bad": 0,
        "z_after": 3,
    }
    assert len(evaluation.results) == 4
    assert time.monotonic() - began < 30


def test_parameters_and_scope_are_those_of_the_evaluation(write: Any, store: Path, tmp_path: Path) -> None:
    params = {
        "whole": ("BIGINT", 2**62),
        "real": ("DOUBLE", 1.5),
        "text": ("VARCHAR", '"it\'s \\u00e9"'),
        "yes": ("BOOLEAN", "true"),
    }
    more = "".join(
        f'\n[params.{name}]\ntype = "{kind}"\ndefault = {default}\ndoc = ""\n'
        for name, (kind, default) in params.items()
    )
    more += '\n[params.none]\ntype = "VARCHAR"\ndoc = ""\n'
    evidence = "to_json({'w': $whole, 'r': $real, 't': $text, 'y': $yes, 'n': $none})"
    write("told", f"select run_id, 1 as score_value, {evidence} as evidence from runs", more=more)
    evaluation = evaluate(store, tmp_path, "told", scope=Scope(source="production"))
    rows = [row for table in evaluation.outcomes for row in table.to_pylist()]

    assert [row["run_id"] for row in rows] == ["aa1", "aa2"]
    assert {row["evidence"] for row in rows} == {'{"w":4611686018427387904,"r":1.5,"t":"it\'s é","y":true,"n":null}'}


def test_the_whole_catalogue_scores_alike_there(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evals"
    folder.mkdir()
    for evaluator in shipped_catalogue().evaluators:
        mine = evaluator.sql.replace("-- ///\n", f'-- overrides = "{evaluator.id}"\n-- ///\n', 1)
        if evaluator.params:
            head, tail = evaluator.sql.split("-- [params.", 1)
            mine = f'{head}-- overrides = "{evaluator.id}"\n-- [params.{tail}'
        (folder / f"{evaluator.id}.sql").write_text(mine, encoding="utf-8")
    shipped = evaluate(store, tmp_path / "nowhere")
    own = evaluate(store, tmp_path)

    assert {result.question for result in own.results} == {"own"}
    assert own.failed == shipped.failed == ()
    assert values(own) == values(shipped)


def test_without_evaluators_of_a_user_no_process_starts(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.Worker, "start", lambda self: pytest.fail("a worker was started"))

    assert evaluate(store, tmp_path, "steps").failed == ()


def test_checking_and_testing_are_contained(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "_TIMEOUT_S", 0.5)
    monkeypatch.setattr(process, "GRACE_S", 0.3)
    write("good", COUNTED)
    write("deaf", DEAF.replace("group by", "where run_id = 'late' group by"))
    greedy = "select length(repeat('x', 4000000000 + i))::varchar as run_id, 1 as score_value from range(1) as t(i)"
    write("greedy", greedy)
    for name, run in (("good", "r"), ("deaf", "late"), ("deaf", "early")):
        case = tmp_path / "evals" / name / f"{run}.toml"
        case.parent.mkdir(exist_ok=True)
        expected = '[{ run_id = "r", score_value = 2 }]' if name == "good" else "[]"
        case.write_text(
            f'why = ""\ngiven.runs = [{{ run_id = "{run}", tool_calls = 2 }}]\nexpect = {expected}', encoding="utf-8"
        )
    examined = {one.id: one for one in examine.examine(tmp_path, selection=[], with_cases=True)}

    assert (examined["good"].problems, examined["good"].failures) == ((), ())
    assert "more memory" in examined["greedy"].problems[0]
    assert len(examined["deaf"].failures) == 1
    assert "ran longer" in examined["deaf"].failures[0]
