"""Which traces a sample takes: by their ids, so that every machine and every pass take the same ones."""

from __future__ import annotations

from fractions import Fraction


def sample_below(share: float) -> str | None:
    """The bound of a sample: a trace is in it when the MD5 of its id (32 lower-case hex digits) is less.

    What a small share takes a larger one takes too.

    Args:
        share: of traces [ratio 0..1].

    Returns:
        None for all of them.
    """
    return None if share >= 1 else f"{int(Fraction(share) * 16**32):032x}"
