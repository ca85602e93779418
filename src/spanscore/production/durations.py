"""Lengths of time as people write them: `90s`, `5m`, `1h`, `7d`."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"(?P<n>\d+(?:\.\d+)?)\s*(?P<unit>s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def seconds(text: str) -> float | None:
    """The length that `text` means [s]; None when it is none, or no time at all."""
    match = _LENGTH.fullmatch(text.strip())
    if match is None:
        return None
    length = float(match["n"]) * _SECONDS[match["unit"]]
    return length if length > 0 else None
