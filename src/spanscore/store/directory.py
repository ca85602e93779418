"""The directory of a store, which whoever comes first makes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spanscore.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


def make_directory(directory: Path) -> None:
    """Makes a directory of a store, for its owner only, where there is none.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The store directory `{directory}` cannot be made: {error.strerror}.\n  Name another one with --store."
        ) from error


def sync_directory(directory: Path) -> None:
    """Makes the names in a directory durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
