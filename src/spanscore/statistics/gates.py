"""Rules that turn figures into a verdict: against a baseline, against a fixed threshold, against what was before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from spanscore.errors import StatisticsInputError
from spanscore.statistics.estimates import Interval, checked, mean

# A standard deviation of two experiments is hardly one.
LEAST_EXPERIMENTS = 3
BASELINE_DEVIATIONS = 2.0
TREND_TOLERANCE = 0.05
TREND_PREVIOUS = 2


class Better(StrEnum):
    """The direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


class Verdict(StrEnum):
    """What a gate says. `undecidable` stops a release as `fail` does: not knowing is no permission."""

    PASS = "pass"  # noqa: S105 a verdict, not a password
    FAIL = "fail"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The spread of a metric over baseline experiments: mean and sample standard deviation, in the metric's unit."""

    mean: float
    deviation: float
    experiments: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A verdict with what it rests on.

    Attributes:
        verdict: pass, fail or undecidable.
        threshold: the last value that passes; None when there is none to compare with.
        value: what was compared with it.
        reason: one factual sentence.
    """

    verdict: Verdict
    threshold: float | None
    value: float | None
    reason: str


def baseline(values: Sequence[float]) -> Baseline | None:
    """Mean and sample standard deviation of a metric over experiments; None for fewer than three.

    Raises:
        StatisticsInputError: a value is NaN or infinite.
    """
    numbers = checked(values)
    if len(numbers) < LEAST_EXPERIMENTS:
        return None
    center = mean(numbers)
    variance = math.fsum((number - center) ** 2 for number in numbers) / (len(numbers) - 1)
    return Baseline(center, math.sqrt(variance), len(numbers))


def baseline_gate(
    value: float | None, reference: Baseline | None, *, better: Better, deviations: float = BASELINE_DEVIATIONS
) -> Gate:
    """Whether a value is still within `deviations` standard deviations of its baseline, on the bad side.

    threshold = mean - 2 std where higher is better, mean + 2 std where lower is. A value at the threshold passes.

    Args:
        value: of the candidate; None when it could not be measured.
        reference: of the baseline; None when there are too few experiments.
        better: the direction of the metric.
        deviations: how many of them are allowed.
    """
    if reference is None:
        return _undecidable(value, f"the baseline has fewer than {LEAST_EXPERIMENTS} experiments")
    sign = -1 if better is Better.HIGHER else 1
    threshold = reference.mean + sign * deviations * reference.deviation
    rule = f"mean {'-+'[sign > 0]} {deviations:g} std of {reference.experiments} baseline experiments"
    return threshold_gate(value, threshold, better=better, rule=rule)


def threshold_gate(value: float | None, threshold: float, *, better: Better, rule: str = "the threshold") -> Gate:
    """Whether a value is on the good side of a threshold; one that equals it passes.

    Raises:
        StatisticsInputError: the threshold, or the value, is NaN or infinite.
    """
    (threshold,) = checked([threshold])
    if value is None:
        return _undecidable(None, "the metric has no value", threshold)
    (value,) = checked([value])
    # Threshold arithmetic such as 0.93 - 2 * 0.03 must not fail a value written with the same digits, nor a file that
    # keeps nine of them the experiment that it was made from.
    margin = max(1e-12, 1e-8 * abs(threshold))
    is_good = value >= threshold - margin if better is Better.HIGHER else value <= threshold + margin
    beyond = "below" if better is Better.HIGHER else "above"
    reason = f"{value:.4g} is {'not ' if is_good else ''}{beyond} {threshold:.4g}, {rule}"
    return Gate(Verdict.PASS if is_good else Verdict.FAIL, threshold, value, reason)


def interval_gate(interval: Interval | None, threshold: float, *, better: Better) -> Gate:
    """Whether a whole interval is on the good (pass) or bad (fail) side of a threshold; across it is undecidable.

    Raises:
        StatisticsInputError: the threshold is NaN or infinite.
    """
    (threshold,) = checked([threshold])
    if interval is None:
        return _undecidable(None, "the metric has no interval", threshold)
    is_higher = better is Better.HIGHER
    # The end of the interval that is nearest to being good, and the one that is nearest to being bad.
    best, worst = (interval.high, interval.low) if is_higher else (interval.low, interval.high)
    if worst is not None and (worst >= threshold if is_higher else worst <= threshold):
        return Gate(Verdict.PASS, threshold, worst, f"the whole interval is on the good side of {threshold:.4g}")
    if best is not None and (best < threshold if is_higher else best > threshold):
        return Gate(Verdict.FAIL, threshold, best, f"the whole interval is on the bad side of {threshold:.4g}")
    return _undecidable(None, f"the interval lies across {threshold:.4g}", threshold)


def verdict_of(gates: Sequence[Gate]) -> Verdict:
    """The verdict over several gates: fail if one fails, else undecidable if one is or there is none, else pass."""
    verdicts = {gate.verdict for gate in gates}
    if Verdict.FAIL in verdicts:
        return Verdict.FAIL
    return Verdict.PASS if verdicts == {Verdict.PASS} else Verdict.UNDECIDABLE


class Trend(StrEnum):
    """Where a metric goes."""

    REGRESSION = "regression"
    OK = "ok"
    UNKNOWN = "unknown"


def trend(
    history: Sequence[float | None],
    *,
    better: Better,
    tolerance: float = TREND_TOLERANCE,
    previous: int = TREND_PREVIOUS,
) -> Trend:
    """Whether the latest value is worse than the mean of the ones before it by more than a share of that mean.

    Args:
        history: values in the order of time, the latest last; those that could not be measured are None.
        better: the direction of the metric.
        tolerance: relative to the mean [ratio].
        previous: how many earlier values make the mean; with fewer the trend is unknown [count].

    Raises:
        StatisticsInputError: a value is NaN or infinite.
    """
    if not history or history[-1] is None:
        return Trend.UNKNOWN
    earlier = checked(value for value in history[:-1] if value is not None)[-previous:]
    if len(earlier) < previous:
        return Trend.UNKNOWN
    (latest,) = checked([history[-1]])
    center = mean(earlier)
    worse = center - latest if better is Better.HIGHER else latest - center
    return Trend.REGRESSION if worse > tolerance * abs(center) + 1e-12 * abs(center) else Trend.OK


def _undecidable(value: float | None, reason: str, threshold: float | None = None) -> Gate:
    return Gate(Verdict.UNDECIDABLE, threshold, value, reason)


def better_of(word: str) -> Better | None:
    """The direction that an evaluator's header names; None for `none`: such a metric has no good side.

    Raises:
        StatisticsInputError: the word is none of higher, lower, none.
    """
    if word == "none":
        return None
    try:
        return Better(word)
    except ValueError as error:
        raise StatisticsInputError(f"`{word}` is no direction; write higher, lower or none.") from error
