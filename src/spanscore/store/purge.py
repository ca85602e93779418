"""Deletes traces for good: their rows in every table, their scores, and their rows in the files of the archive."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.errors import UsageError
from spanscore.store import derive
from spanscore.store.archive.files import RAW_TABLES, store_directory, sweep
from spanscore.store.archive.move import enter, write_part
from spanscore.store.archive.recall import install_macros
from spanscore.store.archive.views import whole_tables
from spanscore.store.compact import COMPACTION_DUE
from spanscore.store.queries import read_query
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

_PURGED = "select trace_id from purged_traces"
_FULL_ID = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Purgeable:
    """What to delete; what any of the three names goes.

    Attributes:
        traces: trace ids or run ids, or beginnings that only one trace has.
        sessions: ids of sessions, whole.
        before: traces that have been quiet since, and log records of no trace from before [UTC].
    """

    traces: Sequence[str] = ()
    sessions: Sequence[str] = ()
    before: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class PurgeCounts:
    """What is or would be deleted [count]."""

    traces: int
    spans: int
    log_records: int
    runs: int
    scores: int
    archived_traces: int
    shared_traces: int
    """Traces that stay and share a run with one that goes: their trajectories are derived again, their scores go."""


def select(connection: duckdb.DuckDBPyConnection, wanted: Purgeable) -> PurgeCounts:
    """Makes the temporary tables of what is to go, and counts it; nothing is deleted.

    Raises:
        UsageError: an id is unknown, or the beginning of several.
    """
    directory = store_directory(connection)
    install_macros(connection)
    derive.install_macros(connection)
    whole = whole_tables(connection, directory, directory_name(connection))
    for table in RAW_TABLES:
        connection.execute(f"create or replace temp view all_{table} as {whole.get(table, f'from {table}')}")
    connection.execute("create or replace temp table purged_traces (trace_id varchar)")
    connection.execute("create or replace temp table purged_logs (log_record_id varchar)")
    if wanted.traces:
        _add_named(connection, wanted.traces)
    if wanted.sessions:
        _require_sessions(connection, wanted.sessions)
        for target, query in (("purged_traces", "purge_session"), ("purged_logs", "session_logs")):
            connection.execute(
                f"insert into {target} {read_query(f'retention/{query}.sql')}", {"sessions": list(wanted.sessions)}
            )
    if wanted.before is not None:
        connection.execute(read_query("retention/last_seen.sql"))
        for target, query in (("purged_traces", "purge_before"), ("purged_logs", "loose_logs")):
            connection.execute(
                f"insert into {target} {read_query(f'retention/{query}.sql')}", {"before": wanted.before}
            )
    connection.execute("create or replace temp table purged_traces as select distinct trace_id from purged_traces")
    connection.execute(read_query("retention/shared_traces.sql"))
    connection.execute(read_query("retention/touched_runs.sql").replace("$runs", _runs_of_traces()))
    ((counts),) = connection.execute(read_query("retention/purge_counts.sql")).fetchall()
    return PurgeCounts(*counts)


def directory_name(connection: duckdb.DuckDBPyConnection) -> str:
    """The name of the database that the connection has open."""
    ((name,),) = connection.execute("select current_database()").fetchall()
    return str(name)


def selected_traces(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """The ids of the traces that `select` found."""
    return {trace_id for (trace_id,) in connection.execute(_PURGED).fetchall()}


def has_loose_logs(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether `select` found log records of no trace."""
    return bool(connection.execute("select 1 from purged_logs limit 1").fetchall())


def purge(connection: duckdb.DuckDBPyConnection, counts: PurgeCounts) -> None:
    """Deletes what `select` found, in one transaction, and derives again what shared a run with it.

    Killed before the end of the transaction, the store is as it was; the same call again finishes what came after it.
    """
    directory = store_directory(connection)
    parts = [
        write_part(connection, directory, day=day, merged=[part], dropped=_PURGED)
        for part, day in connection.execute(read_query("retention/touched_parts.sql")).fetchall()
    ]
    connection.begin()
    try:
        _delete_rows(connection)
        for part in parts:
            enter(connection, part)
        _account(connection, counts)
        connection.execute("delete from store_meta where key = $1", [COMPACTION_DUE])
        connection.execute("insert into store_meta values ($1, 'true')", [COMPACTION_DUE])
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise
    sweep(connection, directory)
    _delete_owners(connection)
    derive.derive(connection)


def is_compaction_due(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether something was purged since the database was last written anew."""
    return bool(connection.execute("select 1 from store_meta where key = $1", [COMPACTION_DUE]).fetchall())


def _add_named(connection: duckdb.DuckDBPyConnection, prefixes: Sequence[str]) -> None:
    rows = connection.execute(read_query("retention/purge_traces.sql"), {"prefixes": list(prefixes)}).fetchall()
    problems = []
    for prefix in prefixes:
        found = sorted({trace_id for trace_id, of in rows if of == prefix})
        if not found:
            problems.append(f"No trace and no run has the id `{prefix}`.")
        elif len(found) > 1:
            problems.append(f"`{prefix}` is the beginning of {len(found)} traces: {', '.join(found[:5])} …")
    if problems:
        raise UsageError("\n".join(problems) + "\n  Nothing was deleted.")
    connection.executemany("insert into purged_traces values (?)", [[trace_id] for trace_id, _ in rows])


def _require_sessions(connection: duckdb.DuckDBPyConnection, sessions: Sequence[str]) -> None:
    rows = connection.execute(read_query("retention/known_sessions.sql"), {"sessions": list(sessions)}).fetchall()
    known = {session for (session,) in rows}
    problems = [f"No run, span or log record is of the session `{name}`." for name in sessions if name not in known]
    if problems:
        raise UsageError("\n".join(problems) + "\n  Nothing was deleted.")


def _columns(connection: duckdb.DuckDBPyConnection, column: str) -> list[str]:
    """Tables of the store that have a column of this name."""
    rows = connection.execute(
        "select table_name from duckdb_columns() inner join duckdb_tables() using (database_name, table_name) "
        "where database_name = current_database() and not duckdb_tables.temporary and column_name = $1 "
        "order by table_name",
        [column],
    ).fetchall()
    return [table for (table,) in rows]


def _runs_of_traces() -> str:
    """A query for every run that a row of any trajectory table gives to a trace: a run may span several."""
    return " union all ".join(f"select trace_id, run_id from {table}" for table in derive.TABLES)


def _delete_rows(connection: duckdb.DuckDBPyConnection) -> None:
    """Whatever table has the column `trace_id` or `run_id` loses these rows: a table that is added later, too."""
    of_archive = {"archived_traces", "archive_returned"}
    rederived = f"trace_id in ({_PURGED} union all select trace_id from shared_traces)"
    for table in _columns(connection, "trace_id"):
        if table in of_archive:
            continue
        condition = f"trace_id in ({_PURGED})"
        if table == "trace_edges":
            condition += f" or other_trace_id in ({_PURGED})"
        elif table in derive.DERIVED_TABLES:
            condition = rederived
        connection.execute(f'delete from "{table}" where {condition}')
    for table in _columns(connection, "run_id"):
        if table not in derive.DERIVED_TABLES:
            connection.execute(
                f'delete from "{table}" where run_id in (select run_id from touched_runs) '
                f"or split_part(run_id, ':', 1) in ({_PURGED})"
            )
    connection.execute(
        "delete from scores where grain = 'session' and subject_id in (select session_id from touched_runs)"
    )
    for table in ("scored_subjects", "score_outbox"):
        connection.execute(
            f"delete from {table} where kind = 'session' and subject_id in (select session_id from touched_runs)"
            " or kind = 'run' and (subject_id in (select run_id from touched_runs)"
            f" or split_part(subject_id, ':', 1) in ({_PURGED}))"
        )
    connection.execute("delete from log_records where log_record_id in (select log_record_id from purged_logs)")
    connection.execute(
        "insert into pending_traces (trace_id) "
        "select trace_id from shared_traces except select trace_id from pending_traces"
    )


def _account(connection: duckdb.DuckDBPyConnection, counts: PurgeCounts) -> None:
    for signal, n in (("spans", counts.spans), ("log_records", counts.log_records)):
        if n:
            connection.execute(
                "insert into ingest_accounting by name select $id as ingest_id, "
                "current_localtimestamp()::timestamp as recorded_at, 'purge' as source, $signal as signal, "
                "'purged' as outcome, null as reason, $n as n",
                {"id": uuid.uuid4().hex, "signal": signal, "n": n},
            )


def _delete_owners(connection: duckdb.DuckDBPyConnection) -> None:
    """Deletes resources and scopes that nothing refers to any more: a resource may name a user or a host."""
    directory = store_directory(connection)
    whole = whole_tables(connection, directory, directory_name(connection))
    for table, column in (("resources", "resource_id"), ("scopes", "scope_id")):
        sources = [f"select {column} from ({whole.get(name, f'from {name}')})" for name in ("spans", "log_records")]
        sources.append(f"select {column} from span_conflicts")
        connection.execute(
            f"delete from {table} where {column} not in "
            f"(select {column} from ({' union all '.join(sources)}) where {column} is not null)"
        )
