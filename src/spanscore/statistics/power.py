"""How small a difference can be seen, and how many cases it takes to see one."""

from __future__ import annotations

import math

from spanscore.errors import StatisticsInputError
from spanscore.statistics.distributions import normal_quantile

_MOST_CASES = 10_000_000


def wald_half_width(share: float, n: int, *, confidence: float) -> float:
    """Half the width of the textbook interval z sqrt(p (1 - p) / n) [ratio]: for planning only.

    It answers "about how large a change can n runs show". It is no interval to report: at 10 of 11 it passes 1, at 0
    of 10 it has no width. Those are Wilson's (`proportion`).
    """
    _check_share(share)
    return normal_quantile((1 + confidence) / 2) * math.sqrt(share * (1 - share) / _at_least_one(n))


def detectable_difference(deviation: float, n: int, *, significance: float, power: float) -> float:
    """The smallest mean difference over n paired cases that a two-sided test finds with `power`, in their unit.

    (z(1 - significance / 2) + z(power)) deviation / sqrt(n).

    Args:
        deviation: standard deviation of the differences between paired cases.
        n: cases [count].
        significance: p value below which a difference counts, such as 0.05.
        power: probability of finding it, such as 0.8.

    Source: Cohen, Statistical Power Analysis, 1988, chapter 2.
    """
    return _reach(significance, power) * _deviation(deviation) / math.sqrt(_at_least_one(n))


def cases_needed(deviation: float, difference: float, *, significance: float, power: float) -> int:
    """How many paired cases show a mean difference of `difference` with `power` [count]; the inverse of the above.

    Raises:
        StatisticsInputError: the difference is 0, or too small for any number of cases.
    """
    if difference == 0:
        raise StatisticsInputError("No number of cases shows a difference of 0.")
    return _whole((_reach(significance, power) * _deviation(deviation) / difference) ** 2)


def detectable_change(share: float, n: int, *, significance: float, power: float) -> float | None:
    """The smallest drop or rise from `share` that two independent groups of n runs show with `power` [ratio].

    The larger of the two when both are possible, so that it holds either way; None when n runs show none.

    Args:
        share: of the first group [ratio 0..1].
        n: runs of each group [count].
        significance: p value below which a difference counts.
        power: probability of finding it.

    Source: Fleiss, Statistical Methods for Rates and Proportions, 1981, chapter 3 (without continuity correction).
    """
    _check_share(share)
    _at_least_one(n)
    found = [
        change
        for room, sign in ((share, -1), (1 - share, 1))
        if (change := _smallest_change(share, sign, room, n, significance=significance, power=power)) is not None
    ]
    return max(found, default=None)


def runs_needed(first: float, second: float, *, significance: float, power: float) -> int:
    """How many independent runs of each of two variants tell a share of `first` from one of `second` [count].

    ((z(1 - a/2) sqrt(2 m (1 - m)) + z(power) sqrt(p (1 - p) + q (1 - q))) / (p - q))^2 with m = (p + q) / 2.

    Raises:
        StatisticsInputError: the shares are equal, or not in 0..1.

    Source: Fleiss, Statistical Methods for Rates and Proportions, 1981, chapter 3 (without continuity correction).
    """
    _check_share(first)
    _check_share(second)
    if first == second:
        raise StatisticsInputError("No number of runs tells a share from itself.")
    middle = (first + second) / 2
    chance = normal_quantile(1 - significance / 2) * math.sqrt(2 * middle * (1 - middle))
    truth = normal_quantile(power) * math.sqrt(first * (1 - first) + second * (1 - second))
    return _whole(((chance + truth) / (first - second)) ** 2)


def _smallest_change(
    share: float, sign: int, room: float, n: int, *, significance: float, power: float
) -> float | None:
    low, high = 0.0, room
    if room == 0 or runs_needed(share, share + sign * room, significance=significance, power=power) > n:
        return None
    while high - low > 1e-6:
        middle = (low + high) / 2
        if runs_needed(share, share + sign * middle, significance=significance, power=power) > n:
            low = middle
        else:
            high = middle
    return high


def _reach(significance: float, power: float) -> float:
    return normal_quantile(1 - significance / 2) + normal_quantile(power)


def _whole(number: float) -> int:
    if number > _MOST_CASES:
        raise StatisticsInputError(
            f"More than {_MOST_CASES:,} would be needed: the difference is too small to be seen."
        )
    return max(1, math.ceil(number - 1e-9))


def _at_least_one(n: int) -> int:
    if n < 1:
        raise StatisticsInputError(f"{n} runs or cases show nothing.")
    return n


def _deviation(deviation: float) -> float:
    if not 0 <= deviation < math.inf:
        raise StatisticsInputError(f"A standard deviation is a number of 0 or more, and this is {deviation}.")
    return deviation


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise StatisticsInputError(f"A share lies between 0 and 1, and this is {share}.")
