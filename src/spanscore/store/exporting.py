"""Copies of the store for other tools: one DuckDB file or a folder of Parquet files, whole or not there at all."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from spanscore import __version__
from spanscore.errors import StoreError, UsageError
from spanscore.store import derive, migrate, model
from spanscore.store.archive.files import RAW_TABLES, literal
from spanscore.store.archive.recall import install_macros
from spanscore.store.archive.views import whole_tables
from spanscore.store.connection import connect_for_exporting
from spanscore.store.directory import make_directory, sync_directory
from spanscore.store.evaluation import Scope
from spanscore.store.queries import read_query
from spanscore.store.session import require_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INTERNAL = frozenset(
    {
        "alert_outbox",
        "alert_states",
        "archive_files",
        "archive_parts",
        "archive_returned",
        "archived_traces",
        "destination_failures",
        "evaluator_versions",
        "open_conversations",
        "pending_traces",
        "schema_migrations",
        "score_outbox",
        "scored_subjects",
        "spool_manifest",
        "store_meta",
        "trace_edges",
    }
)
"""Tables that only spanscore has a use for; those of prices are left out too."""

_INTERNAL_PREFIX = "price_"
_PLAIN = {
    "MAP(VARCHAR, VARIANT)": "plain_attributes({column})",
    "VARIANT": "plain_value({column})",
}
"""Type that few tools read -> the JSON that takes its place."""


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """One table of a copy, and its rows [count]."""

    table: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is copied: runs that pass `scope` and have a part in one of `traces` (ids or beginnings; empty = all)."""

    scope: Scope
    traces: Sequence[str] = ()

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.scope.is_everything and not self.traces


def export_database(
    directory: Path,
    target: Path,
    selection: Selection,
    *,
    is_plain: bool = False,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[ExportedTable]:
    """Copies the public tables, with their comments, into a new DuckDB file.

    Args:
        directory: of the store.
        target: the file.
        selection: what to copy.
        is_plain: attributes as JSON; otherwise as MAP(VARCHAR, VARIANT), exactly as they are here.
        replace: whether `target` may be replaced.
        progress: told (tables done, tables in all).

    Raises:
        UsageError: `target` is there, or no trace has one of the ids.
        StoreError: the store cannot be read, or the file not written.
    """
    if target.exists() and not replace:
        raise UsageError(f"`{target}` is there already.\n  Name another file, or add --force to replace it.")
    temporary = target.with_name(f"{target.name}.tmp")
    with _exporting(directory, selection) as (connection, queries), _written(target.parent, temporary):
        connection.execute(f"attach {literal(temporary)} as exported")
        done = []
        for number, (table, query) in enumerate(queries.items()):
            columns = _plain_columns(connection, query, is_plain=is_plain)
            connection.execute(f'create table exported.main."{table}" as select {columns} from ({query})')
            _comment(connection, table)
            done.append(ExportedTable(table, _count(connection, f'exported.main."{table}"')))
            if progress is not None:
                progress(number + 1, len(queries))
        connection.execute("create table exported.main.export_facts (key varchar, value varchar)")
        connection.executemany("insert into exported.main.export_facts values ($1, $2)", _facts(selection, is_plain))
        connection.execute("checkpoint exported")
        connection.execute("detach exported")
        _sync(temporary)
        temporary.replace(target)
        sync_directory(target.parent)
    return done


def export_parquet(
    directory: Path,
    target: Path,
    selection: Selection,
    *,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[ExportedTable]:
    """Copies the public tables into `target`, a Parquet file each; attributes are JSON. Arguments as above.

    What the columns mean stands in the metadata of each file under `spanscore_columns`, as JSON.
    """
    if target.exists() and not target.is_dir():
        raise UsageError(f"`{target}` is not a folder.")
    if target.is_dir() and any(target.glob("*.parquet")) and not replace:
        raise UsageError(
            f"`{target}` has Parquet files already.\n  Name another folder, or add --force to replace them."
        )
    with _exporting(directory, selection) as (connection, queries), _written(target):
        make_directory(target)
        done = []
        for number, (table, query) in enumerate(queries.items()):
            temporary = target / f"{table}.parquet.tmp"
            columns = _plain_columns(connection, query, is_plain=True)
            meanings = json.dumps(dict(_meanings(connection, table)), ensure_ascii=False).replace("'", "''")
            ((rows,),) = connection.execute(
                f"copy (select {columns} from ({query})) to {literal(temporary)} "
                f"(format parquet, compression zstd, kv_metadata {{spanscore_columns: '{meanings}'}})"
            ).fetchall()
            _sync(temporary)
            done.append(ExportedTable(table, rows))
            if progress is not None:
                progress(number + 1, len(queries))
        for table in queries:
            (target / f"{table}.parquet.tmp").replace(target / f"{table}.parquet")
        sync_directory(target)
    return done


@contextmanager
def _exporting(directory: Path, selection: Selection) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, str]]]:
    """A connection that reads the store, one moment of it, and a query for each table to copy."""
    path = require_store(directory)
    with ExitStack() as stack:
        connection = connect_for_exporting(path)
        stack.callback(connection.close)
        migrate.require_current(connection, path)
        model.require_current(connection, path)
        install_macros(connection)
        connection.execute(read_query("retention/plain_values.sql"))
        whole = whole_tables(connection, directory, path.stem)
        for table, query in whole.items():
            connection.execute(f"create or replace temp view {table} as {query}")
        _select(connection, selection)
        yield connection, dict(_queries(connection, selection))


def _select(connection: duckdb.DuckDBPyConnection, selection: Selection) -> None:
    if selection.is_everything:
        return
    scope = selection.scope
    connection.execute(read_query("evaluation/run_cases.sql"), {"suite": scope.suite})
    connection.execute(read_query("evaluation/run_scope.sql"), {**asdict(scope), "runs": list(scope.runs)})
    parts = " union all ".join(f"select trace_id, run_id from {table}" for table in derive.TABLES)
    connection.execute(
        "create or replace temp table exported_runs as "
        f"select distinct parts.trace_id, run_scope.run_id, run_scope.session_id from run_scope "
        f"inner join ({parts}) as parts using (run_id)"
    )
    connection.execute("create or replace temp table exported_traces as select distinct trace_id from exported_runs")
    if not selection.traces:
        return
    rows = connection.execute(read_query("retention/purge_traces.sql"), {"prefixes": list(selection.traces)}).fetchall()
    missing = sorted(set(selection.traces) - {prefix for _, prefix in rows})
    if missing:
        raise UsageError("\n".join(f"No trace and no run has the id `{prefix}`." for prefix in missing))
    wanted = [trace_id for trace_id, _ in rows]
    connection.execute(
        "create or replace temp table exported_runs as select * from exported_runs "
        "where run_id in (select run_id from exported_runs where trace_id in (select unnest($1::varchar[])))",
        [wanted],
    )
    # A trace without any run can be named, too; filters of runs leave it out.
    also = "select unnest($1::varchar[])" if scope.is_everything else "select $1 where false"
    connection.execute(
        f"create or replace temp table exported_traces as select trace_id from exported_runs union ({also})", [wanted]
    )


def _queries(connection: duckdb.DuckDBPyConnection, selection: Selection) -> Iterator[tuple[str, str]]:
    """Public table -> the query for its rows in the copy."""
    rows = connection.execute(
        "select table_name, list(column_name) from duckdb_columns() "
        "where database_name = current_database() and schema_name = 'main' and not internal "
        "and table_name in (select table_name from duckdb_tables() where not temporary) "
        "group by table_name order by table_name"
    ).fetchall()
    for table, columns in rows:
        if table in INTERNAL or table.startswith(_INTERNAL_PREFIX):
            continue
        condition = "" if selection.is_everything else _condition(table, set(columns))
        source = table if table in RAW_TABLES else f'main."{table}"'
        yield table, f"select * from {source}{condition}"


def _condition(table: str, columns: set[str]) -> str:
    run = "select run_id from exported_runs"
    if table == "scores":
        session = "select session_id from exported_runs"
        return f" where run_id in ({run}) or (grain = 'session' and subject_id in ({session}))"
    if "run_id" in columns:
        return f" where run_id in ({run})"
    if "trace_id" in columns:
        return " where trace_id in (select trace_id from exported_traces)"
    for owner, column in (("resources", "resource_id"), ("scopes", "scope_id")):
        if table == owner:
            used = " union all ".join(
                f"select {column} from {raw} where trace_id in (select trace_id from exported_traces)"
                for raw in ("spans", "log_records")
            )
            return f" where {column} in ({used})"
    if table == "experiments":
        return f" where experiment_id in (select experiment_id from main.runs where run_id in ({run}))"
    # The accounting is of everything received.
    return " where false" if table == "ingest_accounting" else ""


def _plain_columns(connection: duckdb.DuckDBPyConnection, query: str, *, is_plain: bool) -> str:
    relation = connection.sql(query)
    return ", ".join(
        (_PLAIN[kind].format(column=f'"{name}"') + f' as "{name}"') if is_plain and kind in _PLAIN else f'"{name}"'
        for name, kind in zip(relation.columns, map(str, relation.types), strict=True)
    )


def _meanings(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    return connection.execute(
        "select column_name, comment from duckdb_columns() where database_name = current_database() "
        "and schema_name = 'main' and table_name = $1 and comment is not null order by column_index",
        [table],
    ).fetchall()


def _comment(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    rows = connection.execute(
        "select comment from duckdb_tables() where database_name = current_database() and table_name = $1 "
        "and not temporary and comment is not null",
        [table],
    ).fetchall()
    for (comment,) in rows:
        connection.execute(f'comment on table exported.main."{table}" is {_text(comment)}')
    for column, comment in _meanings(connection, table):
        connection.execute(f'comment on column exported.main."{table}"."{column}" is {_text(comment)}')


def _text(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _facts(selection: Selection, is_plain: bool) -> list[list[str]]:
    scope = {key: value for key, value in asdict(selection.scope).items() if value}
    return [
        ["spanscore_version", __version__],
        ["schema_version", str(migrate.known_migrations()[-1].version)],
        ["model_version", str(derive.MODEL_VERSION)],
        ["selection", json.dumps({**scope, "traces": list(selection.traces)}, default=str)],
        ["attributes", "JSON" if is_plain else "MAP(VARCHAR, VARIANT)"],
    ]


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f"select count(*) from {table}").fetchall()[0][0])


@contextmanager
def _written(folder: Path, *temporary: Path) -> Iterator[None]:
    """Removes what a copy that failed has written, and says why it did."""
    try:
        for leftover in temporary:
            leftover.unlink(missing_ok=True)
        yield
    except (duckdb.IOException, duckdb.OperationalError, OSError) as error:
        raise StoreError(
            f"The copy in `{folder}` could not be written: {str(error).splitlines()[0]}\n"
            "  Look at the folder and its free space, then export again."
        ) from error
    finally:
        for leftover in (*temporary, *(Path(f"{path}.wal") for path in temporary), *folder.glob("*.parquet.tmp")):
            leftover.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
