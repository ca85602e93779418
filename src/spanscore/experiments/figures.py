"""What one experiment took, spent and achieved. Failed runs are in every average."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanscore.experiments.model import Attempt, Experiment, Metric
from spanscore.statistics import CONFIDENCE, Estimate, median, percentile, share, t_mean

Bounds = tuple[float | None, float | None]
"""Ends of a 95% interval; None is an open end."""

NEAREST_RANK = "p50, p95 and p99 nearest rank (index ceil(p n)), median interpolated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value with its interval and how many values it rests on."""

    value: float | None
    interval: Bounds | None
    interval_method: str | None
    n: int
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long runs take [s]. A run without a known duration is in n_total and not in n."""

    mean: Figure
    p50: float | None
    median: Figure
    p95: Figure
    p99: float | None
    max: float | None
    n: int
    n_total: int
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What runs cost [USD]. A run without any priced call is in n_total and not in n_priced; never 0."""

    per_attempt: Figure
    per_success: float | None
    total: float | None
    n_priced: int
    n_total: int
    unpriced_llm_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One experiment of a comparison.

    Attributes:
        errors: runs that ended in an error [count].
        success_is: what makes a run a success: `task_completed`, else `status_ok`.
        step_caps: budgets of steps that its cases allow [steps].
    """

    name: str
    experiment_id: str | None
    variant: str | None
    suite_name: str | None
    suite_version: str | None
    git_commit: str | None
    started_at: str | None
    cases: int
    runs: int
    errors: int
    successes: int
    success_is: str
    success_rate: Figure
    cost_usd: Cost
    latency_s: Latency
    llm_calls_per_attempt: float | None
    tool_calls_per_attempt: float | None
    tool_calls_per_success: float | None
    step_caps: list[int]
    notes: list[str]


def figure(estimate: Estimate, values: Sequence[float] = ()) -> Figure:
    """An estimate as the documents show it.

    Args:
        estimate: of a mean or a share.
        values: what it is the mean of. Where none is negative, the interval of t goes no further down than 0.
    """
    interval = None if estimate.interval is None else (estimate.interval.low, estimate.interval.high)
    if interval is not None and interval[0] is not None and interval[0] < 0 and values and min(values) >= 0:
        interval = (0.0, interval[1])
    return Figure(
        value=estimate.value, interval=interval, interval_method=estimate.method, n=estimate.n, note=estimate.note
    )


def metric_figure(metric: Metric, values: Mapping[str, Sequence[float]]) -> Figure:
    """The mean of a metric over all runs, as reports print it; the runs of one case are a cluster.

    Args:
        metric: what it measures.
        values: per case.
    """
    flat = [(value, case) for case, those in values.items() for value in those]
    return figure(_estimate(metric, [value for value, _ in flat], clusters=[case for _, case in flat]))


def case_mean_figure(metric: Metric, values: Mapping[str, Sequence[float]]) -> Figure:
    """The mean of a metric over cases, each counted once however many runs it has."""
    return figure(_estimate(metric, [math.fsum(those) / len(those) for those in values.values()], clusters=None))


def _estimate(metric: Metric, values: Sequence[float], *, clusters: Sequence[str] | None) -> Estimate:
    is_share = metric.is_share and all(0 <= value <= 1 for value in values)
    return (share if is_share else t_mean)(values, clusters=clusters, confidence=CONFIDENCE)


def side(experiment: Experiment, cases: Sequence[str] | None = None) -> Side:
    """What the runs of an experiment achieved, took and cost.

    Args:
        experiment: whose runs.
        cases: only runs of these; None = all.
    """
    wanted = set(experiment.cases if cases is None else cases)
    attempts = [attempt for attempt in experiment.attempts if attempt.case_id in wanted]
    successes = sum(attempt.is_success for attempt in attempts)
    names = [attempt.case_id for attempt in attempts]
    rate = share([attempt.is_success for attempt in attempts], clusters=names, confidence=CONFIDENCE)
    tool_calls = [attempt.tool_calls for attempt in attempts if attempt.tool_calls is not None]
    return Side(
        name=experiment.name,
        experiment_id=experiment.experiment_id,
        variant=experiment.variant,
        suite_name=experiment.suite_name,
        suite_version=experiment.suite_version,
        git_commit=experiment.git_commit,
        started_at=experiment.started_at,
        cases=len(set(names)),
        runs=len(attempts),
        errors=sum(attempt.status == "error" for attempt in attempts),
        successes=successes,
        success_is=success_word(attempts),
        success_rate=figure(rate),
        cost_usd=_cost(attempts),
        latency_s=_latency(attempts),
        llm_calls_per_attempt=_mean([attempt.llm_calls for attempt in attempts if attempt.llm_calls is not None]),
        tool_calls_per_attempt=_mean(tool_calls),
        tool_calls_per_success=sum(tool_calls) / successes if tool_calls and successes else None,
        step_caps=sorted({cap for case, cap in experiment.step_caps.items() if case in wanted}),
        notes=list(experiment.notes),
    )


def success_word(attempts: Sequence[Attempt]) -> str:
    """What makes a run a success: its checks where it has any, else that it ended without an error."""
    checked = {attempt.is_checked for attempt in attempts}
    if checked == {True}:
        return "task_completed"
    return "status_ok" if True not in checked else "task_completed, status_ok where not checked"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _cost(attempts: Sequence[Attempt]) -> Cost:
    priced = [(attempt.cost_usd, attempt.case_id) for attempt in attempts if attempt.cost_usd is not None]
    values = [value for value, _ in priced]
    total = math.fsum(values) if values else None
    # Of attempts with a price: one without is not free.
    successes = sum(attempt.is_success for attempt in attempts if attempt.cost_usd is not None)
    return Cost(
        per_attempt=figure(t_mean(values, clusters=[case for _, case in priced], confidence=CONFIDENCE), values),
        per_success=total / successes if total is not None and successes else None,
        total=total,
        n_priced=len(values),
        n_total=len(attempts),
        unpriced_llm_calls=sum(attempt.unpriced_llm_calls or 0 for attempt in attempts),
    )


def _latency(attempts: Sequence[Attempt]) -> Latency:
    timed = [(attempt.duration_s, attempt.case_id) for attempt in attempts if attempt.duration_s is not None]
    values, clusters = [value for value, _ in timed], [case for _, case in timed]

    def at(level: float) -> Estimate:
        return percentile(values, level, clusters=clusters, confidence=CONFIDENCE)

    return Latency(
        mean=figure(t_mean(values, clusters=clusters, confidence=CONFIDENCE), values),
        p50=at(0.5).value,
        median=figure(median(values, clusters=clusters, confidence=CONFIDENCE)),
        p95=figure(at(0.95)),
        p99=at(0.99).value,
        max=max(values, default=None),
        n=len(values),
        n_total=len(attempts),
        method=NEAREST_RANK,
    )
