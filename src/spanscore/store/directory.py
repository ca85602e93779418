"""The directory of a store, which whoever comes first makes."""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import TYPE_CHECKING

from spanscore.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def store_option(directory: Path | str) -> str:
    """The option that names the store, as a command that is shown to a user to be run must have it."""
    return f"--store {shlex.quote(str(directory))}"


def spool_bytes(directory: Path) -> int:
    """How much the spool of the store in `directory` keeps [bytes]; 0 where there is no spool.

    A segment stays a while after it has been loaded, so what is kept may be in the store, too.
    """
    try:
        return sum(sizes_of((directory / "spool").glob("*.spool")))
    except OSError:
        return 0


def sizes_of(files: Iterable[Path]) -> list[int]:
    """The sizes of those that are still there [bytes]: a collector deletes segments while others look at them."""
    sizes = []
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            sizes.append(file.stat().st_size)
    return sizes


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
