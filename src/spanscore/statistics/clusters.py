"""Values that belong together. The one place that decides it, so that errors, degrees of freedom and resampling agree.

Repeats of one case, and runs of one session, resemble each other: thirty runs of ten cases tell less about other
cases than thirty runs of thirty. They are one cluster, and clusters, not runs, are what is independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from spanscore.errors import StatisticsInputError
from spanscore.statistics.estimates import checked

# Intervals that estimate the spread between clusters know it poorly from fewer [clusters].
ENOUGH_CLUSTERS = 10


@dataclass(frozen=True, slots=True)
class Grouped:
    """Values by cluster, clusters in the order of their values, so that no result depends on the order of rows.

    Attributes:
        values: all of them, sorted.
        groups: the sorted values of each cluster; None when no cluster has a second value, or all share one.
        is_single: every value belongs to one cluster, of several values.
    """

    values: list[float]
    groups: list[list[float]] | None
    is_single: bool = False

    @property
    def clusters(self) -> int | None:
        """How many clusters there are [count]; None when every value stands alone."""
        return 1 if self.is_single else None if self.groups is None else len(self.groups)

    @property
    def note(self) -> str | None:
        """What to mind about the clusters."""
        if self.is_single:
            return "all values belong to one cluster: the interval speaks of that one alone"
        if self.groups is not None and len(self.groups) < ENOUGH_CLUSTERS:
            return f"only {len(self.groups)} clusters: their spread is poorly known"
        return None


def grouped(values: Sequence[float], clusters: Sequence[Hashable] | None) -> Grouped:
    """`values` by cluster.

    Args:
        values: finite numbers.
        clusters: of each value, the cluster it belongs to; None when every value stands alone.

    Raises:
        StatisticsInputError: a value is not finite, or there are more or fewer clusters than values.
    """
    numbers = checked(values)
    if clusters is None:
        return Grouped(sorted(numbers), None)
    if len(clusters) != len(numbers):
        raise StatisticsInputError(f"{len(numbers)} values came with {len(clusters)} cluster names; name one for each.")
    members: dict[Hashable, list[float]] = {}
    for number, cluster in zip(numbers, clusters, strict=True):
        members.setdefault(cluster, []).append(number)
    if len(members) == len(numbers):
        return Grouped(sorted(numbers), None)
    if len(members) == 1:
        return Grouped(sorted(numbers), None, is_single=True)
    return Grouped(sorted(numbers), sorted(sorted(group) for group in members.values()))


def mean_variance(groups: Sequence[Sequence[float]], center: float) -> float:
    """Variance of the mean over all values, when only clusters are independent [unit of the values, squared].

    k / (k - 1) * sum over clusters of (sum of (x - mean))^2 / n^2; with clusters of one value this is s^2 / n.

    Source: Miller, Adding Error Bars to Evals, https://arxiv.org/abs/2411.00640 (with the usual k / (k - 1)).
    """
    k = len(groups)
    n = sum(len(group) for group in groups)
    return k / (k - 1) * sum((sum(group) - len(group) * center) ** 2 for group in groups) / n**2


def largest_design_effect(groups: Sequence[Sequence[float]]) -> float:
    """How much a variance grows when all values of a cluster are equal: sum of sizes squared / sum of sizes [ratio]."""
    return sum(len(group) ** 2 for group in groups) / sum(len(group) for group in groups)
