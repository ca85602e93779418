"""Whether the files of the archive are there and as they were written; without a look at their rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store.archive.files import ArchiveFile
from spanscore.store.connection import DEFAULT_WAIT_S, connect_for_reading
from spanscore.store.directory import store_option
from spanscore.store.session import require_store
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BLOCK = 1 << 20
_NAMED = 20


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file of the archive that is not as it was written, and in what way."""

    file: ArchiveFile
    problem: str

    @property
    def is_there(self) -> bool:
        """Whether there is any file at all."""
        return self.problem != MISSING


@dataclass(frozen=True, slots=True)
class ArchiveCheck:
    """What a look at the archive came to.

    Attributes:
        files, size: that are listed [count, bytes].
        is_whole: whether every byte was read; otherwise the sizes alone were compared.
        damaged: the files that are missing or damaged.
    """

    files: int
    size: int
    is_whole: bool
    damaged: list[DamagedFile]


MISSING = "missing"


def check_archive(
    directory: Path, *, is_whole: bool = False, on_bytes: Callable[[int, int], None] | None = None
) -> ArchiveCheck:
    """Compares the files of the archive with their list. The store is held only while the list is read.

    Args:
        directory: of the store.
        is_whole: whether to read every byte and compare the SHA-256, and not the size alone.
        on_bytes: told (bytes read, bytes in all).

    Raises:
        StoreMissing, StoreLocked, StoreDamaged, …: the list cannot be read.
    """
    listed = _listed(directory)
    size = sum(file.size for file in listed)
    read = 0

    def on_block(n_bytes: int) -> None:
        nonlocal read
        read += n_bytes
        if on_bytes is not None:
            on_bytes(read, max(size, read))

    found = [
        DamagedFile(file, problem)
        for file in listed
        if (problem := _problem(directory, file, on_block if is_whole else None)) is not None
    ]
    if found:
        # An archiving beside may have written a part anew meanwhile, and deleted its old files.
        still = {file.path for file in _listed(directory)}
        found = [one for one in found if one.file.path in still]
    return ArchiveCheck(len(listed), size, is_whole, found)


def describe_damage(directory: Path, damaged: list[DamagedFile]) -> str:
    """What is wrong with the archive, file by file, and what to do, for a person."""
    lines = [
        f"  {directory / one.file.path}: {one.problem} ({counted(one.file.rows, 'row')} of `{one.file.table}`)"
        for one in damaged[:_NAMED]
    ]
    if len(damaged) > _NAMED:
        lines.append(f"  and {len(damaged) - _NAMED} more")
    return (
        f"The archive has files that are missing or damaged ({len(damaged)}); their rows are nowhere else:\n"
        + "\n".join(lines)
        + "\n  Restore them from a backup of the store directory. Where there is none, give them up (what they held is "
        f"named, damaged files are put aside, and the store can be read again):  spanscore doctor --repair "
        f"{store_option(directory)}"
    )


def _listed(directory: Path) -> list[ArchiveFile]:
    path = require_store(directory)
    connection = connect_for_reading(path, wait_s=DEFAULT_WAIT_S, timeout_s=None, memory_limit=None, threads=None)
    try:
        if not connection.execute("select 1 from duckdb_tables() where table_name = 'archive_files'").fetchall():
            # A store of a version that had no archive, or something else: whoever reads more of it says so.
            return []
        rows = connection.execute(
            "select table_name, path, row_count, bytes, sha256 from archive_files order by path"
        ).fetchall()
    finally:
        connection.close()
    return [ArchiveFile(*row) for row in rows]


def _problem(directory: Path, file: ArchiveFile, on_block: Callable[[int], None] | None) -> str | None:
    path = directory / file.path
    try:
        size = path.stat().st_size
        if size != file.size:
            return f"{size} bytes of {file.size}"
        if on_block is None:
            return None
        digest = hashlib.sha256()
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
                on_block(len(block))
    except FileNotFoundError:
        return MISSING
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if digest.hexdigest() == file.sha256 else "other bytes than were written"
