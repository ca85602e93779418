"""Paired differences, McNemar, Holm: against enumeration and published examples."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.errors import StatisticsInputError
from spanscore.statistics import (
    RESAMPLES,
    SEED,
    Interval,
    holm,
    intervals_overlap,
    mcnemar,
    paired,
    paired_difference,
)

DRAWS = {"confidence": 0.95, "resamples": RESAMPLES, "seed": SEED}


def test_a_case_is_one_pair_however_often_it_was_tried():
    pairs = paired({"a": [1, 0], "b": [1], "gone": [1], "empty": []}, {"b": [0, 0, 1], "a": [1], "new": [1]})

    assert pairs.cases == ["a", "b"]
    assert pairs.differences == pytest.approx([0.5, -2 / 3])
    assert (pairs.only_baseline, pairs.only_candidate) == (1, 1)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_the_permutation_test_looks_at_every_assignment_of_signs(differences):
    seen = abs(sum(differences))
    flips = [
        abs(sum(d * sign for d, sign in zip(differences, signs, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    found = paired_difference(differences, **DRAWS)

    assert found.is_exact
    assert found.p_value == pytest.approx(sum(flip >= seen for flip in flips) / len(flips))


def test_drawn_signs_agree_with_the_normal_approximation():
    differences = [1.0] * 26 + [-1.0] * 14
    found = paired_difference(differences, **DRAWS)

    assert not found.is_exact
    # P(|B - 20| >= 6) for B binomial (40, 1/2)
    exact = sum(math.comb(40, k) for k in range(41) if abs(k - 20) >= 6) / 2**40
    assert found.p_value == pytest.approx(exact, abs=0.02)
    assert found.value == pytest.approx(0.3)
    assert found.interval is not None
    assert found.interval.contains(0.3)
    assert found == paired_difference(differences[::-1], **DRAWS)


def test_no_difference_is_no_evidence():
    found = paired_difference([0.0] * 20, **DRAWS)

    assert (found.value, found.p_value, found.interval) == (0.0, 1.0, None)


def test_one_case_and_none():
    assert paired_difference([], **DRAWS).value is None
    one = paired_difference([0.5], **DRAWS)
    assert (one.value, one.interval, one.p_value) == (0.5, None, 1.0)
    with pytest.raises(StatisticsInputError):
        paired_difference([math.nan], **DRAWS)


@pytest.mark.parametrize(
    ("only_baseline", "only_candidate", "p_value"),
    [(0, 0, 1.0), (1, 8, 0.0390625), (8, 1, 0.0390625), (0, 5, 0.0625), (4, 4, 1.0)],
)
def test_mcnemar_is_a_coin(only_baseline, only_candidate, p_value):
    assert mcnemar(only_baseline, only_candidate).p_value == pytest.approx(p_value)


def test_mcnemar_of_a_sign_vector_is_the_permutation_test():
    found = paired_difference([1.0] * 8 + [-1.0] + [0.0] * 4, **DRAWS)

    assert found.p_value == pytest.approx(mcnemar(1, 8).p_value)


def test_holm_steps_down_and_never_rises_above_one():
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})

    assert list(adjusted) == ["a", "b", "c", "d"]
    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}
    with pytest.raises(StatisticsInputError):
        holm({"a": math.nan})


def test_overlap_counts_touching_and_open_ends():
    assert intervals_overlap(Interval(0, 1), Interval(1, 2))
    assert not intervals_overlap(Interval(0, 0.9), Interval(1, 2))
    assert not intervals_overlap(Interval(1, None), Interval(None, 0.5))
    assert intervals_overlap(Interval(1, None), Interval(5, 6))
