"""Means: t, clustered t and the bootstrap, against slow definitions and published values."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import LATENCY_S, TASKS

from spanscore.errors import StatisticsInputError
from spanscore.statistics import RESAMPLES, SEED, bootstrap_mean, t_mean
from spanscore.statistics.distributions import t_quantile

numbers = st.floats(-1e6, 1e6)


def test_the_mean_of_a_tail_is_published():
    estimate = t_mean(LATENCY_S, confidence=0.95)

    assert estimate.value == pytest.approx(5.33)
    assert estimate.interval is not None
    # scipy.stats.ttest_1samp(…).confidence_interval()
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((1.2341216710, 9.4258783290))


def test_published_means_of_ten_tasks():
    assert t_mean([task[2] for task in TASKS], confidence=0.95).value == 2220.0
    assert t_mean([task[3] for task in TASKS], confidence=0.95).value == pytest.approx(0.00227)
    assert t_mean([task[1] for task in TASKS], confidence=0.95).value == 0.8


@given(st.lists(numbers, min_size=2, max_size=30))
def test_t_is_what_the_textbook_says(values):
    estimate = t_mean(values, confidence=0.9)
    if min(values) == max(values):
        assert estimate.interval is None
        return
    half = t_quantile(0.95, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))

    assert estimate.interval is not None
    assert estimate.interval.high - estimate.value == pytest.approx(half, rel=1e-6, abs=1e-9)


@given(st.lists(st.tuples(numbers, st.integers(0, 3)), min_size=4, max_size=20))
def test_clustered_t_is_the_sum_over_pairs_of_one_cluster(rows):
    """The variance of the mean written as a double sum over all pairs of values that share a cluster."""
    values, names = [value for value, _ in rows], [name for _, name in rows]
    estimate = t_mean(values, clusters=names, confidence=0.95)
    k, n = len(set(names)), len(values)
    if estimate.method != "cluster_t":
        return
    center = sum(values) / n
    pairs = sum((one - center) * (other - center) for one, first in rows for other, second in rows if first == second)
    half = t_quantile(0.975, k - 1) * math.sqrt(max(0.0, k / (k - 1) * pairs) / n**2)

    assert estimate.interval is not None
    assert estimate.interval.high - center == pytest.approx(half, rel=1e-5, abs=1e-3)
    assert estimate.clusters == k


def test_repeats_that_always_agree_count_once():
    once = t_mean([1, 2, 4, 9], confidence=0.95)
    thrice = t_mean([1, 2, 4, 9] * 3, clusters=list("abcd") * 3, confidence=0.95)

    assert thrice.interval is not None
    assert once.interval is not None
    assert thrice.interval.low == pytest.approx(once.interval.low)
    assert (thrice.n, thrice.clusters, thrice.method) == (12, 4, "cluster_t")


@pytest.mark.parametrize(
    ("values", "value", "note"),
    [([], None, "no values"), ([3.5], 3.5, "one value"), ([2.0] * 5, 2.0, "all values are equal")],
)
def test_without_spread_there_is_a_figure_and_no_interval(values, value, note):
    for estimate in (
        t_mean(values, confidence=0.95),
        bootstrap_mean(values, confidence=0.95, resamples=RESAMPLES, seed=SEED),
    ):
        assert (estimate.value, estimate.interval, estimate.method) == (value, None, None)
        assert note in str(estimate.note)


def test_what_was_not_measured_is_refused_with_what_to_do():
    with pytest.raises(StatisticsInputError, match="Value 2 of 3 is nan"):
        t_mean([0.8, math.nan, 0.9], confidence=0.95)
    assert t_mean([0.8, 0.9], confidence=0.95).value == pytest.approx(0.85)


def test_the_bootstrap_is_seeded_and_blind_to_order():
    options = {"confidence": 0.95, "resamples": RESAMPLES, "seed": SEED}
    estimate = bootstrap_mean(LATENCY_S, **options)

    assert bootstrap_mean(LATENCY_S[::-1], **options) == estimate
    assert bootstrap_mean(LATENCY_S, **{**options, "seed": SEED + 1}) != estimate
    assert estimate.interval is not None
    assert 2.5 < estimate.interval.low < 5.33 < estimate.interval.high < 12


def test_the_bootstrap_of_two_values_is_known_exactly():
    """Resampled means of (0, 1) are 0, 1/2, 1 with probabilities 1/4, 1/2, 1/4: 95% takes them all, 40% the middle."""
    wide = bootstrap_mean([0, 1], confidence=0.95, resamples=RESAMPLES, seed=SEED).interval
    narrow = bootstrap_mean([0, 1], confidence=0.4, resamples=RESAMPLES, seed=SEED).interval

    assert wide is not None
    assert narrow is not None
    assert (wide.low, wide.high) == (0, 1)
    assert (narrow.low, narrow.high) == (0.5, 0.5)


def test_the_clustered_bootstrap_draws_whole_clusters():
    values, names = [0, 0, 0, 1, 1, 1], ["a", "a", "a", "b", "b", "b"]
    narrow = bootstrap_mean(values, clusters=names, confidence=0.4, resamples=RESAMPLES, seed=SEED)

    assert narrow.method == "cluster_bootstrap"
    assert narrow.interval is not None
    assert (narrow.interval.low, narrow.interval.high) == (0.5, 0.5)


def test_too_few_resamples_are_refused():
    with pytest.raises(StatisticsInputError, match="too few"):
        bootstrap_mean([1, 2], confidence=0.95, resamples=10, seed=SEED)
