"""Draws are kept for the next metric, and taken apart in C: they are the plain ones all the same."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.statistics import paired_difference
from spanscore.statistics.resampling import members, random_subsets, resampled


@pytest.mark.parametrize("n", [1, 2, 3, 40, 999, 1_000, 1_001, 1_500])
def test_the_draws_are_those_of_choices(n: int) -> None:
    values = [math.sqrt(i) for i in range(n)]
    draw = random.Random(7)
    plain = [draw.choices(values, k=n) for _ in range(20)]

    for _ in range(2):
        assert [list(one) for one in resampled(values, resamples=20, seed=7)] == plain


def test_the_same_cases_are_drawn_whatever_is_known_of_them() -> None:
    cases = list(range(50))
    squares = [case**2 for case in cases]
    drawn = zip(
        resampled(cases, resamples=30, seed=1),
        resampled(squares, resamples=30, seed=1),
        strict=True,
    )

    assert all([case**2 for case in some] == list(others) for some, others in drawn)


@given(things=st.lists(st.integers(), max_size=80), subset=st.integers(min_value=0))
def test_members_are_those_whose_bit_is_set(things: list[int], subset: int) -> None:
    subset %= 2 ** len(things)

    assert list(members(things, subset)) == [thing for i, thing in enumerate(things) if subset >> i & 1]


def test_every_thing_is_in_half_of_the_subsets() -> None:
    subsets = list(random_subsets(20, resamples=4_000, seed=3))
    shares = [sum(subset >> i & 1 for subset in subsets) / len(subsets) for i in range(20)]

    # Five standard deviations.
    assert all(abs(share - 0.5) < 5 * math.sqrt(0.25 / 4_000) for share in shares)
    assert len(set(subsets)) > 3_900


def test_a_permutation_test_is_the_plain_one() -> None:
    rng = random.Random(5)
    values = sorted(rng.gauss(0.05, 1) for _ in range(60))
    draw = random.Random(9)
    seen = abs(math.fsum(values)) * (1 - 1e-12)
    moved = [abs(value) for value in values]
    hits = 0
    for _ in range(1_000):
        bits = draw.getrandbits(60)
        hits += abs(sum(-size if bits >> i & 1 else size for i, size in enumerate(moved))) >= seen

    found = paired_difference(values, confidence=0.95, resamples=1_000, seed=9)

    assert found.p_value == (hits + 1) / 1_001
