"""Makes an archive whole again as far as it goes: lost files are given up, and files whose list is lost listed anew."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from spanscore.store.archive.files import ARCHIVE_FOLDER, RAW_TABLES, literal, store_directory
from spanscore.store.counts import LoadCounts, SignalCounts
from spanscore.store.load import record_counts
from spanscore.store.migrate import known_migrations
from spanscore.store.queries import read_query
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from spanscore.store.archive.check import DamagedFile

SOURCE = "salvaged"
_PART = re.compile(r"(?P<day>\d{8})-(?P<owner>[0-9a-f]{8})-[0-9a-f]{12}")
# Raw table -> the column of archived_traces that counts its rows, where there is one.
_COUNTED = {"spans": "spans", "log_records": "log_records"}


def give_up(connection: duckdb.DuckDBPyConnection, damaged: Sequence[DamagedFile]) -> None:
    """Lists the files no more. The other files of their parts, and the trajectories of their traces, stay.

    What is lost is entered into the accounting as purged, so that it still explains the tables.
    """
    connection.begin()
    try:
        for one in damaged:
            ((part,),) = connection.execute(
                "select part from archive_files where path = $1", [one.file.path]
            ).fetchall()
            connection.execute("delete from archive_files where path = $1", [one.file.path])
            column = _COUNTED.get(one.file.table)
            if column is None:
                continue
            ((lost,),) = connection.execute(
                f"select coalesce(sum({column}), 0)::bigint from archived_traces where part = $1", [part]
            ).fetchall()
            connection.execute(f"update archived_traces set {column} = 0 where part = $1", [part])
            _account(connection, {one.file.table: -lost})
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise


@dataclass(frozen=True, slots=True)
class Adopted:
    """Files and traces that are listed again, and files that cannot be read [count]."""

    files: int
    traces: int
    unreadable: int


def adopt(connection: duckdb.DuckDBPyConnection) -> Adopted:
    """Lists the files of the archive folder anew, of the database that wrote the newest of them.

    For a store whose list is lost. A trace that is in the database, or in two parts because an archiving was killed, is
    taken once. The trajectories of what is listed wait to be derived: `Store.rebuild`.
    """
    directory = store_directory(connection)
    found, owner = _parts(directory)
    # Before the transaction, which an error would end.
    parts = {
        part: {table: path for table, path in paths.items() if _can_be_read(connection, path)}
        for part, paths in found.items()
    }
    unreadable = sum(map(len, found.values())) - sum(map(len, parts.values()))
    # All or nothing: what is cut short is begun again.
    connection.begin()
    try:
        files, traces = _adopt_parts(connection, directory, parts, owner)
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise
    return Adopted(files, traces, unreadable)


def _adopt_parts(
    connection: duckdb.DuckDBPyConnection, directory: Path, parts: dict[str, dict[str, Path]], owner: str | None
) -> tuple[int, int]:
    """Files and traces [count]."""
    before = _archived(connection)
    for table in ("archive_files", "archive_parts", "archived_traces", "archive_returned"):
        connection.execute(f"delete from {table}")
    if owner is not None:
        connection.execute("delete from store_meta where key = 'archive_owner'")
        connection.execute("insert into store_meta values ('archive_owner', $1)", [owner])
    files = traces = 0
    for part, paths in parts.items():
        n = _adopt_part(connection, directory, part, paths) if paths.keys() & _COUNTED.keys() else 0
        traces += n
        files += len(paths) if n else 0
    _account(connection, {signal: n - before[signal] for signal, n in _archived(connection).items()})
    return files, traces


def _archived(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of the archive that count, by signal [count]."""
    ((spans, log_records),) = connection.execute(
        "select coalesce(sum(spans), 0)::bigint, coalesce(sum(log_records), 0)::bigint from archived_traces"
    ).fetchall()
    return {"spans": spans, "log_records": log_records}


def _account(connection: duckdb.DuckDBPyConnection, found: dict[str, int]) -> None:
    """Enters rows that were found again, or are lost (below 0), by signal [count]: the books go on to balance."""
    counts = {signal: SignalCounts(received=max(n, 0), stored=max(n, 0)) for signal, n in found.items()}
    record_counts(connection, LoadCounts(**counts), source=SOURCE)
    for signal, n in found.items():
        if n < 0:
            connection.execute(
                "insert into ingest_accounting by name select $id as ingest_id, "
                "current_localtimestamp()::timestamp as recorded_at, $source as source, $signal as signal, "
                "'purged' as outcome, null as reason, $n as n",
                {"id": uuid.uuid4().hex, "source": SOURCE, "signal": signal, "n": -n},
            )


def _parts(directory: Path) -> tuple[dict[str, dict[str, Path]], str | None]:
    """Part -> raw table -> file, the newest part first, of the database that wrote last; and its name in them."""
    found: dict[str, dict[str, Path]] = {}
    for table in RAW_TABLES:
        for path in (directory / ARCHIVE_FOLDER / table).glob("day=*/*.parquet"):
            if _PART.fullmatch(path.stem) is not None:
                found.setdefault(path.stem, {})[table] = path
    ages = {part: max(path.stat().st_mtime_ns for path in paths.values()) for part, paths in found.items()}
    if not ages:
        return {}, None
    newest = sorted(found, key=lambda part: (ages[part], part), reverse=True)
    owner = newest[0].split("-")[1]
    return {part: found[part] for part in newest if part.split("-")[1] == owner}, owner


def _can_be_read(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    try:
        connection.execute(
            "select bit_xor(hash(every_row)) "
            f"from read_parquet({literal(path)}, hive_partitioning = false) as every_row"
        ).fetchall()
    except duckdb.Error:
        return False
    return True


def _adopt_part(connection: duckdb.DuckDBPyConnection, directory: Path, part: str, paths: dict[str, Path]) -> int:
    for table in _COUNTED:
        source = (
            f"select * from read_parquet({literal(paths[table])}, hive_partitioning = false)"
            if table in paths
            else f"select * from {table} where false"
        )
        connection.execute(f"create or replace temp table part_{table} as {source}")
    connection.execute(read_query("retention/part_traces.sql"))
    connection.execute(
        "insert into archived_traces by name "
        "select trace_id, $part as part, spans, log_records, last_at from part_traces where not is_elsewhere",
        {"part": part},
    )
    ((n,),) = connection.execute("select count(*) from part_traces where not is_elsewhere").fetchall()
    if n == 0:
        return 0
    connection.execute(
        "insert into archive_returned by name select trace_id, $part as part from part_traces where is_elsewhere",
        {"part": part},
    )
    connection.execute(
        "insert into archive_parts by name select $part as part, $day as day, count(*) as traces, "
        "$schema as schema_version, null as model_version, current_localtimestamp()::timestamp as archived_at "
        "from part_traces",
        {
            "part": part,
            "day": dt.datetime.strptime(part[:8], "%Y%m%d").date(),  # noqa: DTZ007 a day in UTC
            "schema": known_migrations()[-1].version,
        },
    )
    for table, path in paths.items():
        ((rows,),) = connection.execute(
            f"select count(*) from read_parquet({literal(path)}, hive_partitioning = false)"
        ).fetchall()
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        connection.execute(
            "insert into archive_files values (?, ?, ?, ?, ?, ?)",
            [part, table, path.relative_to(directory).as_posix(), rows, path.stat().st_size, sha256],
        )
    return int(n)
