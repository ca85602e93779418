"""Writes the database anew, so that it holds what it says and nothing else.

DuckDB reuses the room of deleted rows but neither shrinks the file nor blanks the pages: what was deleted can be read
from it until something else takes the place.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.errors import StoreError
from spanscore.store.connection import connect_for_writing, database_path
from spanscore.store.directory import store_option, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

COMPACTION_DUE = "compaction_due"
"""Key of `store_meta`: something was purged, and its bytes may still be in the file."""

WAIT_S = 30.0
_SUFFIX = ".compact.tmp"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Size of the database file before and after [bytes]."""

    before: int
    after: int


def compact(directory: Path, *, wait_s: float = WAIT_S) -> Compaction:
    """Copies the database to a new file that takes the place of the old one, all or nothing.

    Needs as much free space as the file is large. The store is held throughout.

    Raises:
        StoreLocked: another process holds the store.
        StoreError: the copy could not be written; the store is as it was.
    """
    import duckdb

    path = database_path(directory)
    copy = path.with_name(path.name + _SUFFIX)
    remove_leftovers(directory)
    connection = connect_for_writing(path, wait_s=wait_s, memory_limit=None, threads=None)
    try:
        _remove_spilled(path)
        connection.execute("checkpoint")
        before = path.stat().st_size
        connection.execute(f"attach '{str(copy).replace(chr(39), chr(39) * 2)}' as compacted")
        connection.execute(f'copy from database "{path.stem}" to compacted')
        connection.execute("delete from compacted.main.store_meta where key = $1", [COMPACTION_DUE])
        connection.execute("checkpoint compacted")
        connection.execute("detach compacted")
        after = _sync(copy)
        wal = path.with_name(f"{path.name}.wal")
        if wal.exists() and wal.stat().st_size:
            raise StoreError(f"`{wal}` is not empty after a checkpoint; the store is left as it is.")
        # The lock is on the old file until the connection closes; whoever gets it then sees that it has lost its name.
        copy.replace(path)
        sync_directory(directory)
    except (duckdb.Error, OSError) as error:
        raise StoreError(
            f"The database `{path}` could not be written anew: {str(error).splitlines()[0]}\n"
            "  It is as it was. Look at the free space, then run:  "
            f"spanscore purge --compact {store_option(directory)}"
        ) from error
    finally:
        connection.close()
        remove_leftovers(directory)
    return Compaction(before, after)


def remove_leftovers(directory: Path) -> None:
    """Deletes what a compaction that was killed has left."""
    path = database_path(directory)
    for leftover in directory.glob(f"{path.name}{_SUFFIX}*"):
        leftover.unlink(missing_ok=True)


def _remove_spilled(path: Path) -> None:
    """Deletes what a process that was killed has spilled; to be called before this one spills anything."""
    folder = path.with_name(f"{path.name}.tmp")
    if folder.is_dir():
        shutil.rmtree(folder)


def _sync(path: Path) -> int:
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size
