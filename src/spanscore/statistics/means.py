"""Intervals of means: of costs, durations, counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from spanscore.errors import StatisticsInputError
from spanscore.statistics.clusters import Grouped, grouped, mean_variance
from spanscore.statistics.distributions import t_quantile
from spanscore.statistics.estimates import Estimate, Interval, checked_confidence, mean, nothing
from spanscore.statistics.resampling import resampled

_ONE_VALUE = "one value: it says nothing of how much values differ"
_ALL_EQUAL = "all values are equal: they say nothing of how much values differ"


def t_mean(values: Sequence[float], *, clusters: Sequence[Hashable] | None = None, confidence: float) -> Estimate:
    """The mean with Student's t interval, in the unit of the values.

    mean -+ t(k - 1) sqrt(V). Without clusters V = s^2 / n and k = n (`t`); with them k is the number of clusters and V
    the cluster-robust variance of the mean (`cluster_t`).

    Args:
        values: finite numbers.
        clusters: of each value, the cluster it belongs to.
        confidence: level [ratio].

    Raises:
        StatisticsInputError: a value is NaN or infinite.

    Source: Miller, Adding Error Bars to Evals, https://arxiv.org/abs/2411.00640
    """
    data = grouped(values, clusters)
    missing = _without_interval(data)
    if missing is not None:
        return missing
    center = mean(data.values)
    if data.groups is None:
        degrees = len(data.values) - 1
        variance = math.fsum((value - center) ** 2 for value in data.values) / degrees / len(data.values)
    else:
        degrees = len(data.groups) - 1
        variance = mean_variance(data.groups, center)
    half = t_quantile((1 + checked_confidence(confidence)) / 2, degrees) * math.sqrt(variance)
    method = "t" if data.groups is None else "cluster_t"
    return Estimate(center, Interval(center - half, center + half), method, len(data.values), data.clusters, data.note)


def bootstrap_mean(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float,
    resamples: int,
    seed: int,
) -> Estimate:
    """The mean with a percentile bootstrap interval, in the unit of the values.

    Values (`bootstrap`), or whole clusters (`cluster_bootstrap`), are drawn with replacement `resamples` times; the
    ends are the order statistics number (B + 1) (1 - confidence) / 2 from either side of the B means, rounded
    outwards. The same values in any order give the same interval. It follows skewed values better than t, and is too
    narrow for few of them.

    Args:
        values: finite numbers.
        clusters: of each value, the cluster it belongs to.
        confidence: level [ratio].
        resamples: how many [count].
        seed: of the random draws.

    Raises:
        StatisticsInputError: a value is NaN or infinite, or there are too few resamples for the level.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    data = grouped(values, clusters)
    missing = _without_interval(data)
    if missing is not None:
        return missing
    if data.groups is None:
        n = len(data.values)
        means = [math.fsum(drawn) / n for drawn in resampled(data.values, resamples=resamples, seed=seed)]
    else:
        totals = [(math.fsum(group), len(group)) for group in data.groups]
        means = [_ratio_of_sums(drawn) for drawn in resampled(totals, resamples=resamples, seed=seed)]
    interval = percentile_interval(means, confidence=confidence)
    method = "bootstrap" if data.groups is None else "cluster_bootstrap"
    return Estimate(mean(data.values), interval, method, len(data.values), data.clusters, data.note)


def percentile_interval(statistics: Sequence[float], *, confidence: float) -> Interval:
    """The middle `confidence` of resampled statistics, rounded outwards.

    Raises:
        StatisticsInputError: there are too few of them for the level.
    """
    ordered = sorted(statistics)
    rank = math.floor((len(ordered) + 1) * (1 - checked_confidence(confidence)) / 2 + 1e-9)
    if rank < 1:
        raise StatisticsInputError(
            f"{len(ordered)} resamples are too few for a confidence of {confidence}. Use 1,000 or more."
        )
    return Interval(ordered[rank - 1], ordered[-rank])


def _ratio_of_sums(drawn: Sequence[tuple[float, int]]) -> float:
    return math.fsum(total for total, _ in drawn) / sum(size for _, size in drawn)


def _without_interval(data: Grouped) -> Estimate | None:
    """The estimate where no interval can be made; None where one can."""
    if not data.values:
        return nothing()
    n = len(data.values)
    if n == 1:
        return Estimate(data.values[0], None, None, 1, note=_ONE_VALUE)
    if data.values[0] == data.values[-1]:
        return Estimate(data.values[0], None, None, n, data.clusters, _ALL_EQUAL)
    return None
