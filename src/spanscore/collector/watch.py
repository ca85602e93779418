"""Tells whether files have changed, by what the file system says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

Stamp = tuple[tuple[int, int, int] | None, ...]


def stamp(files: Sequence[Path]) -> Stamp:
    """What the file system says of each file: inode, time of change [ns], size [bytes]; None of one that is missing."""
    found: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(found)
