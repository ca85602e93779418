"""Numbers and times as a person reads them. None is unknown and shown as a dash, never as 0."""

from collections.abc import Iterable
from itertools import pairwise, takewhile

from spanscore.wording import UNKNOWN, agreeing, counted

__all__ = [
    "UNKNOWN",
    "agreeing",
    "count",
    "counted",
    "duration",
    "ratio",
    "short_ids",
    "size",
    "usd",
    "when",
]

_SHORT_ID = 8
_TRACE_ID = 32


def count(value: int | None) -> str:
    """A whole number with thousands separated."""
    return UNKNOWN if value is None else f"{value:,}"


def duration(seconds: float | None) -> str:
    """A duration [s] with the unit that suits its size."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def usd(value: float | None, unpriced: int | None = None) -> str:
    """An amount [USD]; `unpriced` calls have no known price and stand beside it: the amount is then a lower bound."""
    if value is None:
        amount = UNKNOWN
    elif value == 0:
        amount = "$0"
    elif abs(value) < 0.01:
        amount = f"${value:.6f}"
    elif abs(value) < 1:
        amount = f"${value:.4f}"
    else:
        amount = f"${value:,.2f}"
    return f"{amount} +{unpriced}?" if unpriced else amount


def ratio(value: float | None) -> str:
    """A share [0..1] as a percentage."""
    return UNKNOWN if value is None else f"{100 * value:.0f}%"


def size(n_bytes: int | None) -> str:
    """A size in bytes with a decimal unit."""
    if n_bytes is None:
        return UNKNOWN
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def when(moment: str | None) -> str:
    """A moment (ISO 8601, UTC) to the second."""
    return UNKNOWN if moment is None else moment[:19].replace("T", " ")


def short_ids(identifiers: Iterable[str]) -> dict[str, str]:
    """For each id as many of its first characters as tell it from the others, and 8 at least.

    That is enough for `spanscore trace`, which takes any unambiguous beginning. Ids that begin with a time share more.
    All are cut alike, but for runs that share a trace: their ids differ behind its id.
    """
    known = sorted(set(identifiers))
    needed = dict.fromkeys(known, _SHORT_ID)
    for one, other in pairwise(known):
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))) + 1
        needed[one], needed[other] = max(needed[one], shared), max(needed[other], shared)
    most = max((length for length in needed.values() if length <= _TRACE_ID), default=_SHORT_ID)
    return {one: one[: max(length, most)] for one, length in needed.items()}
