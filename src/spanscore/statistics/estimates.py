"""What every estimate of this room gives back, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanscore.errors import StatisticsInputError


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval. An end that is None is open: there is too little data to bound that side."""

    low: float | None
    high: float | None

    def contains(self, value: float) -> bool:
        """Whether `value` lies in the interval, ends included."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what it rests on.

    Attributes:
        value: the figure, in the unit of the values; None when there are no values.
        interval: None when there is nothing to make one from; `note` says why.
        method: how the interval was made, such as `wilson` or `cluster_t`; None without an interval.
        n: values that it rests on [count].
        clusters: groups of values that belong together [count]; None when every value stands alone.
        note: why something is missing, or what to mind; None when there is nothing to say.
    """

    value: float | None
    interval: Interval | None
    method: str | None
    n: int
    clusters: int | None = None
    note: str | None = None


NO_VALUES = "no values"


def nothing() -> Estimate:
    """The estimate of no values."""
    return Estimate(None, None, None, 0, note=NO_VALUES)


def checked(values: Iterable[float]) -> list[float]:
    """`values` as floats.

    Raises:
        StatisticsInputError: one is NaN or infinite. Leave out what was not measured, and count it.
    """
    numbers = [float(value) for value in values]
    for index, number in enumerate(numbers):
        if not math.isfinite(number):
            raise StatisticsInputError(
                f"Value {index + 1} of {len(numbers)} is {number}: a figure is made of finite numbers only.\n"
                "  Leave out what was not measured, and report how many were left out."
            )
    return numbers


def checked_confidence(confidence: float) -> float:
    """`confidence`, which must lie between 0 and 1.

    Raises:
        StatisticsInputError: it does not.
    """
    if not 0 < confidence < 1:
        raise StatisticsInputError(f"A confidence level lies between 0 and 1, and this is {confidence}. Usual is 0.95.")
    return confidence


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value, without the loss of digits of a running sum."""
    return math.fsum(values) / len(values)
