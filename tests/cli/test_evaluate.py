"""`spanscore evaluate` and `spanscore evaluators`, on real captures."""

import json
import shutil
from pathlib import Path

import pytest
from commands import run

from spanscore.store import read_session

OWN = """-- /// evaluator
-- id = "{id}"
-- title = "Tool calls"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
--
-- [params.least]
-- type = "BIGINT"
-- default = 0
-- doc = "Runs with fewer are not scored."
-- ///
select
    run_id,
    case when tool_calls >= $least then tool_calls end as score_value,
    case when tool_calls < $least then 'too_few' end as not_applicable_reason
from {table}
"""


@pytest.fixture(name="store")
def own_store(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store with real runs, in the folder where the commands run."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(store, tmp_path / "store"))


def write(folder: Path, name: str, table: str = "runs") -> Path:
    path = folder / "evals" / f"{name}.sql"
    path.parent.mkdir(exist_ok=True)
    path.write_text(OWN.format(id=name, table=table))
    return path


def test_scores_are_kept_and_summed_up(store: Path) -> None:
    summary = run("evaluate", "--store", store, "--evaluators", "steps,tool_error_rate", "--format", "json")
    again = run("evaluate", "--store", store, "--evaluators", "steps", "--evaluators", "tool_error_rate")
    with read_session(store) as session:
        (expected,) = session.rows(
            "select count(*), avg(llm_calls + tool_calls) from runs where llm_calls + tool_calls > 0"
        )
        kept = session.rows("select count(*) from scores")
        n_runs = session.rows("select count(*) from runs")[0][0]

    assert summary.code == again.code == 0
    assert summary.document["runs"] == n_runs
    assert summary.document["scores"] == {"written": 2 * n_runs, "unchanged": 0}
    steps = summary.document["evaluators"]["steps"]
    assert (steps["n_scored"], steps["mean"], steps["n_total"]) == (*expected, n_runs)
    assert kept == [(2 * n_runs,)]
    assert "0 scores written" in again.out


def test_no_shipped_evaluator_fails_on_real_runs(store: Path) -> None:
    assert run("evaluate", "--store", store, "--format", "json").document["errors"] == []


def test_own_evaluators_need_no_code(store: Path, tmp_path: Path) -> None:
    write(tmp_path, "my_calls")
    every = run("evaluate", "--store", store, "--format", "json")
    one = run(
        *("evaluate", "--store", store, "--evaluators", "evals", "--param", "my_calls.least=99", "--format", "json")
    )

    assert one.code == 0
    assert {"my_calls", "steps"} <= every.document["evaluators"].keys()
    assert list(one.document["evaluators"]) == ["my_calls"]
    assert one.document["evaluators"]["my_calls"]["params"] == {"least": 99}
    assert one.document["evaluators"]["my_calls"]["not_applicable"].keys() == {"too_few"}


def test_a_failing_evaluator_is_shown_and_makes_the_exit_code_3(store: Path, tmp_path: Path) -> None:
    write(tmp_path, "broken", "nowhere")
    shown = run("evaluate", "--store", store, "--evaluators", "broken,steps")
    document = run("evaluate", "--store", store, "--evaluators", "broken,steps", "--format", "json")

    assert shown.code == document.code == 3
    assert "broken failed" in shown.err
    assert "nowhere" in shown.err
    assert "steps" in shown.out
    assert [error["evaluator"] for error in document.document["errors"]] == ["broken"]
    assert document.document["evaluators"]["steps"]["n_scored"] > 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--evaluators", "nothing"], "no evaluator `nothing`"),
        (["--param", "steps.x=1"], "no parameter `x`"),
        (["--suite", "nowhere.yaml"], "no such file"),
        (["--since", "yesterdayish"], "neither an age nor a date"),
    ],
)
def test_a_mistake_is_a_usage_error(store: Path, words: list[str], expected: str) -> None:
    outcome = run("evaluate", "--store", store, *words)

    assert outcome.code == 2
    assert expected in outcome.err


def test_filters_narrow_the_runs(store: Path) -> None:
    with read_session(store) as session:
        run_id = session.rows("select run_id from runs order by run_id limit 1")[0][0]
    one = run("evaluate", "--store", store, "--evaluators", "steps", "--run", run_id[:12], "--format", "json")
    none = run("evaluate", "--store", store, "--evaluators", "steps", "--source", "benchmark")

    assert one.document["runs"] == 1
    assert one.document["scope"]["runs"] == [run_id[:12]]
    assert none.code == 0
    assert "No run passes the filters" in none.err


def test_the_list_names_shipped_and_own_evaluators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "my_calls")
    listed = run("evaluators", "list", "--format", "json").document
    by_id = {one["id"]: one for one in listed}

    assert by_id["my_calls"]["is_shipped"] is False
    assert by_id["tool_error_rate"]["question"] == "tools"
    assert by_id["tool_error_rate"]["params"]["min_tool_calls"]["default"] == 1
    assert "my_calls" in run("evaluators", "list").out


def test_what_is_shown_bound_runs_in_a_plain_duckdb(store: Path, tmp_path: Path) -> None:
    import duckdb

    shown = run("evaluators", "show", "tool_error_rate")
    script = run("evaluators", "show", "tool_error_rate", "--bind", "--param", "tool_error_rate.min_tool_calls=2")
    with duckdb.connect(str(store / "spanscore.duckdb"), read_only=True) as plain:
        rows = plain.execute(script.out).fetchall()
        (runs,) = plain.execute("select count(*) from runs").fetchall()

    assert shown.out.startswith("-- /// evaluator")
    assert "$min_tool_calls" not in script.out.split("-- ///")[-1].split("with work")[1]
    assert len(rows) == runs[0]


@pytest.mark.parametrize("grain", ["run", "agent_invocation", "llm_call", "tool_call", "handoff", "session"])
def test_a_new_evaluator_works_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grain: str) -> None:
    monkeypatch.chdir(tmp_path)
    made = run("evaluators", "new", "my_own", "--grain", grain)
    tested = run("evaluators", "test", "--format", "json")

    assert made.code == tested.code == 0
    assert [(one["id"], one["cases"], one["failures"]) for one in tested.document] == [("my_own", 1, [])]
    assert run("evaluators", "new", "my_own").code == 2
    assert run("evaluators", "new", "My-Own").code == 2


def test_the_id_of_an_evaluator_that_there_is_needs_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("evaluators", "new", "tool_error_rate")
    left = list(tmp_path.iterdir())
    nothing = run("evaluators", "new", "my_own", "--override")
    made = run("evaluators", "new", "tool_error_rate", "--override")
    elsewhere = run("evaluators", "new", "tool_error_rate", "--folder", "other")
    tested = run("evaluators", "test", "--format", "json")

    assert [outcome.code for outcome in (refused, nothing, elsewhere)] == [2, 2, 2]
    assert "--override" in refused.err
    assert left == []
    assert made.code == tested.code == 0
    assert [one["id"] for one in tested.document] == ["tool_error_rate"]
    assert run("evaluators", "list").code == 0


def test_check_and_test_tell_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("evaluators", "new", "my_own")
    case = tmp_path / "evals" / "my_own" / "more_than_the_limit.toml"
    case.write_text(case.read_text().replace("score_value = 1", "score_value = 0"))
    failing = run("evaluators", "test")
    write(tmp_path, "broken", "nowhere")
    broken = run("evaluators", "check", "--format", "json")

    assert failing.code == 1
    assert "score_value is 1.0, expected 0" in failing.err
    assert broken.code == 2
    assert [bool(one["problems"]) for one in sorted(broken.document, key=lambda one: one["id"])] == [True, False]
    assert run("evaluators", "check", "evals/my_own.sql").code == 0


def test_check_without_anything_to_check_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("evaluators", "check")

    assert outcome.code == 2
    assert "no evaluator to look at" in outcome.err


def test_queries_have_the_macros_of_evaluators(store: Path) -> None:
    outcome = run("sql", "select safe_ratio(1, 4) as a, safe_ratio(1, 0) as b", "--store", store, "--format", "json")

    assert json.loads(outcome.out) == [{"a": 0.25, "b": None}]
