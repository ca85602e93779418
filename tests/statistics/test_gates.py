"""Verdicts: baseline, threshold, interval, trend; the published examples among them."""

import math
import statistics

import pytest
from published import HISTORY

from spanscore.errors import StatisticsInputError
from spanscore.statistics import (
    Baseline,
    Better,
    Interval,
    baseline,
    baseline_gate,
    better_of,
    interval_gate,
    threshold_gate,
    trend,
    verdict_of,
)

HIGHER, LOWER = Better.HIGHER, Better.LOWER


def test_the_published_three_dimensions():
    baselines = {
        "completion_rate": Baseline(0.93, 0.03, 5),
        "efficiency_mean": Baseline(0.85, 0.04, 5),
        "recovery_rate": Baseline(0.78, 0.06, 5),
    }
    values = {"completion_rate": 2 / 3, "efficiency_mean": (5 / 5 + 5 / 8) / 2, "recovery_rate": 1 / 2}
    gates = {name: baseline_gate(values[name], reference, better=HIGHER) for name, reference in baselines.items()}

    assert values["efficiency_mean"] == 0.8125
    assert {name: round(gate.threshold, 2) for name, gate in gates.items()} == {
        "completion_rate": 0.87,
        "efficiency_mean": 0.77,
        "recovery_rate": 0.66,
    }
    assert [name for name, gate in gates.items() if gate.verdict == "fail"] == ["completion_rate", "recovery_rate"]
    assert verdict_of(list(gates.values())) == "fail"


def test_lower_is_better_turns_the_rule_round():
    reference = Baseline(2.0, 0.25, 3)

    assert baseline_gate(2.5, reference, better=LOWER).verdict == "pass"
    assert baseline_gate(2.51, reference, better=LOWER).verdict == "fail"
    assert baseline_gate(0.1, reference, better=LOWER).verdict == "pass"


def test_a_value_at_the_threshold_passes_in_spite_of_rounding():
    assert 0.93 - 2 * 0.03 != 0.87
    assert baseline_gate(0.87, Baseline(0.93, 0.03, 3), better=HIGHER).verdict == "pass"


def test_a_baseline_takes_three_experiments_and_the_sample_deviation():
    assert baseline([0.8, 0.9]) is None
    found = baseline([0.8, 0.9, 0.85])

    assert found is not None
    assert (found.mean, found.deviation) == pytest.approx((0.85, statistics.stdev([0.8, 0.9, 0.85])))
    with pytest.raises(StatisticsInputError):
        baseline([0.8, math.nan, 0.9])


def test_not_knowing_is_no_permission():
    unmeasured = baseline_gate(None, Baseline(0.9, 0.01, 3), better=HIGHER)
    without_baseline = baseline_gate(0.9, None, better=HIGHER)

    assert unmeasured.verdict == without_baseline.verdict == "undecidable"
    assert verdict_of([threshold_gate(1, 0, better=HIGHER), unmeasured]) == "undecidable"
    assert verdict_of([]) == "undecidable"
    assert verdict_of([threshold_gate(1, 0, better=HIGHER)]) == "pass"
    assert verdict_of([threshold_gate(-1, 0, better=HIGHER), unmeasured]) == "fail"


@pytest.mark.parametrize(
    ("interval", "better", "verdict"),
    [
        (Interval(0.81, 0.9), HIGHER, "pass"),
        (Interval(0.8, 0.9), HIGHER, "pass"),
        (Interval(0.7, 0.79), HIGHER, "fail"),
        (Interval(0.7, 0.9), HIGHER, "undecidable"),
        (Interval(0.7, 0.79), LOWER, "pass"),
        (Interval(0.81, None), LOWER, "fail"),
        (Interval(0.7, None), LOWER, "undecidable"),
        (None, HIGHER, "undecidable"),
    ],
)
def test_an_interval_across_the_threshold_decides_nothing(interval, better, verdict):
    assert interval_gate(interval, 0.8, better=better).verdict == verdict


@pytest.mark.parametrize("threshold", [math.nan, math.inf])
def test_a_threshold_that_is_none_is_refused(threshold):
    with pytest.raises(StatisticsInputError):
        threshold_gate(0.5, threshold, better=HIGHER)


@pytest.mark.parametrize("metric", HISTORY)
def test_the_published_trends(metric):
    values, better, expected = HISTORY[metric]

    assert trend(values, better=Better(better)) == expected


def test_a_trend_needs_two_runs_before_and_a_latest_one():
    assert trend([0.9, 0.1], better=HIGHER) == "unknown"
    assert trend([0.9, 0.9, None], better=HIGHER) == "unknown"
    assert trend([0.9, None, 0.9, 0.1], better=HIGHER) == "regression"
    assert trend([], better=HIGHER) == "unknown"


def test_a_fall_of_exactly_the_tolerance_is_no_regression():
    assert trend([100, 100, 95], better=HIGHER) == "ok"
    assert trend([0, 0, 0.001], better=LOWER) == "regression"


def test_words_of_direction():
    assert better_of("none") is None
    assert better_of("lower") is LOWER
    with pytest.raises(StatisticsInputError, match="higher, lower or none"):
        better_of("up")


@pytest.mark.parametrize("better", list(Better))
@pytest.mark.parametrize("value", [35 / 36, 7.2470370370e-05, 1234567.8912345])
def test_a_file_of_nine_digits_does_not_fail_what_it_was_made_from(better, value):
    """Baseline files round: where a baseline does not vary, that must not look like a change for the worse."""
    kept = [float(f"{value * (1 + shift):.9g}") for shift in (-4e-10, 0.0, 4e-10)]
    reference = Baseline(max(kept) if better is Better.HIGHER else min(kept), 0.0, 3)

    assert baseline_gate(value, reference, better=better).verdict == "pass"
    worse = value * (1 - 1e-6) if better is Better.HIGHER else value * (1 + 1e-6)
    assert baseline_gate(worse, reference, better=better).verdict == "fail"
