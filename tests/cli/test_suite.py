"""`spanscore suite`, and `evaluate --suite FILE`."""

import json
import shutil
from pathlib import Path

import pytest
from commands import run
from jsonschema import Draft202012Validator

SUITE = """\
name: weather
version: "1"
thresholds:
  tool_recall: {min: 0.5}
cases:
  - id: paris
    input: what is the temperature in PARIS?
    expected_tools: [get_weather]
    checks: [{kind: contains, value: "18.5"}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "weather.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def test_a_good_suite_is_described(suite: Path):
    outcome = run("suite", "check", suite)

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{suite}: suite weather 1, 1 case\n"


def test_every_file_is_checked_and_a_bad_one_ends_with_2(suite: Path, tmp_path: Path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: x\ncases:\n- {id: a, inputs: x}\n", encoding="utf-8")
    outcome = run("suite", "check", bad, suite, "--format", "json")
    first, second = outcome.document["suites"]

    assert outcome.code == 2
    assert [problem.split("\n")[0] for problem in first["problems"]] == [
        f"{bad}:3: case `a`: `input`: it is missing.",
        f"{bad}:3: case `a`: `inputs`: no such field.",
    ]
    assert (first["name"], second["name"], second["cases"], second["problems"]) == (None, "weather", 1, [])


def test_thresholds_of_unknown_evaluators_are_problems(suite: Path):
    suite.write_text(SUITE.replace("tool_recall: {min: 0.5}", "tool_recal: {min: 0.5}"), encoding="utf-8")
    outcome = run("suite", "check", suite)

    assert outcome.code == 2
    assert "`thresholds.tool_recal`: there is no evaluator of that name." in outcome.err


def test_what_may_not_be_meant_is_noted(suite: Path):
    suite.write_text('name: x\ncases: [{id: a, input: Why?}, {id: b, input: " WHY?"}]\n', encoding="utf-8")
    outcome = run("suite", "check", suite)

    assert outcome.code == 0
    assert "it has no version" in outcome.err
    assert "cases `a`, `b` ask the same" in outcome.err


def test_the_schema_is_one():
    outcome = run("suite", "schema")

    Draft202012Validator.check_schema(outcome.document)
    assert {"name", "cases"} <= outcome.document["properties"].keys()


def test_an_imported_suite_is_one(tmp_path: Path):
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"cases": [{"id": "a", "input": "x", "must_contain": ["y"]}]}), encoding="utf-8")
    target = tmp_path / "suite.yaml"
    written = run("suite", "import", given, "--version", "7", "--output", target)

    assert (written.code, written.out) == (0, "")
    assert "step_cap is 6" in written.err
    assert run("suite", "check", target, "--format", "json").document["suites"][0]["version"] == "7"
    assert run("suite", "import", given, "--format", "json").document["cases"][0]["id"] == "a"


def test_a_file_that_is_there_is_not_overwritten(suite: Path, tmp_path: Path):
    given = tmp_path / "given.json"
    given.write_text('[{"id": "a", "input": "x"}]', encoding="utf-8")
    outcome = run("suite", "import", given, "--output", suite)

    assert outcome.code == 2
    assert "is there already" in outcome.err
    assert suite.read_text(encoding="utf-8") == SUITE


def test_captured_runs_are_proposed_and_the_proposal_is_a_suite(store: Path, tmp_path: Path):
    target = tmp_path / "proposed.yaml"
    outcome = run("suite", "from-traces", "--store", store, "--name", "captured", "--output", target)

    assert (outcome.code, outcome.out) == (0, "")
    assert run("suite", "check", target).code == 0
    assert "input: What is the temperature in Paris?" in target.read_text(encoding="utf-8")


def test_no_run_to_propose_is_an_error(store: Path):
    outcome = run("suite", "from-traces", "--store", store, "--service", "nobody")

    assert (outcome.code, outcome.out) == (2, "")


def test_captured_runs_are_scored_against_a_suite_file(store: Path, suite: Path, tmp_path: Path):
    own = Path(shutil.copytree(store, tmp_path / "store"))
    outcome = run("evaluate", "--store", own, "--suite", suite, "--evaluators", "tool_recall", "--format", "json")

    assert outcome.code == 0, outcome.err
    assert outcome.document["scope"]["suite"] == "weather"
    assert outcome.document["undecided_runs"] == {}
    scored = outcome.document["evaluators"]["tool_recall"]
    assert scored["n_scored"] == outcome.document["runs"] > 0
    cases = run("sql", "select suite_name, case_id from cases", "--store", own, "--format", "json").document
    assert cases == [{"suite_name": "weather", "case_id": "paris"}]


def test_runs_that_fit_several_cases_are_named(store: Path, suite: Path, tmp_path: Path):
    suite.write_text(SUITE + "  - id: again\n    input: What is the temperature in Paris?\n", encoding="utf-8")
    own = Path(shutil.copytree(store, tmp_path / "store"))
    outcome = run("evaluate", "--store", own, "--suite", suite, "--evaluators", "tool_recall")

    assert outcome.code == 0
    assert "may belong to several cases" in outcome.err
    assert "weather/again, weather/paris" in outcome.err


def test_a_suite_without_an_attempt_is_not_green(store: Path, suite: Path, tmp_path: Path):
    suite.write_text(SUITE.replace("PARIS", "Rome"), encoding="utf-8")
    own = Path(shutil.copytree(store, tmp_path / "store"))
    outcome = run("evaluate", "--store", own, "--suite", suite)

    assert outcome.code == 2
    assert "No run that passes the filters is an attempt at a case of suite `weather`" in outcome.err


def test_evaluating_with_a_suite_makes_no_store(suite: Path, tmp_path: Path):
    outcome = run("evaluate", "--store", tmp_path / "none", "--suite", suite)

    assert outcome.code == 2
    assert not (tmp_path / "none").exists()
