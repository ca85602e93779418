"""Worked numbers and rules of published descriptions that concern comparisons."""

import inspect

import pytest
from made_up import NOW, Made, experiment, spanscore

from spanscore.experiments.compare import compare
from spanscore.statistics import CONFIDENCE, RESAMPLES, Interval, intervals_overlap, wald_half_width
from spanscore.statistics.gates import BASELINE_DEVIATIONS, LEAST_EXPERIMENTS, TREND_PREVIOUS, TREND_TOLERANCE


def test_the_bootstrap_has_a_thousand_seeded_resamples_at_95():
    first, second = (experiment(name, {"steps": {"x": [1.0], "y": [number]}}) for number, name in enumerate("ab"))
    method = compare([first, second], now=NOW).method

    assert (method["resamples"], method["confidence"]) == (RESAMPLES, CONFIDENCE) == (1_000, 0.95)
    assert isinstance(method["seed"], int)


def test_intervals_that_do_not_overlap_are_a_rule_that_is_told_apart_from_the_test():
    """Significant by the rule, and still too few cases for a test."""
    cases = {f"c{number}": [1.0] for number in range(5)}
    before = experiment("a", {"steps": {case: [1.0 + number / 10] for number, case in enumerate(cases)}})
    after = experiment("b", {"steps": {case: [9.0 + number / 10] for number, case in enumerate(cases)}})
    (change,) = compare([before, after], now=NOW, metrics=["steps"]).metrics

    assert change.intervals_overlap is False
    assert change.verdict == "inside_noise"
    assert intervals_overlap(Interval(0, 1), Interval(1, 2)) is True


def test_the_textbook_interval_of_10_in_11():
    half = wald_half_width(10 / 11, 11, confidence=0.95)

    assert 10 / 11 - half == pytest.approx(0.739, abs=5e-4)
    assert min(1.0, 10 / 11 + half) == 1.0


def test_the_rules_of_the_gate():
    assert (BASELINE_DEVIATIONS, LEAST_EXPERIMENTS) == (2.0, 3)
    assert (TREND_TOLERANCE, TREND_PREVIOUS) == (0.05, 2)


def test_coordination_of_agents_is_compared_like_any_metric(tmp_path):
    """supervisor_efficiency = 1 - reassignments / handoffs; 1 when there are none."""
    made = Made(tmp_path / "store")
    made.insert(
        "evaluators",
        [
            {
                "evaluator": name,
                "evaluator_sha256": "0" * 64,
                "title": name,
                "question": "agents",
                "grain": "run",
                "unit": "ratio",
                "better": better,
                "needs": [],
                "tags": [],
                "is_shipped": True,
            }
            for name, better in (("supervisor_efficiency", "higher"), ("redundant_work", "lower"))
        ],
    )
    for name, reassignments in (("a", 0), ("b", 2)):
        efficiency = {f"c{number}": [1 - reassignments / 4] for number in range(8)}
        work = {f"c{number}": [0.25] for number in range(8)}
        made.experiment(name, {"supervisor_efficiency": efficiency, "redundant_work": work})
    done = spanscore("compare", "a", "b", "--store", made.close(), "--format", "json")
    found = {one["metric"]: one for one in done.document["metrics"]}

    assert found["supervisor_efficiency"]["difference"] == -0.5
    assert found["supervisor_efficiency"]["verdict"] == "worse"
    assert found["redundant_work"]["verdict"] == "same"


def test_no_default_hides_how_far_a_gate_goes():
    from spanscore.experiments.gate import gate

    parameters = inspect.signature(gate).parameters
    assert {name for name, one in parameters.items() if one.default is not inspect.Parameter.empty} == set()
