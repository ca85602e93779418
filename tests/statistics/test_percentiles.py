"""Percentiles: the definition by name, published values, and intervals that hold whatever the distribution."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import LATENCY_S, TASKS

from spanscore.errors import StatisticsInputError
from spanscore.statistics import median, nearest_rank, percentile


def at(values, level):
    return percentile(values, level, confidence=0.95).value


def test_the_published_tail():
    assert at(LATENCY_S, 0.5) == 2.7
    assert at(LATENCY_S, 0.95) == 12.4
    assert at(LATENCY_S, 1) == 41.0
    assert median(LATENCY_S, confidence=0.95).value == 2.75
    assert at([task[2] for task in TASKS], 0.95) == 5200


def test_no_rank_is_off_by_one():
    hundred = range(1, 101)

    assert [at(hundred, level) for level in (0.5, 0.95, 0.99)] == [50, 95, 99]
    assert at(range(20), 0.95) == 18
    assert at([5] * 96 + [1500] * 6, 0.95) == 1500


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.integers(1, 100))
def test_nearest_rank_is_its_definition(values, percent):
    """The smallest value with at least that share of the values at or below it; shares compared as whole numbers."""
    expected = min(value for value in values if 100 * sum(other <= value for other in values) >= percent * len(values))

    assert at(values, percent / 100) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_the_median_is_interpolated(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    expected = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    assert median(values, confidence=0.95).value == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("n", [5, 20, 99])
def test_the_interval_covers_at_least_what_it_says(level, n):
    """The exact coverage of ranks (l, u) is P(l <= B <= u - 1) with B binomial, whatever the distribution."""
    interval = percentile(range(1, n + 1), level, confidence=0.95).interval
    assert interval is not None
    low = 0 if interval.low is None else int(interval.low)
    high = n + 1 if interval.high is None else int(interval.high)
    held = sum(math.comb(n, k) * level**k * (1 - level) ** (n - k) for k in range(low, high))

    assert held >= 0.95


def test_few_values_cannot_bound_their_tail_and_say_so():
    twenty, nineteen = percentile(LATENCY_S, 0.95, confidence=0.95), percentile(LATENCY_S[1:], 0.95, confidence=0.95)

    assert twenty.interval is not None
    assert twenty.interval.high is None
    assert twenty.note is None
    assert nineteen.value == 41.0
    assert nineteen.note == "p95 of 19 values is the largest one"
    assert percentile([3.0], 0.95, confidence=0.95).note == "p95 of 1 value is the largest one"


def test_clusters_widen_the_interval():
    draw = random.Random(7)
    cases = [draw.gauss(0, 1) for _ in range(40)]
    values = [case + draw.gauss(0, 0.05) for case in cases for _ in range(5)]
    names = [index // 5 for index in range(200)]
    plain, clustered = median(values, confidence=0.95), median(values, clusters=names, confidence=0.95)

    assert plain.interval is not None
    assert clustered.interval is not None
    assert clustered.value == plain.value
    assert clustered.method == "cluster_order_statistic"
    assert clustered.interval.high - clustered.interval.low > 1.25 * (plain.interval.high - plain.interval.low)


def test_a_clustered_median_is_held_by_its_interval_often_enough():
    draw = random.Random(11)
    held = 0
    for _ in range(300):
        cases = [draw.gauss(0, 1) for _ in range(30)]
        values = [0.8 * case + 0.6 * draw.gauss(0, 1) for case in cases for _ in range(3)]
        interval = median(values, clusters=[index // 3 for index in range(90)], confidence=0.95).interval
        assert interval is not None
        held += interval.contains(0)

    assert 0.91 <= held / 300 <= 0.99


def test_nothing_and_nan():
    assert percentile([], 0.95, confidence=0.95).value is None
    assert median([], confidence=0.95).note == "no values"
    with pytest.raises(StatisticsInputError):
        percentile([1.0, math.nan], 0.5, confidence=0.95)
    with pytest.raises(StatisticsInputError):
        nearest_rank(1.1, 5)
