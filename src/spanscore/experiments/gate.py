"""The release gate: baseline, fixed thresholds and trend; each check a verdict with what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from spanscore.experiments.baseline import BaselineFile
from spanscore.experiments.figures import Figure, Side, metric_figure, side
from spanscore.experiments.history import RULE, Entry, comparable, entry
from spanscore.experiments.model import Experiment, Metric
from spanscore.statistics import (
    Baseline,
    Better,
    Gate,
    Trend,
    Verdict,
    baseline_gate,
    threshold_gate,
    trend,
    verdict_of,
)
from spanscore.statistics.distributions import t_cdf
from spanscore.statistics.gates import TREND_PREVIOUS, TREND_TOLERANCE

SCHEMA_VERSION = "1.0"
BASELINE_RULE, THRESHOLD_RULE, TREND_RULE = "baseline", "threshold", "trend"


class Bound(Protocol):
    """A threshold of a suite."""

    @property
    def min(self) -> float | None:
        """The least value that passes; None = any."""

    @property
    def max(self) -> float | None:
        """The greatest value that passes; None = any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule applied to one metric.

    Attributes:
        rule: baseline, threshold or trend.
        threshold: the last value that passes; None when there is none.
        baseline_mean, baseline_std, baseline_experiments: what the baseline rule rests on.
        interval: of the value, 95%: what chance alone could have made of it.
        is_within_noise: whether the interval reaches the passing side although the value does not.
        false_alarm: how often a metric that has not changed fails this rule, were its means normal [ratio]; None
            where the rule does not tell.
    """

    name: str
    metric: str
    rule: str
    verdict: str
    value: float | None
    interval: tuple[float | None, float | None] | None
    n: int
    threshold: float | None
    unit: str
    better: str
    baseline_mean: float | None
    baseline_std: float | None
    baseline_experiments: int | None
    is_within_noise: bool | None
    false_alarm: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The verdict on one experiment."""

    schema_version: str
    generated_at: str
    verdict: str
    candidate: Side
    suite_name: str | None
    suite_version: str | None
    baseline_git_commit: str | None
    checks: list[Check]
    findings: list[str]

    def as_json(self) -> dict[str, Any]:
        """The document as plain objects."""
        return asdict(self)


def gate(
    candidate: Experiment,
    *,
    now: str,
    reference: BaselineFile | None,
    thresholds: Mapping[str, Bound],
    history: Sequence[Entry] | None,
    metrics: Sequence[str],
    deviations: float,
) -> GateReport:
    """Judge an experiment by every rule that something was given for.

    Args:
        candidate: what is judged.
        now: ISO 8601.
        reference: the baseline; None = no baseline rule.
        thresholds: fixed bounds by metric; each is judged.
        history: earlier experiments; None = no trend rule. The candidate itself may be among them.
        metrics: ids for the baseline and trend rules; empty = those that the baseline gates.
        deviations: of the baseline that are allowed.
    """
    checks: list[Check] = []
    findings = [f"{candidate.name}: {note}." for note in candidate.notes]
    gated = list(metrics) or ([] if reference is None else list(reference.gated))
    if reference is not None:
        checks += [_against_baseline(candidate, reference, name, deviations) for name in gated]
    for name, bound in thresholds.items():
        checks += _against_bounds(candidate, name, bound)
    if history is not None:
        latest = entry(candidate, git_commit=None)
        earlier = [
            one for one in history if one.key != latest.key and (one.started_at or "") <= (latest.started_at or "~")
        ]
        names = gated or [name for name, metric in sorted(candidate.metrics.items()) if metric.direction is not None]
        checks += [_against_trend(candidate, [*earlier, latest], latest, name) for name in names]
    if not checks:
        findings.append("Nothing was judged: there is no baseline, threshold or history for this experiment.")
    verdict = verdict_of([Gate(Verdict(one.verdict), one.threshold, one.value, one.reason) for one in checks])
    return GateReport(
        schema_version=SCHEMA_VERSION,
        generated_at=now,
        verdict=str(verdict),
        candidate=side(candidate),
        suite_name=candidate.suite_name,
        suite_version=candidate.suite_version,
        baseline_git_commit=None if reference is None else reference.git_commit,
        checks=checks,
        findings=[*findings, *_words(checks, reference)],
    )


def false_alarm_rate(experiments: int, deviations: float) -> float:
    """How often a metric that has not changed lies more than `deviations` std beyond the mean of a baseline [ratio].

    Mean and std come from the baseline's few experiments, so (x - mean) / (std sqrt(1 + 1/n)) is Student's t with
    n - 1 degrees of freedom: P(t < -deviations / sqrt(1 + 1/n)). 11% with 3 experiments and 2 std, 4% with 10, 2.3%
    with very many; for means that are normal, which those of a few cases are not quite.

    Source: prediction interval for one more value; Hahn and Meeker, Statistical Intervals, 1991, 4.8.
    """
    return t_cdf(-deviations / math.sqrt(1 + 1 / experiments), experiments - 1)


def _against_baseline(candidate: Experiment, reference: BaselineFile, name: str, deviations: float) -> Check:
    metric = candidate.metrics.get(name) or reference.metrics.get(name)
    found = _figure(candidate, name)
    if metric is None or metric.direction is None:
        return _check(name, BASELINE_RULE, metric, found, _undecidable(found, _no_side(metric, name)))
    spread = reference.reference(name)
    suites = {(candidate.suite_name, candidate.suite_version), (reference.suite_name, reference.suite_version)}
    known = reference.metrics.get(name)
    if len(suites) > 1:
        judged = _undecidable(found, "the baseline is of another suite or another version of it")
    elif known is not None and name in candidate.metrics and known.definition != candidate.metrics[name].definition:
        judged = _undecidable(found, "the baseline was scored by another version of the evaluator")
    else:
        judged = baseline_gate(found.value, spread, better=metric.direction, deviations=deviations)
    alarm = None if spread is None or spread.deviation == 0 else false_alarm_rate(spread.experiments, deviations)
    return _check(name, BASELINE_RULE, metric, found, judged, spread=spread, false_alarm=alarm)


def _against_bounds(candidate: Experiment, name: str, bound: Bound) -> Iterator[Check]:
    metric, found = candidate.metrics.get(name), _figure(candidate, name)
    for limit, better, word in ((bound.min, Better.HIGHER, "minimum"), (bound.max, Better.LOWER, "maximum")):
        if limit is not None:
            judged = threshold_gate(found.value, limit, better=better, rule=f"the {word}")
            yield _check(name, f"{THRESHOLD_RULE}_{'min' if better is Better.HIGHER else 'max'}", metric, found, judged)


def _against_trend(candidate: Experiment, entries: Sequence[Entry], latest: Entry, name: str) -> Check:
    metric, found = candidate.metrics.get(name), _figure(candidate, name)
    if metric is None or metric.direction is None:
        return _check(name, TREND_RULE, metric, found, _undecidable(found, _no_side(metric, name)))
    values = comparable(entries, name, latest)
    earlier = [value for value in values[:-1] if value is not None][-TREND_PREVIOUS:]
    said = trend(values, better=metric.direction)
    if said is Trend.UNKNOWN:
        reason = (
            "the metric has no value"
            if found.value is None
            else f"the history has {len(earlier)} comparable experiments before it, and the rule needs {TREND_PREVIOUS}"
        )
        return _check(name, TREND_RULE, metric, found, _undecidable(found, reason))
    center = sum(earlier) / len(earlier)
    sign = -1 if metric.direction is Better.HIGHER else 1
    threshold = center + sign * TREND_TOLERANCE * abs(center)
    is_good = said is Trend.OK
    reason = f"{found.value:.4g} is {'not ' if is_good else ''}{RULE} ({center:.4g})"
    judged = Gate(Verdict.PASS if is_good else Verdict.FAIL, threshold, found.value, reason)
    return _check(name, TREND_RULE, metric, found, judged)


def _figure(candidate: Experiment, name: str) -> Figure:
    metric = candidate.metrics.get(name)
    if metric is None:
        return Figure(value=None, interval=None, interval_method=None, n=0, note=None)
    return metric_figure(metric, candidate.values(name))


def _no_side(metric: Metric | None, name: str) -> str:
    return f"`{name}` was never measured" if metric is None else "the metric has no good side"


def _undecidable(found: Figure, reason: str) -> Gate:
    return Gate(Verdict.UNDECIDABLE, None, found.value, reason)


def _check(
    name: str,
    rule: str,
    metric: Metric | None,
    found: Figure,
    judged: Gate,
    *,
    spread: Baseline | None = None,
    false_alarm: float | None = None,
) -> Check:
    better = "none" if metric is None else metric.better
    if rule.startswith(THRESHOLD_RULE):
        better = "higher" if rule.endswith("min") else "lower"
    reach = None
    if judged.verdict is Verdict.FAIL and found.interval is not None and judged.threshold is not None:
        best = found.interval[1 if better == Better.HIGHER else 0]
        reach = best is None or (best >= judged.threshold if better == Better.HIGHER else best <= judged.threshold)
    return Check(
        name=f"{name}/{rule}",
        metric=name,
        rule=rule,
        verdict=str(judged.verdict),
        value=found.value,
        interval=found.interval,
        n=found.n,
        threshold=judged.threshold,
        unit="" if metric is None else metric.unit,
        better=better,
        baseline_mean=None if spread is None else spread.mean,
        baseline_std=None if spread is None else spread.deviation,
        baseline_experiments=None if spread is None else spread.experiments,
        is_within_noise=reach,
        false_alarm=false_alarm,
        reason=judged.reason,
    )


def _words(checks: Sequence[Check], reference: BaselineFile | None) -> Iterator[str]:
    near = [one.name for one in checks if one.is_within_noise]
    if near:
        yield (
            f"Failed, but inside the noise of this experiment alone: {', '.join(near)}. "
            "More runs would tell; the rule stands."
        )
    rates = [one.false_alarm for one in checks if one.false_alarm is not None]
    if rates and reference is not None:
        every = 1 - math.prod(1 - rate for rate in rates)
        yield (
            f"With {len(reference.experiments)} baseline experiments a metric that has not changed fails in about "
            f"{100 * max(rates):.0f}% of experiments; one of these {len(rates)} in up to {100 * every:.0f}%."
        )
    flat = [one.metric for one in checks if one.rule == BASELINE_RULE and one.baseline_std == 0]
    if flat:
        yield f"The baseline does not vary in {', '.join(flat)}: any change for the worse fails."
