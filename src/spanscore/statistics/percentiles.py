"""Percentiles: nearest rank, the interpolated median, and intervals made of the values themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

from spanscore.errors import StatisticsInputError
from spanscore.statistics.clusters import Grouped, grouped
from spanscore.statistics.distributions import binomial_cdf
from spanscore.statistics.estimates import Estimate, Interval, checked_confidence, nothing
from spanscore.statistics.proportions import share_of

# Nearest rank times a level such as 0.95 is a whole number more often than floating point says.
_ROUNDING = 1e-9


def nearest_rank(level: float, n: int) -> int:
    """The rank (1..n) of the smallest of n values with at least a share `level` of them at or below it: ceil(level n).

    Raises:
        StatisticsInputError: the level is not in 0..1, or there are no values.
    """
    if not 0 <= level <= 1 or n < 1:
        raise StatisticsInputError(f"There is no rank for the level {level} of {n} values.")
    return min(n, max(1, math.ceil(level * n - _ROUNDING)))


def percentile(
    values: Sequence[float], level: float, *, clusters: Sequence[Hashable] | None = None, confidence: float
) -> Estimate:
    """The nearest-rank percentile, with an interval between two of the values, in the unit of the values.

    The interval takes the ranks l < u with P(B < l) <= a and P(B >= u) <= a, where B is binomial (n, level) and a =
    (1 - confidence) / 2 (`order_statistic`): it holds whatever the distribution. An end that would lie beyond the
    smallest or largest value is open. With clusters, the values of the ranks at the ends of the clustered interval of
    the share at or below the percentile (`cluster_order_statistic`).

    Args:
        values: finite numbers.
        level: 0.95 for the 95th percentile [ratio 0..1].
        clusters: of each value, the cluster it belongs to.
        confidence: level of the interval [ratio].

    Raises:
        StatisticsInputError: a value is NaN or infinite, or the level is none.

    Source: Hahn and Meeker, Statistical Intervals, 1991, 5.2; Woodruff 1952, https://doi.org/10.1080/01621459.1952.10483443
    """
    data = grouped(values, clusters)
    if not data.values:
        return nothing()
    found = data.values[nearest_rank(level, len(data.values)) - 1]
    return _with_interval(data, found, level=level, confidence=confidence)


def median(values: Sequence[float], *, clusters: Sequence[Hashable] | None = None, confidence: float) -> Estimate:
    """The interpolated median (mean of the two middle values of an even number), with the interval of `percentile`.

    Raises:
        StatisticsInputError: a value is NaN or infinite.
    """
    data = grouped(values, clusters)
    if not data.values:
        return nothing()
    n = len(data.values)
    found = (data.values[(n - 1) // 2] + data.values[n // 2]) / 2
    return _with_interval(data, found, level=0.5, confidence=confidence)


def _with_interval(data: Grouped, found: float, *, level: float, confidence: float) -> Estimate:
    n = len(data.values)
    if data.groups is None:
        interval, method = _order_statistics(data.values, level, confidence=confidence), "order_statistic"
    else:
        marked = [sorted(float(value <= found) for value in group) for group in data.groups]
        below = Grouped(sorted(mark for group in marked for mark in group), marked)
        interval = _at_shares(data.values, level, share_of(below, confidence=confidence))
        method = "cluster_order_statistic"
    notes = [] if data.note is None else [data.note]
    if level > 0.5 and nearest_rank(level, n) == n:
        notes.insert(0, f"p{100 * level:g} of {n} value{'' if n == 1 else 's'} is the largest one")
    return Estimate(found, interval, method, n, data.clusters, "; ".join(notes) or None)


def _order_statistics(ordered: Sequence[float], level: float, *, confidence: float) -> Interval:
    n = len(ordered)
    tail = (1 - checked_confidence(confidence)) / 2
    # The largest rank l with P(B <= l - 1) <= tail, and the smallest u with P(B <= u - 1) >= 1 - tail.
    low = _last_rank(n, lambda rank: binomial_cdf(rank - 1, n, level) <= tail)
    high = _last_rank(n, lambda rank: binomial_cdf(rank - 1, n, level) < 1 - tail) + 1
    return Interval(ordered[low - 1] if low >= 1 else None, ordered[high - 1] if high <= n else None)


def _last_rank(n: int, holds: Callable[[int], bool]) -> int:
    """The largest rank in 0..n for which `holds` (true up to somewhere, false from there on); 0 is always true."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _at_shares(ordered: Sequence[float], level: float, below: Estimate) -> Interval:
    """The values at the ends of an interval for the share of values at or below the percentile."""
    n = len(ordered)
    assert below.interval is not None
    assert below.value is not None
    low, high = below.interval.low, below.interval.high
    assert low is not None
    assert high is not None
    # The interval is that of the share seen, which ties and rounding put above the level: move it there.
    shift = level - below.value
    first, last = math.floor((low + shift) * n), math.ceil((high + shift) * n)
    return Interval(ordered[first - 1] if first >= 1 else None, ordered[last - 1] if last < n else None)
