"""Wilson's interval, alone, with scores between 0 and 1, and with clusters."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.errors import StatisticsInputError
from spanscore.statistics import proportion, share, wald_half_width, wilson_interval

Z = 1.959963984540054


def wilson_by_search(successes: int, n: int) -> tuple[float, float]:
    """The shares from which the one seen is at most z standard errors away, by bisection of that definition."""
    seen = successes / n

    def edge(inside: float, outside: float) -> float:
        for _ in range(100):
            middle = (inside + outside) / 2
            if abs(seen - middle) <= Z * math.sqrt(middle * (1 - middle) / n):
                inside = middle
            else:
                outside = middle
        return inside

    return edge(seen, 0.0), edge(seen, 1.0)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (10, 11, 0.6226, 0.9838),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
        (19, 20, 0.7639, 0.9911),
    ],
)
def test_published_intervals(successes, n, low, high):
    estimate = proportion(successes, n, confidence=0.95)

    assert estimate.interval is not None
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((low, high), abs=5e-5)
    assert estimate.method == "wilson"


def test_nothing_has_no_share_and_says_why():
    for estimate in (proportion(0, 0, confidence=0.95), share([], confidence=0.95)):
        assert (estimate.value, estimate.interval, estimate.n, estimate.note) == (None, None, 0, "no values")


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_what_its_definition_says(counts):
    successes, n = counts
    interval = wilson_interval(successes / n, n, confidence=0.95)

    assert (interval.low, interval.high) == pytest.approx(wilson_by_search(successes, n), abs=1e-9)
    assert interval.contains(successes / n)


def test_the_textbook_interval_is_for_planning_only():
    assert wald_half_width(22 / 27, 27, confidence=0.95) == pytest.approx(0.1465, abs=5e-5)
    assert wald_half_width(0.91, 100, confidence=0.95) == pytest.approx(0.056, abs=5e-4)
    assert 10 / 11 - wald_half_width(10 / 11, 11, confidence=0.95) == pytest.approx(0.739, abs=5e-4)
    assert 19 / 20 + wald_half_width(19 / 20, 20, confidence=0.95) == pytest.approx(1.0455, abs=5e-5)


def test_independent_yes_and_no_are_plain_wilson():
    mixed = share([True, False, True, True], confidence=0.95)

    assert mixed == proportion(3, 4, confidence=0.95)
    assert share([1, 0, 1, 1], clusters=["a", "b", "c", "d"], confidence=0.95) == mixed


def test_scores_between_0_and_1_tell_more_than_yes_and_no_of_the_same_mean():
    scores = share([0.5, 0.75] * 8, confidence=0.95)
    plain = wilson_interval(0.625, 16, confidence=0.95)

    assert scores.method == "wilson_effective_n"
    assert scores.interval is not None
    assert plain.low < scores.interval.low < 0.625 < scores.interval.high < plain.high


def test_scores_that_are_all_equal_still_leave_doubt():
    perfect = share([1.0] * 27, confidence=0.95)
    half = share([0.5] * 10, confidence=0.95)

    assert perfect.interval == wilson_interval(1.0, 27, confidence=0.95)
    assert half.interval == wilson_interval(0.5, 10, confidence=0.95)


def test_repeats_that_always_agree_count_once():
    values = [1, 1, 1, 0, 0, 0] * 10
    estimate = share(values, clusters=[index // 3 for index in range(60)], confidence=0.95)

    assert (estimate.method, estimate.clusters, estimate.n) == ("cluster_wilson", 20, 60)
    assert estimate.interval == wilson_interval(0.5, 20, confidence=0.95)


def test_repeats_that_differ_as_much_as_cases_widen_nothing():
    estimate = share([1, 0, 1, 0] * 15, clusters=[index // 4 for index in range(60)], confidence=0.95)

    assert estimate.interval == wilson_interval(0.5, 60, confidence=0.95)


def test_all_repeats_alike_counts_cases_and_one_case_counts_trials():
    many = share([1] * 30, clusters=[index // 3 for index in range(30)], confidence=0.95)
    one = share([1] * 8 + [0] * 2, clusters=["only"] * 10, confidence=0.95)

    assert many.interval == wilson_interval(1.0, 10, confidence=0.95)
    assert one.interval == wilson_interval(0.8, 10, confidence=0.95)
    assert one.note is not None
    assert "one cluster" in one.note


def test_few_clusters_are_named():
    assert "only 3 clusters" in str(share([1, 0, 1, 1, 0, 0], clusters=[1, 1, 2, 2, 3, 3], confidence=0.95).note)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_clusters_never_narrow_and_order_does_not_matter(rows):
    values, names = [value for value, _ in rows], [name for _, name in rows]
    clustered = share(values, clusters=names, confidence=0.95)
    plain = share(values, confidence=0.95)

    assert clustered.interval is not None
    assert plain.interval is not None
    assert clustered.interval.low <= plain.interval.low + 1e-12
    assert clustered.interval.high >= plain.interval.high - 1e-12
    assert share(values[::-1], clusters=names[::-1], confidence=0.95) == clustered


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, -0.1])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(StatisticsInputError):
        share([0.5, value], confidence=0.95)


def test_impossible_counts_levels_and_clusters_are_refused():
    with pytest.raises(StatisticsInputError):
        proportion(3, 2, confidence=0.95)
    with pytest.raises(StatisticsInputError):
        proportion(1, 2, confidence=95)
    with pytest.raises(StatisticsInputError):
        share([1, 0], clusters=["a"], confidence=0.95)
