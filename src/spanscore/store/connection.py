"""Connections to the store's file: settings, waiting for the lock, and DuckDB's refusals in words a user can act on.

Never open or read the database file by other means in a process that may hold it: POSIX file locks belong to the
process, and closing any descriptor of the file gives DuckDB's lock away.
"""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from spanscore.errors import StoreDamaged, StoreError, StoreLocked, StoreTooNew, StoreUnrecognised, UsageError
from spanscore.store.directory import spool_bytes, store_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Setting = str | bool | int | float | list[str]

DATABASE_NAME = "spanscore.duckdb"
DEFAULT_WAIT_S = 5.0
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.25
_LOCK_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.*?) \(PID (?P<pid>\d+)\)")
_ARCHIVE_FILE = re.compile(r"/archive/(?:spans|span_events|span_links|log_records)/day=[^\"'\s]*\.parquet")
_SIGNS_OF_DAMAGE = ("Corrupt database file", "Could not read enough bytes from file")

_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT]i?B)", re.IGNORECASE)
_UNITS = {
    f"{letter}{kind}B": base**power
    for power, letter in enumerate("KMGT", start=1)
    for kind, base in (("", 1000), ("I", 1024))
}

# Extensions come with the wheel; nothing is fetched, and no name in a query turns into a Python variable.
_NO_SURPRISES: Mapping[str, _Setting] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}


def database_path(directory: Path) -> Path:
    """The DuckDB file of the store in `directory`."""
    return directory / DATABASE_NAME


_LARGEST_SPILL = "64GiB"


def default_memory_limit() -> str:
    """DuckDB's memory limit: `$SPANSCORE_MEMORY_LIMIT`, else the smaller of 4 GiB and 60% of the memory there is."""
    return f"{default_memory_bytes() >> 20}MiB"


def default_writing_memory_limit() -> str:
    """As `default_memory_limit`, but 1 GiB at most: more makes loading and deriving no faster."""
    if os.environ.get("SPANSCORE_MEMORY_LIMIT"):
        return default_memory_limit()
    return f"{min(1 << 30, _share_of_memory()) >> 20}MiB"


def default_spilling_memory_limit() -> str:
    """As `default_memory_limit`, but 2.5 GiB at most: the rest goes to the disk, and answers need room beside it.

    An evaluation holds its answers in memory until they are written, some 450 MB for 100,000 runs.
    """
    if os.environ.get("SPANSCORE_MEMORY_LIMIT"):
        return default_memory_limit()
    return f"{min(5 << 29, _share_of_memory()) >> 20}MiB"


def default_contained_memory_bytes() -> int:
    """DuckDB's memory limit where SQL of users runs [bytes]: `$SPANSCORE_MEMORY_LIMIT`, else 1 GiB at most.

    Raises:
        UsageError: `$SPANSCORE_MEMORY_LIMIT` is no size.
    """
    if os.environ.get("SPANSCORE_MEMORY_LIMIT"):
        return default_memory_bytes()
    return min(1 << 30, _share_of_memory())


def default_memory_bytes() -> int:
    """`default_memory_limit` [bytes].

    Raises:
        UsageError: `$SPANSCORE_MEMORY_LIMIT` is no size.
    """
    chosen = os.environ.get("SPANSCORE_MEMORY_LIMIT")
    if not chosen:
        return _share_of_memory()
    match = _SIZE.fullmatch(chosen.strip())
    if match is None:
        raise UsageError(f"SPANSCORE_MEMORY_LIMIT is `{chosen}`, which is no size.\n  Write it as 2GiB or 500MB.")
    return int(float(match["number"]) * _UNITS[match["unit"].upper()])


def _share_of_memory() -> int:
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(4 << 30, present * 6 // 10)


def default_threads() -> int:
    """DuckDB's threads: `$SPANSCORE_THREADS`, else the processors this process may use.

    Raises:
        UsageError: `$SPANSCORE_THREADS` is no number of threads.
    """
    chosen = os.environ.get("SPANSCORE_THREADS")
    if chosen:
        if not chosen.isascii() or not chosen.isdigit() or int(chosen) == 0:
            raise UsageError(f"SPANSCORE_THREADS is `{chosen}`, which is no number of threads.\n  Write it as 2.")
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def connect_for_writing(
    path: Path, *, wait_s: float, memory_limit: str | None, threads: int | None
) -> duckdb.DuckDBPyConnection:
    """A read-write connection, once no other process holds the file.

    Raises:
        StoreLocked: another process held the file for longer than `wait_s` [s].
        StoreDamaged, StoreTooNew, StoreUnrecognised: DuckDB does not open the file.
    """
    config: dict[str, _Setting] = {
        **_NO_SURPRISES,
        "memory_limit": memory_limit or default_writing_memory_limit(),
        "threads": threads or default_threads(),
        # Some 20,000 spans. Rows that are not in the file yet take memory, and are spilled when that is short.
        "checkpoint_threshold": "32MiB",
        # Whoever closes the connection may allow it: see `merging`.
        "max_vacuum_tasks": 0,
        # An attribute of every span is read twice as fast where variants are left whole.
        "variant_minimum_shredding_size": -1,
    }
    connection = waiting(path, wait_s, lambda: duckdb.connect(str(path), config=config))
    for setting in ("set global TimeZone = 'UTC'", "set enable_progress_bar = false"):
        connection.execute(setting)
    return connection


def connect_for_reading(
    path: Path,
    *,
    wait_s: float,
    timeout_s: float | None,
    memory_limit: str | None,
    threads: int | None,
    spill: str | None = None,
    archive: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """A read-only connection that reaches no other file, no network and no setting.

    `spill` names a folder for what does not fit into memory; without it such a query fails. Files in the folder
    `archive` can be reached.

    Raises:
        StoreLocked: another process held the file for longer than `wait_s` [s].
        StoreDamaged, StoreTooNew, StoreUnrecognised: DuckDB does not open the file.
    """
    config: dict[str, _Setting] = {
        **_NO_SURPRISES,
        "memory_limit": memory_limit or default_memory_limit(),
        "threads": threads or default_threads(),
        "temp_directory": spill or "",
        "max_temp_directory_size": "0B" if spill is None else _LARGEST_SPILL,
    }
    if timeout_s is not None:
        # A SET would not reach cursors of the connection.
        config["max_execution_time"] = max(1, round(timeout_s * 1000))
    connection = waiting(path, wait_s, lambda: duckdb.connect(str(path), read_only=True, config=config))
    # The order is forced: the zone before external access goes, the lock of the configuration last. A zone that is not
    # set globally does not reach cursors of the connection.
    if archive is not None:
        connection.execute("set allowed_directories = $1::varchar[]", [[str(archive)]])
    for setting in (
        "set global TimeZone = 'UTC'",
        "set enable_progress_bar = false",
        "set enable_external_access = false",
        "set lock_configuration = true",
    ):
        connection.execute(setting)
    return connection


def connect_for_exporting(path: Path, *, wait_s: float = DEFAULT_WAIT_S) -> duckdb.DuckDBPyConnection:
    """A connection that cannot write the store, and can write other files: for our own statements alone.

    Raises: as `connect_for_reading`.
    """
    config: dict[str, _Setting] = {
        **_NO_SURPRISES,
        "memory_limit": default_memory_limit(),
        "threads": default_threads(),
    }
    quoted = str(path).replace("'", "''")

    def attached() -> duckdb.DuckDBPyConnection:
        # A read-only connection could not attach a new file.
        connection = duckdb.connect(":memory:", config=config)
        try:
            connection.execute(f"attach '{quoted}' as \"{path.stem}\" (read_only)")
        except BaseException:
            connection.close()
            raise
        return connection

    connection = waiting(path, wait_s, attached)
    for setting in (f'use "{path.stem}"', "set TimeZone = 'UTC'", "set enable_progress_bar = false"):
        connection.execute(setting)
    return connection


def waiting(path: Path, wait_s: float, connect: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    """What `connect` gives, tried until no other process holds the file or `wait_s` [s] are over.

    Raises:
        StoreLocked, StoreDamaged, …: what DuckDB refused.
    """
    deadline = time.monotonic() + wait_s
    pause = _FIRST_PAUSE_S
    while True:
        before = _identity(path)
        try:
            connection = connect()
        except duckdb.Error as error:
            if _identity(path) != before:
                continue
            refusal = _refusal(path, error, wait_s)
            left = deadline - time.monotonic()
            if not isinstance(refusal, StoreLocked) or left <= 0:
                raise refusal from error
            # Jitter keeps several waiting readers from arriving together.
            time.sleep(min(left, pause * random.uniform(0.5, 1.0)))  # noqa: S311
            pause = min(pause * 2, _LONGEST_PAUSE_S)
            continue
        if before is None or _identity(path) == before:
            return connection
        # Whoever held the lock has put a compacted file in its place: this is the old one, which has no name any more.
        connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Tells the file from another of the same name; None where there is none. Only its holder may replace it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _refusal(path: Path, error: duckdb.Error, wait_s: float) -> StoreError:
    text = str(error)
    if "Could not set lock on file" in text:
        return StoreLocked(
            f"The store `{path}` is held by {_holder(text)}, still after waiting {wait_s:g} s.\n"
            "  Let it finish or close it, then run this again."
        )
    if "different configuration than existing connections" in text:
        return StoreLocked(
            f"The store `{path}` is already open in this process (PID {os.getpid()}) in another way.\n"
            "  Close that connection first."
        )
    if "not a valid DuckDB database file" in text:
        return StoreUnrecognised(
            f"`{path}` does not begin as a DuckDB file does: it is something else, or its header is damaged.\n"
            f"  It is left as it is. {_how_to_begin_again(path.parent)}"
        )
    if "version number" in text and "can only read" in text:
        return StoreTooNew(
            f"`{path}` was written by a DuckDB this one (version {duckdb.__version__}) cannot read.\n"
            "  Upgrade spanscore, or read the store with the version that wrote it."
        )
    if isinstance(error, duckdb.IOException) and ("Cannot open file" in text or "Permission denied" in text):
        return StoreError(f"The store `{path}` cannot be opened: {_first_line(text)}\n  Check its owner and its mode.")
    return StoreDamaged(f"DuckDB refuses the store `{path}`: {_first_line(text)}\n  {_how_to_repair(path.parent)}")


def _how_to_begin_again(directory: Path) -> str:
    if spool_bytes(directory):
        return _how_to_repair(directory)
    return (
        "Name another directory with --store. If it was a store, restore it from a backup, or move the file away and "
        "load again what was captured."
    )


def damage_in(error: Exception, directory: Path | None = None) -> StoreDamaged | None:
    """What to say of an error that DuckDB gave while it read or wrote an open store whose file is damaged, else None.

    A cut or overwritten file opens well as long as its first blocks are whole. `directory` is of the store where that
    is known: DuckDB names the file in some errors only.
    """
    text = str(error)
    if not isinstance(error, duckdb.Error):
        return None
    if _ARCHIVE_FILE.search(text):
        return StoreDamaged(
            f"A file of the archive is missing or damaged: {_first_line(text)}\n"
            "  Its spans are nowhere else: restore the file from a backup of the store directory. All such files, and "
            f"what to do without a backup:  spanscore doctor{_option(directory)}"
        )
    if not any(sign in text for sign in _SIGNS_OF_DAMAGE):
        return None
    return StoreDamaged(
        f"The file of the store is damaged: {_first_line(text)}\n  {_how_to_repair(directory or _named_in(text))}"
    )


def _named_in(text: str) -> Path | None:
    match = re.search(rf'"(?P<path>[^"]*{re.escape(DATABASE_NAME)})"', text)
    return None if match is None else Path(match["path"]).parent


def _how_to_repair(directory: Path | None) -> str:
    return (
        "Make a new store of what the spool keeps and of what can still be read, with the damaged file put aside:  "
        f"spanscore doctor --repair{_option(directory)}"
    )


def _option(directory: Path | None) -> str:
    return "" if directory is None else f" {store_option(directory)}"


def _holder(text: str) -> str:
    match = _LOCK_HOLDER.search(text)
    if match is None:
        return "another process"
    pid = match["pid"]
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        words = []
    command = " ".join(word.decode("utf-8", "replace") for word in words if word) or match["program"]
    printable = "".join(character if character.isprintable() else " " for character in command[:200])
    return f"process {pid} (`{printable}`)"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]
