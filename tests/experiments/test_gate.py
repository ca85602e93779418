"""The gate: published examples, and what is undecidable."""

import math
from dataclasses import dataclass, replace

import pytest
from made_up import NOW, experiment, metric

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.baseline import as_document, make_baseline, read_baseline, write_baseline
from spanscore.experiments.gate import false_alarm_rate, gate
from spanscore.experiments.history import entry
from spanscore.experiments.model import FROM_RUNS


@dataclass
class Bounds:
    min: float | None = None
    max: float | None = None


def judged(candidate, **given):
    words = {"reference": None, "thresholds": {}, "history": None, "metrics": [], "deviations": 2.0}
    return gate(candidate, now=NOW, **{**words, **given})


def baseline_of(values, *, gated=(), **fields):
    """A baseline of experiments with one case; `values` per metric and experiment."""
    n = len(next(iter(values.values())))
    experiments = [
        experiment(
            f"b{number}",
            {name: {"x": [column[number]]} for name, column in values.items()},
            started_at=f"2026-11-2{number}T00:00:00Z",
            **fields,
        )
        for number in range(n)
    ]
    return make_baseline(experiments, gated=gated, now=NOW, git_commit="c0ffee")


def test_the_published_three_dimensions():
    """Efficiency over completed tasks only; recovery over the tasks that met an error: both are left to NULL."""
    published = {"task_completed": (0.93, 0.03), "step_efficiency": (0.85, 0.04), "recovered_from_error": (0.78, 0.06)}
    reference = baseline_of({name: [mean - std, mean, mean + std] for name, (mean, std) in published.items()})
    candidate = experiment(
        "candidate",
        {
            "task_completed": {"task_1": [1.0], "task_2": [1.0], "task_3": [0.0]},
            "step_efficiency": {"task_1": [5 / 5], "task_2": [5 / 8], "task_3": [None]},
            "recovered_from_error": {"task_1": [None], "task_2": [1.0], "task_3": [0.0]},
        },
    )
    report = judged(candidate, reference=reference, metrics=list(published))
    checks = {check.metric: check for check in report.checks}

    assert {name: round(check.value, 4) for name, check in checks.items()} == {
        "task_completed": 0.6667,
        "step_efficiency": 0.8125,
        "recovered_from_error": 0.5,
    }
    assert {name: round(check.threshold, 2) for name, check in checks.items()} == {
        "task_completed": 0.87,
        "step_efficiency": 0.77,
        "recovered_from_error": 0.66,
    }
    assert [name for name, check in checks.items() if check.verdict == "fail"] == [
        "task_completed",
        "recovered_from_error",
    ]
    assert report.verdict == "fail"


@pytest.mark.parametrize(
    ("name", "values", "verdict"),
    [
        ("task_completed", [0.85, 0.87, 0.88, 0.86, 0.72], "fail"),
        ("tool_f1", [0.90, 0.92, 0.93, 0.91, 0.91], "pass"),
        ("run_duration", [2.8, 2.7, 2.6, 2.75, 4.2], "fail"),
        ("cost", [0.0015, 0.0014, 0.0013, 0.0014, 0.0020], "fail"),
    ],
)
def test_the_published_trends(name, values, verdict):
    def one(number):
        value = values[number]
        scores = {"steps": {"x": [1.0]}} if name in FROM_RUNS else {name: {"x": [value]}}
        columns = {"cost": "costs", "run_duration": "seconds"}
        more = {columns[name]: {"x": [value]}} if name in columns else {}
        return experiment(f"e{number}", scores, started_at=f"2026-11-2{number}T00:00:00Z", **more)

    history = [entry(one(number), git_commit=None) for number in range(4)]
    report = judged(one(4), history=history, metrics=[name])

    assert [check.verdict for check in report.checks] == [verdict]
    before = sum(values[2:4]) / 2
    is_higher = report.checks[0].better == "higher"
    assert report.checks[0].threshold == pytest.approx(before * (0.95 if is_higher else 1.05))


def test_a_gate_judges_the_few_metrics_that_the_baseline_names():
    reference = baseline_of({"task_completed": [0.9, 0.92, 0.91], "steps": [3, 3, 4]})

    assert reference.gated == ["task_completed", "cost", "run_duration"]
    candidate = experiment("c", {"task_completed": {"x": [0.9]}, "steps": {"x": [30]}})
    assert [check.metric for check in judged(candidate, reference=reference).checks] == list(reference.gated)
    assert judged(candidate, reference=reference, metrics=["steps"]).verdict == "fail"


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (experiment("c", {"steps": {"x": [1.0]}}), "no value"),
        (experiment("c", {"task_completed": {"x": [None]}}), "no value"),
        (experiment("c", {"task_completed": {"x": [1.0]}}, suite_version="2"), "another version"),
        (experiment("c", {"task_completed": {"x": [1.0]}}, suite_name="t"), "another suite"),
        (
            experiment(
                "c",
                {"task_completed": {"x": [1.0]}},
                metrics={**FROM_RUNS, "task_completed": metric("task_completed", definition="other")},
            ),
            "another version of the evaluator",
        ),
    ],
)
def test_what_cannot_be_compared_is_undecidable_and_never_passes(candidate, reason):
    report = judged(candidate, reference=baseline_of({"task_completed": [0.1, 0.2, 0.3]}), metrics=["task_completed"])

    assert report.verdict == "undecidable"
    assert reason in report.checks[0].reason


def test_two_baseline_experiments_decide_nothing():
    report = judged(
        experiment("c", {"task_completed": {"x": [1.0]}}), reference=baseline_of({"task_completed": [0.9, 0.9]})
    )

    assert report.verdict == "undecidable"
    assert "fewer than 3" in report.checks[0].reason


def test_nothing_to_judge_by_is_undecidable():
    assert judged(experiment("c", {"steps": {"x": [1.0]}})).verdict == "undecidable"


def test_a_threshold_at_the_bound_passes_and_a_failure_beats_an_undecidable():
    candidate = experiment("c", {"task_completed": {"x": [1.0], "y": [0.0]}})

    assert judged(candidate, thresholds={"task_completed": Bounds(min=0.5, max=0.5)}).verdict == "pass"
    assert judged(candidate, thresholds={"task_completed": Bounds(min=0.51)}).verdict == "fail"
    assert judged(candidate, thresholds={"tool_f1": Bounds(min=0.5)}).verdict == "undecidable"
    both = {"tool_f1": Bounds(min=0.5), "task_completed": Bounds(min=0.51)}
    assert judged(candidate, thresholds=both).verdict == "fail"


def test_a_failure_inside_the_noise_fails_and_says_so():
    candidate = experiment("c", {"task_completed": {f"c{n}": [float(n > 0)] for n in range(10)}})
    report = judged(candidate, thresholds={"task_completed": Bounds(min=0.95)})

    assert report.verdict == "fail"
    assert report.checks[0].is_within_noise is True
    assert any("inside the noise" in finding for finding in report.findings)
    clear = judged(candidate, thresholds={"task_completed": Bounds(min=0.9999)})
    assert clear.checks[0].is_within_noise is False


def test_false_alarms_of_the_rule():
    """3 experiments: t with 2 degrees has the closed form 1/2 - t / (2 sqrt(2 + t^2))."""
    t = 2 / math.sqrt(4 / 3)

    assert false_alarm_rate(3, 2.0) == pytest.approx(0.5 - t / (2 * math.sqrt(2 + t * t)))
    assert false_alarm_rate(3, 2.0) == pytest.approx(0.1127, abs=1e-4)
    assert false_alarm_rate(10_000, 2.0) == pytest.approx(0.0228, abs=1e-4)


def test_a_baseline_that_does_not_vary_says_so():
    reference = baseline_of({"task_completed": [1.0, 1.0, 1.0]})
    report = judged(experiment("c", {"task_completed": {"x": [1.0]}}), reference=reference, metrics=["task_completed"])

    assert report.verdict == "pass"
    assert report.checks[0].false_alarm is None
    assert any("does not vary" in finding for finding in report.findings)


def test_a_baseline_survives_its_file(tmp_path):
    categories, caps = {"x": "math"}, {"x": 6}
    made = baseline_of(
        {"task_completed": [0.9, 1 / 3, 1e-7]}, gated=["task_completed"], categories=categories, step_caps=caps
    )
    write_baseline(tmp_path / "b.json", made)
    back = read_baseline(tmp_path / "b.json")

    assert as_document(back) == as_document(made)
    assert back.values("task_completed") == pytest.approx([0.9, 1 / 3, 1e-7], rel=1e-8)
    assert back.as_experiment().step_caps == caps
    text = (tmp_path / "b.json").read_text(encoding="utf-8")
    write_baseline(tmp_path / "c.json", back)
    assert (tmp_path / "c.json").read_text(encoding="utf-8") == text
    assert max(map(len, text.splitlines())) < 200


def test_a_baseline_is_of_one_suite_scored_one_way():
    first, second = (experiment(name, {"steps": {"x": [1.0]}}) for name in "ab")
    with pytest.raises(UsageError, match="one version of one suite"):
        make_baseline([first, replace(second, suite_version="2")], gated=[], now=NOW, git_commit=None)
    with pytest.raises(NotComparable):
        other = {**FROM_RUNS, "steps": metric("steps", definition="other")}
        make_baseline([first, replace(second, metrics=other)], gated=[], now=NOW, git_commit=None)
    with pytest.raises(UsageError, match="no value in every one"):
        make_baseline([first, second], gated=["tool_f1"], now=NOW, git_commit=None)
    with pytest.raises(UsageError, match="twice"):
        make_baseline([first, first], gated=[], now=NOW, git_commit=None)
