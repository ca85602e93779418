"""Repeats of a task: does it succeed at least once, does it succeed every time, does it do the same every time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from spanscore.errors import StatisticsInputError


@dataclass(frozen=True, slots=True)
class Repeats:
    """Repeats of one task: how many there were, and how many succeeded [count]."""

    successes: int
    trials: int


@dataclass(frozen=True, slots=True)
class RepeatRate:
    """A figure over tasks that were repeated.

    Attributes:
        value: mean over tasks [ratio 0..1]; None when no task has enough trials.
        k: trials that the figure speaks of [count].
        tasks: tasks that it rests on [count].
        left_out: tasks with fewer than k trials [count].
    """

    value: float | None
    k: int
    tasks: int
    left_out: int


def pass_at_k(tasks: Sequence[Repeats], *, k: int) -> RepeatRate:
    """The probability that at least one of k trials of a task succeeds, averaged over tasks.

    1 - C(n - c, k) / C(n, k) for c successes in n trials: unbiased, unlike 1 - (1 - c/n)^k.

    Raises:
        StatisticsInputError: k is less than 1, or there are more successes than trials.

    Source: Chen et al. 2021, https://arxiv.org/abs/2107.03374
    """
    return _averaged(tasks, k, lambda task: 1 - math.comb(task.trials - task.successes, k) / math.comb(task.trials, k))


def pass_hat_k(tasks: Sequence[Repeats], *, k: int) -> RepeatRate:
    """The probability that k trials of a task all succeed, averaged over tasks.

    C(c, k) / C(n, k) for c successes in n trials: unbiased, unlike (c/n)^k.

    Raises:
        StatisticsInputError: k is less than 1, or there are more successes than trials.

    Source: tau-bench, https://arxiv.org/abs/2406.12045
    """
    return _averaged(tasks, k, lambda task: math.comb(task.successes, k) / math.comb(task.trials, k))


def _averaged(tasks: Sequence[Repeats], k: int, rate: Callable[[Repeats], float]) -> RepeatRate:
    if k < 1:
        raise StatisticsInputError(f"k is {k}; it counts trials, so it is 1 or more.")
    for task in tasks:
        if not 0 <= task.successes <= task.trials:
            raise StatisticsInputError(f"{task.successes} successes in {task.trials} trials cannot be.")
    enough = [task for task in tasks if task.trials >= k]
    value = math.fsum(rate(task) for task in enough) / len(enough) if enough else None
    return RepeatRate(value, k, len(enough), len(tasks) - len(enough))


def flaky(outcomes: Mapping[str, Sequence[Hashable]]) -> list[str]:
    """The names of the tasks whose trials did not all end alike, sorted.

    Args:
        outcomes: per task, what each trial did, in any form that can be compared: success, or the set of tools used.
    """
    return sorted(task for task, seen in outcomes.items() if len(set(seen)) > 1)
