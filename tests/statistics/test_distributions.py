"""Quantiles and tails against closed forms, tables and slow sums."""

import math
from statistics import NormalDist

import pytest

from spanscore.errors import StatisticsInputError
from spanscore.statistics.distributions import binomial_cdf, incomplete_beta, t_cdf, t_quantile


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062), (2, 4.30265), (5, 2.57058), (10, 2.22814), (26, 2.05553), (98, 1.98447), (1000, 1.96234)],
)
def test_the_t_quantile_is_that_of_the_tables(degrees, quantile):
    assert t_quantile(0.975, degrees) == pytest.approx(quantile, abs=1e-4)


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.6, 0.975, 0.9999])
def test_the_t_quantile_of_one_and_two_degrees_has_a_closed_form(probability):
    centered = 2 * probability - 1

    assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-9)
    assert t_quantile(probability, 2) == pytest.approx(
        centered * math.sqrt(2 / (4 * probability * (1 - probability))), rel=1e-9
    )


@pytest.mark.parametrize("degrees", [1, 3, 26, 5_000])
@pytest.mark.parametrize("probability", [0.001, 0.2, 0.5, 0.9])
def test_the_t_quantile_inverts_the_distribution(degrees, probability):
    assert t_cdf(t_quantile(probability, degrees), degrees) == pytest.approx(probability, abs=1e-12)


def test_t_becomes_normal():
    assert t_cdf(1.5, 10**7) == pytest.approx(NormalDist().cdf(1.5), abs=1e-6)


@pytest.mark.parametrize(("n", "probability"), [(1, 0.3), (7, 0.05), (40, 0.5), (40, 0.93)])
def test_the_binomial_tail_is_the_sum_of_its_terms(n, probability):
    terms = [math.comb(n, k) * probability**k * (1 - probability) ** (n - k) for k in range(n + 1)]

    for successes in range(-1, n + 2):
        assert binomial_cdf(successes, n, probability) == pytest.approx(sum(terms[: successes + 1]), abs=1e-12)


def test_the_binomial_tail_of_a_million_trials_is_near_the_normal_one():
    assert binomial_cdf(950_217, 10**6, 0.95) == pytest.approx(NormalDist().cdf(217.5 / math.sqrt(47_500)), abs=1e-3)


def test_the_incomplete_beta_function_is_symmetric_and_has_its_ends():
    assert incomplete_beta(0, 2, 3) == 0
    assert incomplete_beta(1, 2, 3) == 1
    assert incomplete_beta(0.2, 2, 3) == pytest.approx(1 - incomplete_beta(0.8, 3, 2))


@pytest.mark.parametrize(("probability", "degrees"), [(0, 5), (1, 5), (0.9, 0)])
def test_a_quantile_that_does_not_exist_is_refused(probability, degrees):
    with pytest.raises(StatisticsInputError, match="no t quantile"):
        t_quantile(probability, degrees)
