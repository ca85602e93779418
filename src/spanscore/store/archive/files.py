"""Files of the archive: where they lie, and how one comes to be there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import StoreDamaged, StoreError
from spanscore.store.directory import make_directory, store_option, sync_directory

if TYPE_CHECKING:
    import datetime as dt

    import duckdb

ARCHIVE_FOLDER = "archive"

RAW_TABLES = ("spans", "span_events", "span_links", "log_records")
"""Tables whose rows of old traces move to the archive; the trajectory stays in the database."""

STORED_AS = {
    "spans": "attribute_pairs(attributes) as attributes",
    "span_events": "attribute_pairs(attributes) as attributes",
    "span_links": "attribute_pairs(attributes) as attributes",
    "log_records": "any_value_of(body) as body, attribute_pairs(attributes) as attributes",
}
"""Raw table -> what is written in the place of columns that Parquet cannot hold."""

READ_AS = {
    "spans": "attribute_map(attributes) as attributes",
    "span_events": "attribute_map(attributes) as attributes",
    "span_links": "attribute_map(attributes) as attributes",
    "log_records": "variant_value(body) as body, attribute_map(attributes) as attributes",
}
"""Raw table -> the way back, exactly."""

# Large enough to compress well; a row group is read whole when one of its traces is looked for.
ROW_GROUP_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """One file of a part: row of `archive_files`; `path` is relative to the store directory."""

    table: str
    path: str
    rows: int
    size: int
    sha256: str


def store_directory(connection: duckdb.DuckDBPyConnection) -> Path:
    """The directory of the store that the connection has open.

    Raises:
        StoreError: it is a store in memory, which has no archive.
    """
    rows = connection.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()
    if not rows or rows[0][0] is None:
        raise StoreError("A store in memory has no archive.")
    return Path(rows[0][0]).absolute().parent


def write_file(
    connection: duckdb.DuckDBPyConnection, directory: Path, *, table: str, day: dt.date, part: str, query: str
) -> ArchiveFile | None:
    """Writes the rows of `query` as the file of `table` in `part`, synced; None where there are none.

    Raises:
        StoreError: the disk does not allow it; nothing is left but a file that the next archiving removes.
    """
    ((rows,),) = connection.execute(f"select count(*) from ({query})").fetchall()
    if rows == 0:
        return None
    path = directory / ARCHIVE_FOLDER / table / f"day={day.isoformat()}" / f"{part}.parquet"
    new_folders = [folder for folder in (path.parent, *path.parents) if not folder.exists()]
    for folder in reversed(new_folders):
        make_directory(folder)
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        ((written,),) = connection.execute(
            f"copy ({query}) to {literal(temporary)} "
            f"(format parquet, compression zstd, row_group_size {ROW_GROUP_ROWS})"
        ).fetchall()
        sha256 = _sync_and_hash(temporary)
        size = temporary.stat().st_size
        temporary.rename(path)
        for folder in (path.parent, *(folder.parent for folder in new_folders)):
            sync_directory(folder)
    except OSError as error:
        raise StoreError(
            f"The archive file `{path}` could not be written: {error.strerror}.\n"
            "  Nothing has left the database. Look at the free space, then archive again."
        ) from error
    if written != rows:
        raise StoreError(f"The archive file `{path}` has {written} rows of {rows}. Nothing has left the database.")
    return ArchiveFile(table, path.relative_to(directory).as_posix(), rows, size, sha256)


def _sync_and_hash(path: Path) -> str:
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def existing(directory: Path, path: str) -> Path:
    """The file of the archive at `path`.

    Raises:
        StoreDamaged: it is gone.
    """
    found = directory / path
    if not found.is_file():
        raise StoreDamaged(
            f"The archive file `{found}` is missing, and its traces are nowhere else.\n"
            "  Restore it from a backup of the store directory. All such files, and what to do without a backup:  "
            f"spanscore doctor {store_option(directory)}"
        )
    return found


_OWNER = "archive_owner"


def archive_owner(connection: duckdb.DuckDBPyConnection) -> str:
    """What the names of parts that this database writes have in them; made when it is first asked for."""
    owner = _owner_of(connection)
    if owner is not None:
        return owner
    owner = secrets.token_hex(4)
    connection.execute("insert into store_meta values ($1, $2)", [_OWNER, owner])
    return owner


def foreign_files(connection: duckdb.DuckDBPyConnection, directory: Path) -> list[Path]:
    """Files in the archive folder that an earlier database of this directory wrote, and that this one does not list."""
    return [path for path in _unlisted(connection, directory) if not _is_of(path, _owner_of(connection))]


def sweep(connection: duckdb.DuckDBPyConnection, directory: Path) -> int:
    """Deletes the files of the archive folder that no part has any more, and returns how many there were [count].

    An archiving that was killed leaves some, and so does every part that is written anew. Files of an earlier database,
    one that was deleted or repaired, may be all that is left of their traces: they stay. The connection must hold the
    store for writing: nobody can be reading a file then.
    """
    folder = directory / ARCHIVE_FOLDER
    if not folder.is_dir():
        return 0
    owner = _owner_of(connection)
    gone = 0
    for path in _unlisted(connection, directory):
        if _is_of(path, owner):
            path.unlink()
            sync_directory(path.parent)
            gone += 1
    for empty in sorted((found for found in folder.rglob("*") if found.is_dir()), reverse=True):
        if not any(empty.iterdir()):
            empty.rmdir()
    return gone


def _unlisted(connection: duckdb.DuckDBPyConnection, directory: Path) -> list[Path]:
    known = {path for (path,) in connection.execute("select path from archive_files").fetchall()}
    return [
        path
        for path in sorted((directory / ARCHIVE_FOLDER).rglob("*"))
        if path.suffix in {".parquet", ".tmp"}
        and path.is_file()
        and path.relative_to(directory).as_posix() not in known
    ]


def _owner_of(connection: duckdb.DuckDBPyConnection) -> str | None:
    rows = connection.execute("select value from store_meta where key = $1", [_OWNER]).fetchall()
    return str(rows[0][0]) if rows else None


def _is_of(path: Path, owner: str | None) -> bool:
    return owner is not None and f"-{owner}-" in path.name


def literal(path: Path) -> str:
    """`path` as a string of SQL."""
    text = str(path).replace("'", "''")
    return f"'{text}'"
