"""Figures of a report from plain values: scores, durations, costs. No database."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spanscore.report.scorecard.model import Bounds, Cost, Effort, Latency, Metric, Rate
from spanscore.report.terminal import cut
from spanscore.statistics import CONFIDENCE, Estimate, median, percentile, share, t_mean

NOT_EVALUATED = "not_evaluated"
FAILED = "evaluator_failed"
# Names of agents, tools and categories are cut beyond this [characters].
LONGEST_NAME = 500
# Scores that are shares; the rest have no bounds.
_SHARES = ("ratio", "boolean")
_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a report needs to know of one run."""

    run_id: str
    cluster: str
    category: str | None
    variant: str | None
    day: str | None
    status: str | None
    is_success: bool
    is_checked: bool
    duration_s: float | None
    cost_usd: float | None
    cost_reported_usd: float | None
    unpriced_llm_calls: int | None
    unpriced_failed_calls: int | None
    llm_calls: int | None
    tool_calls: int | None
    step_cap: int | None


@dataclass(frozen=True, slots=True)
class EvaluatorFacts:
    """What an evaluator measures, and what went wrong with it; only `id` is known of one that never ran."""

    id: str
    title: str | None
    question: str | None
    grain: str
    unit: str
    better: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Score:
    """One score; its value is None where the evaluator does not apply."""

    run: RunFacts
    agent_name: str | None
    value: float | None
    reason: str | None


def bounds(estimate: Estimate) -> Bounds | None:
    """The interval as a pair."""
    return None if estimate.interval is None else (estimate.interval.low, estimate.interval.high)


def _not_below_zero(interval: Bounds | None, values: Sequence[float]) -> Bounds | None:
    """The interval without the part below 0, where no mean of counts, times or amounts can lie."""
    if interval is None or interval[0] is None or interval[0] >= 0 or min(values) < 0:
        return interval
    return (0.0, interval[1])


def metric(evaluator: EvaluatorFacts, scores: Sequence[Score], *, runs: int) -> Metric:
    """The figure of one evaluator.

    Args:
        evaluator: what it measures.
        scores: of the runs in question.
        runs: how many these are; where runs are what is scored, those without a score count as not evaluated.
    """
    # A number that is not finite is no measurement: evaluators may not give one, and an old store might hold one.
    scored = [(one.value, one.run.cluster) for one in scores if one.value is not None and math.isfinite(one.value)]
    values = [value for value, _ in scored]
    reasons = Counter(
        one.reason or "unknown" if one.value is None else "not_finite"
        for one in scores
        if one.value is None or not math.isfinite(one.value)
    )
    missing = runs - len(scores) if evaluator.grain == "run" else 0
    if missing > 0:
        reasons[NOT_EVALUATED if evaluator.error is None else FAILED] += missing
    is_share = evaluator.unit in _SHARES and all(0 <= value <= 1 for value in values)
    estimate = (share if is_share else t_mean)(
        values, clusters=[cluster for _, cluster in scored], confidence=CONFIDENCE
    )
    return Metric(
        value=estimate.value,
        interval=_not_below_zero(bounds(estimate), values),
        interval_method=estimate.method,
        n_scored=len(values),
        n_total=len(scores) + max(0, missing),
        not_applicable=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        unit=evaluator.unit,
        better=evaluator.better,
        title=evaluator.title,
        question=evaluator.question,
        grain=evaluator.grain,
        median=statistics.median(values) if values and evaluator.unit not in _SHARES else None,
        clusters=estimate.clusters,
        note=estimate.note,
        error=evaluator.error,
    )


def rate(outcomes: Sequence[tuple[bool | None, str]]) -> Rate:
    """The share of outcomes that are true; None is unknown and not counted.

    Args:
        outcomes: each with the cluster it belongs to.
    """
    known = [(is_good, cluster) for is_good, cluster in outcomes if is_good is not None]
    estimate = share(
        [is_good for is_good, _ in known], clusters=[cluster for _, cluster in known], confidence=CONFIDENCE
    )
    return Rate(
        value=estimate.value,
        interval=bounds(estimate),
        interval_method=estimate.method,
        n_scored=len(known),
        n_total=len(outcomes),
        note=estimate.note,
    )


def latency(runs: Sequence[RunFacts]) -> Latency:
    """How long runs take; those whose duration is not known are counted and left out."""
    known = [(run.duration_s, run.cluster) for run in runs if run.duration_s is not None]
    values, clusters = [value for value, _ in known], [cluster for _, cluster in known]
    found = {
        name: percentile(values, level, clusters=clusters, confidence=CONFIDENCE)
        for name, level in _PERCENTILES.items()
    }
    found["median"] = median(values, clusters=clusters, confidence=CONFIDENCE)
    found["mean"] = t_mean(values, clusters=clusters, confidence=CONFIDENCE)
    notes = dict.fromkeys(part for one in found.values() if one.note is not None for part in one.note.split("; "))
    return Latency(
        p50=found["p50"].value,
        median=found["median"].value,
        p95=found["p95"].value,
        p99=found["p99"].value,
        max=max(values, default=None),
        mean=found["mean"].value,
        n=len(values),
        n_total=len(runs),
        method="p50, p95 and p99 nearest rank (index ceil(p n)), median interpolated",
        intervals={name: bounds(one) for name, one in found.items()},
        interval_methods={name: one.method for name, one in found.items()},
        note="; ".join(notes) or None,
    )


def cost(runs: Sequence[RunFacts]) -> Cost:
    """What runs cost; failed runs are in every figure."""
    priced = [(run.cost_usd, run.cluster) for run in runs if run.cost_usd is not None]
    values = [value for value, _ in priced]
    estimate = t_mean(values, clusters=[cluster for _, cluster in priced], confidence=CONFIDENCE)
    successes = sum(run.is_success for run in runs)
    # Of runs with a price: one without is not free.
    priced_successes = sum(run.is_success for run in runs if run.cost_usd is not None)
    total = math.fsum(values) if values else None
    reported = [run.cost_reported_usd for run in runs if run.cost_reported_usd is not None]
    return Cost(
        total=total,
        per_run=estimate.value,
        interval=bounds(estimate),
        interval_method=estimate.method,
        per_success=total / priced_successes if total is not None and priced_successes else None,
        successes=successes,
        success_is=_success_word(runs),
        n_priced=len(values),
        n_total=len(runs),
        unpriced_llm_calls=sum(run.unpriced_llm_calls or 0 for run in runs),
        reported_total=math.fsum(reported) if reported else None,
        note=estimate.note,
    )


def _success_word(runs: Sequence[RunFacts]) -> str:
    """What makes a run a success: its checks where it has any, else that it ended without an error."""
    checked = {run.is_checked for run in runs}
    if checked == {True}:
        return "task_completed"
    return "status_ok" if True not in checked else "task_completed, status_ok where not checked"


def effort(runs: Sequence[RunFacts]) -> Effort:
    """How much work runs take; the calls of failed runs are part of what a success costs."""
    successes = sum(run.is_success for run in runs)
    tool_calls = [run.tool_calls for run in runs if run.tool_calls is not None]
    llm_calls = [run.llm_calls for run in runs if run.llm_calls is not None]
    return Effort(
        llm_calls_per_run=sum(llm_calls) / len(llm_calls) if llm_calls else None,
        tool_calls_per_run=sum(tool_calls) / len(tool_calls) if tool_calls else None,
        tool_calls_per_success=sum(tool_calls) / successes if tool_calls and successes else None,
        step_caps=sorted({run.step_cap for run in runs if run.step_cap is not None}),
    )


def shortfall(evaluator: EvaluatorFacts, value: float | None) -> float:
    """How far a share is from the best it can be [ratio], and 0 for what is no share or has no good side."""
    if value is None or evaluator.unit not in _SHARES or evaluator.better == "none":
        return 0.0
    return max(0.0, 1 - value) if evaluator.better == "higher" else max(0.0, value)


def named(value: str | None) -> str:
    """A group's name as a key. The group of those without one is `(none)`; of a very long name the beginning is kept.

    The digest keeps two long names apart that begin alike.
    """
    if value is None:
        return "(none)"
    if len(value) <= LONGEST_NAME:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{cut(value, LONGEST_NAME)} {digest}"
