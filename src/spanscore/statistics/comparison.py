"""Two variants on the same cases: how much they differ, and whether that can be chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanscore.errors import StatisticsInputError
from spanscore.statistics.distributions import binomial_cdf
from spanscore.statistics.estimates import Interval, checked, mean
from spanscore.statistics.means import percentile_interval
from spanscore.statistics.resampling import members, random_subsets, resampled

# Up to this many cases every assignment of signs is looked at: 4,096 of them [cases].
_EXACT_UP_TO = 12


@dataclass(frozen=True, slots=True)
class Pairs:
    """Cases that both sides have.

    Attributes:
        cases: their names, sorted.
        differences: candidate minus baseline of each, every side the mean of its trials.
        only_baseline: cases that the candidate lacks [count].
        only_candidate: cases that the baseline lacks [count].
    """

    cases: list[str]
    differences: list[float]
    only_baseline: int
    only_candidate: int


def paired(baseline: Mapping[str, Sequence[float]], candidate: Mapping[str, Sequence[float]]) -> Pairs:
    """The two sides matched by case. A case is one pair, however many trials each side has of it.

    Args:
        baseline: per case, the value of each trial; a case without a value does not count.
        candidate: likewise.

    Raises:
        StatisticsInputError: a value is NaN or infinite.
    """
    before = {case: mean(checked(values)) for case, values in baseline.items() if values}
    after = {case: mean(checked(values)) for case, values in candidate.items() if values}
    cases = sorted(before.keys() & after.keys())
    differences = [after[case] - before[case] for case in cases]
    return Pairs(cases, differences, len(before) - len(cases), len(after) - len(cases))


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus baseline over paired cases.

    Attributes:
        value: mean difference, in the unit of the values; None without cases.
        interval: percentile bootstrap over cases; None with fewer than two.
        p_value: of the two-sided sign-flip permutation test; None without cases.
        n: cases [count].
        is_exact: every assignment of signs was looked at, none drawn.
        note: why something is missing.
    """

    value: float | None
    interval: Interval | None
    p_value: float | None
    n: int
    is_exact: bool
    note: str | None = None


def paired_difference(differences: Sequence[float], *, confidence: float, resamples: int, seed: int) -> Difference:
    """The mean difference with a paired bootstrap interval and a sign-flip permutation test.

    Cases are drawn with replacement for the interval. Under the hypothesis that the two sides do not differ, every
    difference could as well have the other sign: p is the share of sign assignments whose mean is at least as far
    from 0 as the one seen. Up to 12 cases all 2^n are looked at; beyond that `resamples` are drawn and p = (hits + 1)
    / (resamples + 1).

    Args:
        differences: candidate minus baseline, one per case.
        confidence: level of the interval [ratio].
        resamples: of the bootstrap, and of the test [count].
        seed: of the random draws.

    Raises:
        StatisticsInputError: a difference is NaN or infinite, or there are too few resamples.

    Source: Efron and Tibshirani 1993, chapters 13 and 15; Phipson and Smyth 2010, https://doi.org/10.2202/1544-6115.1585
    """
    values = sorted(checked(differences))
    n = len(values)
    if n == 0:
        return Difference(None, None, None, 0, is_exact=False, note="no case has a value on both sides")
    p_value, is_exact = _sign_flips(values, resamples=resamples, seed=seed)
    if n == 1:
        return Difference(values[0], None, p_value, 1, is_exact, "one case: it says nothing of others")
    if values[0] == values[-1]:
        return Difference(values[0], None, p_value, n, is_exact, "all cases differ by the same amount")
    means = [math.fsum(drawn) / n for drawn in resampled(values, resamples=resamples, seed=seed)]
    return Difference(mean(values), percentile_interval(means, confidence=confidence), p_value, n, is_exact)


def _sign_flips(values: Sequence[float], *, resamples: int, seed: int) -> tuple[float, bool]:
    # Sums that differ by rounding alone are equal.
    seen = abs(math.fsum(values)) * (1 - 1e-12)
    moved = [abs(value) for value in values if value != 0]
    if len(moved) <= _EXACT_UP_TO:
        sums = [0.0]
        for size in moved:
            sums = [total + sign for total in sums for sign in (size, -size)]
        return sum(abs(total) >= seen for total in sums) / len(sums), True
    whole = math.fsum(moved)
    hits = 0
    for subset in random_subsets(len(moved), resamples=resamples, seed=seed):
        hits += abs(whole - 2 * sum(members(moved, subset))) >= seen
    return (hits + 1) / (resamples + 1), False


@dataclass(frozen=True, slots=True)
class McNemar:
    """Yes-or-no outcomes of the same cases on two sides.

    Attributes:
        only_baseline: cases that succeeded with the baseline alone [count].
        only_candidate: cases that succeeded with the candidate alone [count].
        p_value: two-sided and exact; 1 when no case changed sides.
    """

    only_baseline: int
    only_candidate: int
    p_value: float


def mcnemar(only_baseline: int, only_candidate: int) -> McNemar:
    """McNemar's exact test: of the cases whose outcome changed, did more change one way than a fair coin would?

    p = min(1, 2 P(B <= min(b, c))) with B binomial (b + c, 1/2). Cases with the same outcome on both sides do not
    enter.

    Raises:
        StatisticsInputError: a count is negative.

    Source: McNemar 1947, https://doi.org/10.1007/BF02295996
    """
    if only_baseline < 0 or only_candidate < 0:
        raise StatisticsInputError(f"Counts of cases cannot be {only_baseline} and {only_candidate}.")
    changed = only_baseline + only_candidate
    p_value = min(1.0, 2 * binomial_cdf(min(only_baseline, only_candidate), changed, 0.5)) if changed else 1.0
    return McNemar(only_baseline, only_candidate, p_value)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p values adjusted for having looked at several metrics, by name in the order given.

    In rising order the i-th of m is multiplied by m - i + 1, and none is less than the one before; at most 1. Those
    below 0.05 then hold together: the chance of even one false alarm is at most 5%.

    Raises:
        StatisticsInputError: a p value is not in 0..1.

    Source: Holm 1979, https://www.jstor.org/stable/4615733
    """
    for name, p_value in p_values.items():
        if not 0 <= p_value <= 1:
            raise StatisticsInputError(f"The p value of `{name}` is {p_value}; it must lie between 0 and 1.")
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def intervals_overlap(first: Interval, second: Interval) -> bool:
    """Whether two intervals share a value.

    A rule of thumb, to be labelled as such: intervals that do not overlap differ, but many that overlap do too. Two
    independent 95% intervals that just touch correspond to p of about 0.006, not 0.05, and pairing is ignored.

    Source: Schenker and Gentleman 2001, https://doi.org/10.1198/000313001317097960
    """
    return not (_is_below(first.high, second.low) or _is_below(second.high, first.low))


def _is_below(high: float | None, low: float | None) -> bool:
    return high is not None and low is not None and high < low
