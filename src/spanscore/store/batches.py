"""Copies of a few runs in a store of their own: evaluators take their time, and nobody waits for the store."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

import duckdb

from spanscore.store.archive.recall import install_macros
from spanscore.store.archive.views import whole_tables
from spanscore.store.connection import connect_for_writing, database_path, waiting
from spanscore.store.directory import make_directory
from spanscore.store.evaluation import RUN_TABLES, TRACE_TABLES
from spanscore.store.store import Store

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

FOLDER = "scoring"
_TEMPLATE, _BATCH = "template", "batch"
# Tables that are no rows of a run, and that evaluators may read.
_WHOLE_TABLES = ("cases", "experiments")


class Batches:
    """Makes copies in the folder `scoring` of a store, one at a time; it is for whoever holds the lease.

    What a killed process left there goes at the start.
    """

    def __init__(self, directory: Path, *, wait_s: float) -> None:
        """`wait_s`: how long to wait for others to let go of the store [s]."""
        self._source = database_path(directory)
        self._folder = directory / FOLDER
        self._wait_s = wait_s

    def __enter__(self) -> Self:
        self.close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Deletes the folder with all that is in it."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def of_runs(self, run_ids: pa.Array) -> Path:
        """A store with these runs and everything of them, in the place of the one before.

        Raises:
            StoreLocked: another process held the store for longer than the wait.
        """
        return self._copy("from wanted_runs", run_ids)

    def of_sessions(self, session_ids: pa.Array, *, source: str | None) -> Path:
        """A store with all runs of these sessions, those of other sources aside."""
        return self._copy(
            "select run_id from source.main.runs where session_id in (from wanted_runs)"
            f" and ({_literal(source)}::varchar is null or source = {_literal(source)})",
            session_ids,
        )

    def _copy(self, wanted: str, ids: pa.Array) -> Path:
        import pyarrow as pa

        batch = self._folder / _BATCH
        shutil.rmtree(batch, ignore_errors=True)
        make_directory(batch)
        shutil.copy(self._template(), database_path(batch))
        connection = connect_for_writing(database_path(batch), wait_s=0, memory_limit=None, threads=None)
        try:
            connection.register("wanted_runs", pa.table({"id": ids}))
            attach = f"attach {_literal(str(self._source))} as source (read_only)"
            waiting(self._source, self._wait_s, lambda: connection.execute(attach))
            connection.begin()
            connection.execute(f"create temp table batch_runs as select run_id from ({wanted}) as wanted(run_id)")
            _take(connection, "runs", "run_id in (from batch_runs)")
            for table in RUN_TABLES:
                _take(connection, table, "run_id in (from batch_runs)")
            traces = " union ".join(f"select trace_id from main.{table}" for table in ("runs", *RUN_TABLES))
            connection.execute(f"create temp table batch_trace_ids as {traces}")
            archived = self._archived(connection)
            for table in TRACE_TABLES:
                if table in archived:
                    connection.execute(
                        f"insert into main.{table} by name"
                        f" select * from ({archived[table]}) where trace_id in (from batch_trace_ids)"
                    )
                else:
                    _take(connection, table, "trace_id in (from batch_trace_ids)")
            for table in ("resources", "scopes"):
                key = f"{table.removesuffix('s')}_id"
                used = " union ".join(f"select {key} from main.{name}" for name in ("spans", "log_records"))
                _take(connection, table, f"{key} in ({used})")
            for table in _WHOLE_TABLES:
                _take(connection, table, "true")
            connection.commit()
            connection.execute("detach source")
        finally:
            connection.close()
        return batch

    def _archived(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Queries for raw tables with the rows in the archive; empty where no trace of the batch is there."""
        ((is_archived,),) = connection.execute(
            "select count(*) > 0 from source.main.archived_traces where trace_id in (from batch_trace_ids)"
        ).fetchall()
        if not is_archived:
            return {}
        install_macros(connection)
        ((own,),) = connection.execute("select current_database()").fetchall()
        connection.execute("use source")
        try:
            return whole_tables(connection, self._source.parent, "source")
        finally:
            connection.execute(f'use "{own}"')

    def _template(self) -> Path:
        """An empty store, made once: its tables take longer than a batch."""
        template = self._folder / _TEMPLATE
        if not database_path(template).exists():
            Store.open(template).close()
        return database_path(template)


def _take(connection: duckdb.DuckDBPyConnection, table: str, condition: str) -> None:
    """Copies the rows that meet the condition, from the part of the table in which they lie."""
    ((first, last),) = connection.execute(
        f"select min(rowid), max(rowid) from source.main.{table} where {condition}"
    ).fetchall()
    if first is not None:
        connection.execute(
            f"insert into main.{table} by name"
            f" select * from source.main.{table} where rowid between {first} and {last} and {condition}"
        )


def _literal(text: str | None) -> str:
    return "null" if text is None else "'" + text.replace("'", "''") + "'"
