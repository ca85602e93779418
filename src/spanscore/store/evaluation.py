"""Sessions in which evaluators run: a reading session whose tables show the runs in scope and nothing else.

The scoped tables are temporary views that shadow the tables of the store. They are for convenience, not for security:
`spanscore.main.runs` is still every run.
"""

from __future__ import annotations

import datetime as dt
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from spanscore.store import migrate, model
from spanscore.store.archive.recall import install_macros
from spanscore.store.connection import database_path
from spanscore.store.queries import read_query
from spanscore.store.result import Column
from spanscore.store.session import ReadSession, kind_of, read_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

RUN_TABLES = (
    "agent_invocations",
    "llm_calls",
    "tool_calls",
    "tool_requests",
    "handoffs",
    "messages",
    "retrievals",
    "findings",
)
"""Tables whose rows belong to a run."""

TRACE_TABLES = ("spans", "span_events", "span_links", "log_records")
"""Tables whose rows belong to a trace."""

SCOPED_TABLES = ("runs", *RUN_TABLES, *TRACE_TABLES, "cases")
"""What an evaluator reads. `cases` has a row for every run that is an attempt at a case: `run_id` and the case."""

_DATABASE = "spanscore"

# The copy that DuckDB warns of takes less than planning a statement twice.
warnings.filterwarnings("ignore", message="Arrow output on a DB-API result", category=UserWarning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which runs to evaluate. None passes everything; times are UTC, without zone."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    source: str | None = None
    suite: str | None = None
    experiment: str | None = None
    service: str | None = None
    runs: tuple[str, ...] = ()
    """Run ids or beginnings of them; empty = all."""

    @property
    def is_everything(self) -> bool:
        """Whether no filter is set."""
        return self == Scope()


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """What a text of SQL is, without running it."""

    kinds: tuple[str, ...]
    """Kind of each statement, such as SELECT."""
    parameters: frozenset[str]
    """Names behind `$`; a positional parameter has a number for a name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a SELECT, and the DuckDB types of its columns."""

    columns: tuple[Column, ...]
    rows: pa.Table


class EvaluationSession:
    """A connection on which the tables show the runs in scope."""

    def __init__(self, session: ReadSession, *, is_in_memory: bool = False) -> None:
        """Use `evaluation_session` or `empty_store`."""
        self._session = session
        self._connection = session.connection
        self._is_in_memory = is_in_memory

    def prepare(self, scope: Scope, *, macros: Sequence[str]) -> None:
        """Creates the macros, finds the runs in scope and lays the scoped views over the tables.

        Args:
            scope: which runs.
            macros: files of `queries/macros`, without `.sql`.
        """
        self.create_macros(read_query(f"macros/{name}.sql") for name in macros)
        self.find_runs(scope)
        whole = self._session.whole_tables
        if whole:
            install_macros(self._connection)
        for table, condition in _conditions(scope):
            source = f"({whole[table]})" if table in whole else f"{_DATABASE}.main.{table}"
            self._connection.execute(f"create or replace temp view {table} as select * from {source}{condition}")
        self._connection.execute(
            "create or replace temp view cases as select run_cases.run_id, cases.* exclude (stored_at)"
            f" from run_cases inner join {_DATABASE}.main.cases as cases on cases.rowid = run_cases.case_row"
            " where run_cases.run_id in (select run_id from run_scope)"
        )

    def create_macros(self, statements: Iterable[str]) -> None:
        """Runs our own statements that create macros."""
        create_macros(self._session, statements)

    def find_runs(self, scope: Scope) -> None:
        """Looks again which runs are in scope and which cases they are attempts at."""
        self._connection.execute(read_query("evaluation/run_cases.sql"), {"suite": scope.suite})
        self._connection.execute(read_query("evaluation/run_scope.sql"), {**asdict(scope), "runs": list(scope.runs)})

    def facts(self, sql: str) -> StatementFacts:
        """What `sql` is.

        Raises:
            QueryError: it does not parse.
        """
        with self._session.refusals():
            statements = self._connection.extract_statements(sql)
        return StatementFacts(
            tuple(kind_of(statement) for statement in statements),
            frozenset(name for statement in statements for name in statement.named_parameters),
        )

    def answer(self, sql: str, parameters: Mapping[str, object]) -> Answer:
        """Runs one SELECT.

        Raises:
            QueryError: DuckDB refuses it.
            QueryTimeout: it ran longer than the session allows.
        """
        with self._session.refusals(), self._read_only():
            # Not `sql`: it plans a statement for its columns and again for its rows, and planning most evaluators takes
            # longer than running them over some thousand runs.
            result = self._connection.execute(sql, dict(parameters) or None)
            columns = tuple(Column(name, str(kind)) for name, kind, *_ in result.description)
            rows: pa.Table = result.to_arrow_table()
        return Answer(columns, rows)

    def query(
        self, name: str, tables: Mapping[str, pa.Table], parameters: Mapping[str, object] | None = None
    ) -> pa.Table:
        """The rows of the query file `evaluation/<name>.sql`, which sees `tables` under their names."""
        for table, rows in tables.items():
            self._connection.register(table, rows)
        try:
            return self.answer(read_query(f"evaluation/{name}.sql"), parameters or {}).rows
        finally:
            for table in tables:
                self._connection.unregister(table)

    def scoped_runs(self) -> pa.Table:
        """run_id, session_id and fingerprint of the runs in scope."""
        return self.answer("select run_id, session_id, fingerprint from run_scope", {}).rows

    def undecided_runs(self) -> dict[str, tuple[str, ...]]:
        """Runs in scope that may be attempts at several cases, and are taken for none: run id -> suite/case of each."""
        rows = self._connection.execute(
            "select run_id, candidates from run_cases inner join run_scope using (run_id)"
            " where case_row is null order by run_id"
        ).fetchall()
        return {run_id: tuple(candidates) for run_id, candidates in rows}

    def beside(self) -> EvaluationSession:
        """Another connection to the same database, for another thread. It must be prepared, and ends with this one."""
        session = ReadSession(
            self._connection.cursor(), self._session.path, self._session.timeout_s, self._session.whole_tables
        )
        return EvaluationSession(session, is_in_memory=self._is_in_memory)

    def fill(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Inserts rows into a table of an empty store, absent columns NULL. Nested values are given as JSON text.

        Raises:
            QueryError: a value does not fit its column.
        """
        for row in rows:
            kinds = self.columns(table)
            values = ", ".join(_as_column(f"${name}", kinds[name]) for name in row)
            names = ", ".join(f'"{name}"' for name in row)
            with self._session.refusals():
                self._connection.execute(f"insert into {_DATABASE}.main.{table} ({names}) values ({values})", dict(row))

    def columns(self, table: str) -> dict[str, str]:
        """Name and DuckDB type of every column of a table of the store, in their order."""
        rows = self._connection.execute(
            "select column_name, data_type from duckdb_columns()"
            " where database_name = ? and table_name = ? order by column_index",
            [_DATABASE, table],
        ).fetchall()
        return dict(rows)

    def clear(self, tables: Iterable[str]) -> None:
        """Deletes all rows of these tables of an empty store."""
        for table in tables:
            self._connection.execute(f"delete from {_DATABASE}.main.{table}")

    @contextmanager
    def _read_only(self) -> Iterator[None]:
        """Refuses every write in the body, such as one in a CTE: a store in memory is not read only by itself."""
        if not self._is_in_memory:
            yield
            return
        self._connection.execute("begin transaction read only")
        try:
            yield
        finally:
            self._connection.rollback()


def create_macros(session: ReadSession, statements: Iterable[str]) -> None:
    """Runs our own statements that create macros, on this connection only."""
    for statement in statements:
        session.connection.execute(statement)


@contextmanager
def evaluation_session(
    directory: Path, scope: Scope, *, macros: Sequence[str], timeout_s: float | None
) -> Iterator[EvaluationSession]:
    """A session on the store in `directory`, prepared. While it is open no loader can write: leave it soon.

    Args:
        directory: of the store.
        scope: which runs its tables show.
        macros: files of `queries/macros` to create.
        timeout_s: how long each query may run [s]; None = as long as it takes.
    """
    with read_session(directory, timeout_s=timeout_s, may_spill=True) as reading:
        session = EvaluationSession(reading)
        session.prepare(scope, macros=macros)
        yield session


@contextmanager
def empty_store(
    *,
    macros: Sequence[str],
    timeout_s: float | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Iterator[EvaluationSession]:
    """A session on a store in memory that has every table and no row; the only one that can be filled.

    Args:
        macros: files of `queries/macros` to create.
        timeout_s: how long each query may run [s]; None = as long as it takes.
        memory_limit: DuckDB's; None = as it finds right.
        threads: DuckDB's; None = one per processor.
    """
    settings = {"memory_limit": memory_limit, "threads": threads}
    connection = duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoload_known_extensions": False,
            "temp_directory": "",
            "max_temp_directory_size": "0B",
            **{name: value for name, value in settings.items() if value is not None},
            **({} if timeout_s is None else {"max_execution_time": max(1, round(timeout_s * 1000))}),
        },
    )
    try:
        path = database_path(Path(":memory:"))
        for statement in (
            f"attach ':memory:' as {_DATABASE}",
            f"use {_DATABASE}",
            "set global TimeZone = 'UTC'",
            "set enable_progress_bar = false",
        ):
            connection.execute(statement)
        migrate.migrate(connection, path)
        model.install(connection)
        for statement in ("set enable_external_access = false", "set lock_configuration = true"):
            connection.execute(statement)
        session = EvaluationSession(ReadSession(connection, path, timeout_s), is_in_memory=True)
        session.prepare(Scope(), macros=macros)
        yield session
    finally:
        connection.close()


def _conditions(scope: Scope) -> Iterator[tuple[str, str]]:
    """Scoped table -> the WHERE of its view. Without a filter there is none: a join less in every evaluator."""
    of_run = "" if scope.is_everything else " where run_id in (select run_id from run_scope)"
    traces = " union all ".join(f"select trace_id from {table}" for table in ("runs", *RUN_TABLES))
    of_trace = "" if scope.is_everything else f" where trace_id in ({traces})"
    yield "runs", of_run
    yield from ((table, of_run) for table in RUN_TABLES)
    yield from ((table, of_trace) for table in TRACE_TABLES)


def _as_column(place: str, kind: str) -> str:
    if kind == "JSON":
        return f"{place}::json"
    if kind == "VARIANT":
        return f"{place}::json::variant"
    if kind == "MAP(VARCHAR, VARIANT)":
        entries = f"map_entries({place}::json::map(varchar, json))"
        # A whole number is BIGINT in the attributes of a span; JSON would make it UBIGINT.
        value = "if(json_type(e.value) = 'UBIGINT', e.value::bigint::variant, e.value::variant)"
        return f"map_from_entries(list_transform({entries}, lambda e: struct_pack(k := e.key, v := {value})))"
    return f"{place}::{kind}"
