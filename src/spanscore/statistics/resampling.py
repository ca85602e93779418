"""Draws with replacement, and random subsets, for bootstraps and permutation tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from operator import itemgetter
from typing import Any, TypeVar

T = TypeVar("T")

_AS_NUMBERS = bytes.maketrans(b"01", b"\0\1")
# A thousand draws from so many values take 8 MB [count].
_KEPT_UP_TO = 1_000


def resampled(values: Sequence[T], *, resamples: int, seed: int) -> Iterator[Sequence[T]]:
    """As many values as there are, drawn with replacement, `resamples` times.

    The draws depend on the number of values alone: where something else is known of the same cases, the same cases
    are drawn for it.
    """
    n = len(values)
    if 2 <= n <= _KEPT_UP_TO:
        for pick in _picks(n, resamples, seed):
            yield pick(values)
        return
    draw = random.Random(seed)  # noqa: S311 a reproducible draw is the point
    for _ in range(resamples):
        yield draw.choices(values, k=n)


# An analysis resamples many metrics of the same cases: drawing takes most of the time, and is done for the first alone.
@lru_cache(maxsize=12)
def _picks(n: int, resamples: int, seed: int) -> tuple[Callable[[Sequence[Any]], tuple[Any, ...]], ...]:
    draw = random.Random(seed)  # noqa: S311 a reproducible draw is the point
    places = list(range(n))
    return tuple(itemgetter(*draw.choices(places, k=n)) for _ in range(resamples))


def random_subsets(n: int, *, resamples: int, seed: int) -> Iterator[int]:
    """Subsets of n things, each as likely as any other, as numbers: bit i is set where thing i is in."""
    draw = random.Random(seed)  # noqa: S311 a reproducible draw is the point
    return (draw.getrandbits(n) for _ in range(resamples))


def members(things: Sequence[T], subset: int) -> Iterable[T]:
    """The things whose bit is set in `subset`, in their order."""
    bits = format(subset, f"0{len(things)}b").encode().translate(_AS_NUMBERS)
    return compress(things, reversed(bits))
