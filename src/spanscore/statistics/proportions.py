"""Intervals of shares: of runs that succeeded, and means of scores between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from spanscore.errors import StatisticsInputError
from spanscore.statistics.clusters import Grouped, grouped, largest_design_effect, mean_variance
from spanscore.statistics.distributions import normal_quantile, t_quantile
from spanscore.statistics.estimates import Estimate, Interval, checked_confidence, mean, nothing


def wilson_interval(share: float, n: float, *, confidence: float) -> Interval:
    """Wilson's score interval of a share seen in `n` trials.

    (p + z^2/2n -+ z sqrt(p (1 - p) / n + z^2/4n^2)) / (1 + z^2/n). It never leaves 0..1, has a width at p = 0 and 1,
    and covers close to what it says from a handful of trials on.

    Args:
        share: that was seen [ratio 0..1].
        n: trials, a positive number and not always a whole one: clusters make it an effective one [count].
        confidence: level [ratio].

    Source: Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953; Brown, Cai, DasGupta 2001,
    https://doi.org/10.1214/ss/1009213286
    """
    z = normal_quantile((1 + checked_confidence(confidence)) / 2)
    scale = 1 + z * z / n
    center = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The ends at 0 and 1 are exact; rounding must not leave a trace there.
    low = 0.0 if share == 0 else max(0.0, (center - half) / scale)
    high = 1.0 if share == 1 else min(1.0, (center + half) / scale)
    return Interval(low, high)


def proportion(successes: int, n: int, *, confidence: float) -> Estimate:
    """The share of `successes` in `n` independent trials [ratio], with Wilson's interval.

    Raises:
        StatisticsInputError: the counts cannot be.
    """
    if not 0 <= successes <= n:
        raise StatisticsInputError(f"{successes} successes in {n} trials cannot be.")
    if n == 0:
        return nothing()
    return Estimate(successes / n, wilson_interval(successes / n, n, confidence=confidence), "wilson", n)


def share(values: Sequence[float | bool], *, clusters: Sequence[Hashable] | None = None, confidence: float) -> Estimate:
    """The mean of scores between 0 and 1 [ratio], with Wilson's interval at their effective number.

    For independent yes-or-no scores this is Wilson's interval (`wilson`). Scores between the two vary less than yes
    and no: n / r values then tell as much as n, where r = sum of (x - p)^2 / (n p (1 - p)) <= 1
    (`wilson_effective_n`). A t interval of such scores misses the truth far too often when most of them are 1. With
    clusters, n is also divided by the design effect d: variance of the mean from clusters / from values, its excess
    over 1 multiplied by (t / z)^2 because it is estimated from k clusters, kept between 1 and what it would be if all
    values of a cluster were equal (`cluster_wilson`). Where all values are equal nothing can be estimated: r is then
    1 and d the largest it can be.

    Args:
        values: scores, each in 0..1.
        clusters: of each value, the cluster it belongs to.
        confidence: level [ratio].

    Raises:
        StatisticsInputError: a score is NaN or outside 0..1.

    Source: Korn and Graubard 1998, Confidence Intervals for Proportions With Small Expected Number of Positive
    Counts Estimated From Survey Data, Survey Methodology 24, 193-201; coverage: docs/statistics.md.
    """
    return share_of(grouped(values, clusters), confidence=confidence)


def share_of(data: Grouped, *, confidence: float) -> Estimate:
    """As `share`, of values that are grouped already."""
    if not data.values:
        return nothing()
    if data.values[0] < 0 or data.values[-1] > 1:
        outside = data.values[0] if data.values[0] < 0 else data.values[-1]
        raise StatisticsInputError(f"A share lies between 0 and 1, and one value is {outside}.")
    n = len(data.values)
    center = min(1.0, max(0.0, mean(data.values)))
    relative, effect = _relative_variance(data.values, center), _design_effect(data, center, confidence=confidence)
    interval = wilson_interval(center, n / (relative * effect), confidence=confidence)
    is_yes_or_no = all(value in (0, 1) for value in data.values)
    method = "cluster_wilson" if data.groups is not None else "wilson" if is_yes_or_no else "wilson_effective_n"
    return Estimate(center, interval, method, n, data.clusters, data.note)


def _relative_variance(values: Sequence[float], center: float) -> float:
    """Variance of the values relative to that of yes and no with the same mean [ratio], 1 when they do not vary."""
    spread = center * (1 - center)
    if values[0] == values[-1] or spread <= 0:
        return 1.0
    return min(1.0, math.fsum((value - center) ** 2 for value in values) / (len(values) * spread))


def _design_effect(data: Grouped, center: float, *, confidence: float) -> float:
    """By how much clusters widen the variance of the mean [ratio >= 1]."""
    if data.groups is None:
        return 1.0
    largest = largest_design_effect(data.groups)
    independent = math.fsum((value - center) ** 2 for value in data.values) / len(data.values) ** 2
    if data.values[0] == data.values[-1] or independent <= 0:
        return largest
    level = (1 + confidence) / 2
    inflation = (t_quantile(level, len(data.groups) - 1) / normal_quantile(level)) ** 2
    excess = max(0.0, mean_variance(data.groups, center) / independent - 1)
    return min(1 + excess * inflation, largest)
