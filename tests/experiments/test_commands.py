"""compare, baseline, gate, history and recommend on stores: names, notes, exit codes, documents."""

import json
import subprocess

import pytest
from made_up import Made, spanscore

CASES = [f"c{number:02}" for number in range(20)]


def scored(value, **others):
    return {"task_completed": {case: [value] for case in CASES}, **others}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Four experiments: three that complete nine tasks of ten, and a fourth that completes few."""
    made = Made(tmp_path_factory.mktemp("experiments") / "store")
    made.cases({case: "math" if number % 2 else "web" for number, case in enumerate(CASES)}, step_cap=6)
    for name, failing in (("e1", 2), ("e2", 3), ("e3", 2), ("e4", 14)):
        column = {case: [float(number >= failing)] for number, case in enumerate(CASES)}
        tools = {case: [1.0] for case in CASES}
        made.experiment(name, {"task_completed": column, "tool_set_match": tools}, run={"variant": f"v-{name}"})
    made.insert(
        "experiments", [{"experiment_id": "e4", "git_commit": "f00d" * 10, "suite_name": "s", "suite_version": "1"}]
    )
    return made.close()


@pytest.fixture
def folder(tmp_path, store):
    done = spanscore("baseline", "set", "e1", "e2", "e3", "--store", store, cwd=tmp_path)
    assert done.code == 0, done.err
    return tmp_path


def test_compare_takes_ids_variants_and_latest_and_never_fails(store):
    by_id = spanscore("compare", "e1", "e4", "--store", store, "--format", "json")
    by_variant = spanscore("compare", "v-e1", "latest", "--store", store, "--format", "json")

    assert (by_id.code, by_variant.code) == (0, 0)
    (worse,) = (one for one in by_id.document["metrics"] if one["metric"] == "task_completed")
    assert (worse["verdict"], worse["n"], worse["difference"]) == ("worse", 20, pytest.approx(-0.6))
    assert by_variant.document["sides"][1]["name"] == "e4/v-e4"
    assert by_variant.document["sides"][1]["git_commit"] == "f00d" * 10
    assert by_id.document["schema_version"] == "1.0"
    assert {one["category"] for one in by_id.document["categories"]} == {"math", "web"}
    assert by_id.document["sides"][0]["step_caps"] == [6]


def test_the_table_says_what_is_noise_in_words(store):
    said = spanscore("compare", "e1", "e2", "--store", store).out

    assert "nothing is outside the noise" in said
    assert "too few to tell" in said
    assert "The same in every case: tool_set_match" in said
    assert "step budget" in said


def test_compare_with_the_baseline_needs_no_stored_baseline_runs(folder, store, tmp_path_factory):
    only = Made(tmp_path_factory.mktemp("ci") / "store")
    only.number = 8
    only.experiment("e9", scored(0.0))
    done = spanscore("compare", "baseline", "latest", "--store", only.close(), "--format", "json", cwd=folder)

    assert done.code == 0, done.err
    assert done.document["sides"][0]["runs"] == 60
    (change,) = (one for one in done.document["metrics"] if one["metric"] == "task_completed")
    assert change["verdict"] == "worse"


def test_an_unknown_name_lists_what_there_is(store):
    done = spanscore("compare", "e1", "e7", "--store", store)

    assert done.code == 2
    assert "no experiment or variant `e7`" in done.err
    assert "e4/v-e4, e3/v-e3" in done.err


def test_a_store_without_experiments_says_how_to_make_one(tmp_path):
    done = spanscore("compare", "a", "b", "--store", Made(tmp_path / "store").close())

    assert done.code == 2
    assert "spanscore.experiment.id" in done.err


def test_the_newest_experiment_of_a_variant_is_taken_and_it_is_said(tmp_path):
    made = Made(tmp_path / "store")
    for name, variant in (("old", "v"), ("new", "v"), ("other", "w")):
        made.experiment(name, scored(1.0), run={"variant": variant})
    done = spanscore("compare", "v", "w", "--store", made.close(), "--format", "json")

    assert done.document["sides"][0]["experiment_id"] == "new"
    assert any("2 experiments are of variant `v`" in finding for finding in done.document["findings"])


def test_variants_of_one_experiment_are_told_apart(tmp_path):
    made = Made(tmp_path / "store")
    made.experiment("e", scored(1.0), run={"variant": "a"})
    made.experiment("e", scored(0.0), run={"variant": "b"})
    where = made.close()

    done = spanscore("compare", "e/a", "b", "--store", where, "--format", "json")
    assert [one["successes"] for one in done.document["sides"]] == [20, 0]
    assert spanscore("compare", "e", "b", "--store", where).code == 2


def test_captured_runs_are_paired_by_what_they_were_asked(tmp_path):
    made = Made(tmp_path / "store")
    made.cases(dict.fromkeys(CASES, "asked"), suite="later", version="3")
    for variant, value in (("a", 1.0), ("b", 0.0)):
        asked = {case: {"question": f"  {case.upper()} "} for case in CASES}
        run = {"variant": variant, "suite_name": None, "suite_version": None, "case_id": None, "source": "production"}
        made.experiment(None, scored(value), run=run, per_case=asked)
    done = spanscore("compare", "a", "b", "--store", made.close(), "--format", "json")

    assert done.code == 0, done.err
    assert (done.document["cases"], done.document["sides"][0]["suite_name"]) == (20, "later")


def test_other_suite_versions_are_refused_with_2_and_other_evaluators_with_3(tmp_path):
    made = Made(tmp_path / "store")
    made.experiment("a", scored(1.0))
    made.experiment("b", scored(1.0), run={"suite_version": "2"})
    made.experiment("c", scored(1.0), sha256="1" * 64)
    made.experiment("d", scored(1.0), params='{"min_share": 0.5}')
    made.experiment("mixed", scored(1.0))
    made.experiment("mixed", scored(0.0), sha256="1" * 64)
    where = made.close()

    suites = spanscore("compare", "a", "b", "--store", where)
    assert suites.code == 2
    assert "--allow-different-suites" in suites.err
    assert spanscore("compare", "a", "b", "--store", where, "--allow-different-suites").code == 0
    for other in "cd":
        evaluators = spanscore("compare", "a", other, "--store", where)
        assert evaluators.code == 3
        assert "spanscore evaluate" in evaluators.err
    assert spanscore("compare", "a", "mixed", "--store", where).code == 3


def test_parameters_written_otherwise_are_the_same(tmp_path):
    made = Made(tmp_path / "store")
    made.experiment("a", scored(1.0), params='{"x": 1, "y": 2}')
    made.experiment("b", scored(1.0), params='{"y":2,"x":1}')

    assert spanscore("compare", "a", "b", "--store", made.close()).code == 0


def test_stale_and_missing_scores_are_told(tmp_path):
    made = Made(tmp_path / "store")
    made.experiment("a", scored(1.0), fingerprint="older")
    made.experiment("b", {"task_completed": {case: [1.0] for case in CASES}, "none": {"c99": [None]}})
    made.connection.execute("delete from scores where evaluator = 'none'")
    findings = spanscore("compare", "a", "b", "--store", made.close(), "--format", "json").document["findings"]

    assert any("20 runs have got spans since they were scored" in finding for finding in findings)
    assert any("1 of 21 runs has no scores" in finding for finding in findings)


def test_the_exit_codes_of_the_gate(folder, store):
    gate = ("gate", "--store", store)

    assert spanscore(*gate, "e1", "--metric", "task_completed", cwd=folder).code == 0
    assert spanscore(*gate, cwd=folder).code == 1
    assert spanscore(*gate, "e1", "--metric", "numbers_grounded", cwd=folder).code == 3
    assert spanscore(*gate, "e1", "--min", "task_completed=high", cwd=folder).code == 2
    assert spanscore(*gate, "e1", "--baseline", "missing.json", cwd=folder).code == 2


def test_a_gate_without_anything_to_judge_by_is_a_usage_error(tmp_path, store):
    done = spanscore("gate", "--store", store, cwd=tmp_path)

    assert done.code == 2
    assert "nothing to judge by" in done.err


def test_thresholds_of_a_suite_file_are_judged(tmp_path, store):
    suite = {
        "name": "s",
        "version": "1",
        "thresholds": {"task_completed": {"min": 0.8}, "cost": {"max": 0.02}},
        "cases": [{"id": "c00", "input": "c00"}],
    }
    (tmp_path / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    bad = spanscore("gate", "e4", "--store", store, "--suite", "suite.json", "--format", "json", cwd=tmp_path)
    good = spanscore("gate", "e1", "--store", store, "--suite", "suite.json", "--format", "json", cwd=tmp_path)

    assert {one["name"]: one["verdict"] for one in bad.document["checks"]} == {
        "task_completed/threshold_min": "fail",
        "cost/threshold_max": "pass",
    }
    assert (bad.code, good.code, good.document["verdict"]) == (1, 0, "pass")


def test_a_gate_records_its_verdict_and_the_trend_is_judged_when_asked_for(folder, store):
    for name in ("e1", "e2", "e3"):
        done = spanscore("history", "--add", name, "--store", store, cwd=folder)
        assert done.code == 0, done.err
    file = "spanscore-history.json"
    words = ("gate", "--store", store, "--history", file, "--record", file, "--metric", "task_completed")
    done = spanscore(*words, "--format", "json", cwd=folder)

    assert [one["name"] for one in done.document["checks"]] == ["task_completed/baseline", "task_completed/trend"]
    shown = spanscore("history", "--format", "json", cwd=folder).document
    assert shown["entries"][-1]["verdict"] == "fail"
    assert "The gate said fail of e4/v-e4." in shown["alerts"]
    assert "▁" in spanscore("history", cwd=folder).out


def test_the_gate_writes_other_forms_beside(folder, store):
    words = ("gate", "--store", store, "--format", "github")
    done = spanscore(*words, "--also", "junit=g.xml", "--also", "markdown=s.md", cwd=folder)
    spanscore(*words, "--also", "junit=g.xml", "--also", "markdown=s.md", cwd=folder)

    assert done.out.startswith("::error title=task_completed/baseline%3A fail::")
    assert (folder / "g.xml").read_text(encoding="utf-8").count("<testsuites") == 1
    assert (folder / "s.md").read_text(encoding="utf-8").count("# FAIL") == 2
    assert spanscore(*words, "--also", "pdf=x", cwd=folder).code == 2
    assert spanscore(*words, "--also", "junit=no/such/folder.xml", cwd=folder).code == 2


def test_the_baseline_knows_the_commit(tmp_path, store):
    git = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(tmp_path))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    made = spanscore("baseline", "set", "e1", "e2", "e3", "--store", store, "--format", "json", cwd=tmp_path)
    spanscore("history", "--add", "e4", "--add", "e1", "--store", store, cwd=tmp_path)

    assert made.document["git_commit"] == commit
    (entry,) = json.loads((tmp_path / "spanscore-history.json").read_text(encoding="utf-8"))["entries"]
    assert entry["git_commit"] == commit


def test_two_baseline_experiments_can_be_written_and_decide_nothing(tmp_path, store):
    made = spanscore("baseline", "set", "e1", "e2", "--store", store, cwd=tmp_path)

    assert made.code == 0
    assert "2 experiments are too few" in made.out
    assert spanscore("gate", "--store", store, cwd=tmp_path).code == 3


def test_baseline_show_reads_the_file_alone(folder):
    shown = spanscore("baseline", "show", cwd=folder)

    assert shown.code == 0
    assert "at least" in shown.out
    assert "about 11%" in shown.out
    assert spanscore("baseline", "show", "--file", "missing.json", cwd=folder).code == 2


def test_recommend_ranks_the_newest_of_every_variant(store):
    found = spanscore("recommend", "--store", store, "--profile", "quality_first", "--format", "json")

    assert [one["name"] for one in found.document["candidates"]][-1] == "v-e4"
    assert found.document["candidates"][-1]["is_outside_noise"] is True
    assert found.document["winner_is_outside_noise"] is False
    assert spanscore("recommend", "e1", "--store", store).code == 2
    assert spanscore("recommend", "--store", store, "--profile", "best").code == 2


def test_the_same_store_gives_the_same_document(store):
    def once():
        document = spanscore("compare", "e1", "e2", "e4", "--store", store, "--format", "json").document
        return {key: value for key, value in document.items() if key != "generated_at"}

    assert once() == once()


@pytest.mark.parametrize("command", ["compare", "gate", "baseline set", "history", "recommend"])
def test_help_shows_an_example(command):
    shown = spanscore(*command.split(), "--help")

    assert shown.code == 0
    assert f"spanscore {command} " in shown.out
