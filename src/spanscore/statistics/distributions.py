"""Quantiles and tails of the normal, t and binomial distributions.

All of them rest on the regularised incomplete beta function, computed with Lentz's continued fraction.
Source: Press et al., Numerical Recipes, 3rd edition, 6.4; NIST DLMF 8.17.22, https://dlmf.nist.gov/8.17
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from spanscore.errors import StatisticsInputError

_TINY = 1e-300
_PRECISION = 1e-15
# The fraction needs some multiple of the root of its larger parameter; this is enough for a billion values.
_MOST_STEPS = 200_000


@lru_cache(maxsize=64)
def normal_quantile(probability: float) -> float:
    """The value below which a standard normal variable falls with `probability` (0 < probability < 1)."""
    return NormalDist().inv_cdf(probability)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for 0 <= x <= 1 and a, b > 0."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The fraction converges quickly on this side of the mean; the other side follows from symmetry.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    numerator = 1.0
    denominator = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    result = denominator
    for step in range(1, _MOST_STEPS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / _away_from_zero(1 + term * denominator)
            numerator = _away_from_zero(1 + term / numerator)
            result *= numerator * denominator
        if abs(numerator * denominator - 1) < _PRECISION:
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_cdf(value: float, degrees: float) -> float:
    """The probability that Student's t with `degrees` of freedom is at most `value`.

    P(T <= t) = 1 - I_x(degrees / 2, 1/2) / 2 with x = degrees / (degrees + t^2), for t >= 0.
    """
    tail = incomplete_beta(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
    return tail if value < 0 else 1 - tail


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """The value below which Student's t with `degrees` of freedom (>= 1) falls with `probability`.

    Raises:
        StatisticsInputError: there is no such value.
    """
    if not 0 < probability < 1 or degrees < 1:
        raise StatisticsInputError(f"There is no t quantile for probability {probability} and {degrees} degrees.")
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 2.0
    while t_cdf(high, degrees) < probability:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def binomial_cdf(successes: int, n: int, probability: float) -> float:
    """The probability of at most `successes` in `n` independent trials of `probability`."""
    if successes < 0:
        return 0.0
    if successes >= n:
        return 1.0
    return incomplete_beta(1 - probability, n - successes, successes + 1)
