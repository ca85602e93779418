"""Sessions in which evaluators of users run, in a worker: what the caller has in place of an `EvaluationSession`."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spanscore.errors import QueryError
from spanscore.store.connection import DEFAULT_WAIT_S
from spanscore.store.contained.process import START_S, Patience, Worker
from spanscore.store.contained.scoring import tagged
from spanscore.store.evaluation import Answer, Scope, StatementFacts
from spanscore.store.result import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

_OWN_WORK_S = 120.0
"""How long the worker may take for what is no text of a user [s]."""


class ContainedSession:
    """As `EvaluationSession`, but its queries run in a worker.

    After a query that broke a limit the worker is another one, with the same store open; rows that `fill` put into an
    empty store are gone then.
    """

    def __init__(self, worker: Worker, opening: dict[str, Any], timeout_s: float | None) -> None:
        """Use `contained_evaluation` or `contained_empty_store`."""
        self._worker = worker
        self._opening = opening
        self._timeout_s = timeout_s
        self._generation = -1

    def renew(self, statements: Iterable[str]) -> None:
        """Another connection for the next evaluator, with the macros that these statements of ours create."""
        self._do("renew", statements=list(statements))

    def facts(self, sql: str) -> StatementFacts:
        """What `sql` is; raises `QueryError` when it does not parse."""
        reply, _ = self._do("facts", is_theirs=True, sql=sql)
        return StatementFacts(tuple(reply["kinds"]), frozenset(reply["parameters"]))

    def answer(self, sql: str, parameters: Mapping[str, object]) -> Answer:
        """Runs one SELECT.

        Raises:
            QueryError: it is none, or DuckDB refuses it.
            QueryTimeout: it ran longer than the session allows.
        """
        reply, rows = self._do("answer", is_theirs=True, sql=sql, parameters=dict(parameters))
        return Answer(tuple(Column(name, kind) for name, kind in reply["columns"]), _present(rows))

    def query(
        self, name: str, tables: Mapping[str, pa.Table], parameters: Mapping[str, object] | None = None
    ) -> pa.Table:
        """The rows of the query file `evaluation/<name>.sql`, which sees `tables` under their names."""
        _, rows = self._do(
            "query", tables=list(tables.values()), name=name, names=list(tables), parameters=dict(parameters or {})
        )
        return _present(rows)

    def scoped_runs(self) -> pa.Table:
        """run_id, session_id and fingerprint of the runs in scope."""
        return _present(self._do("scoped_runs")[1])

    def undecided_runs(self) -> dict[str, tuple[str, ...]]:
        """Runs in scope that may be attempts at several cases, and are taken for none: run id -> suite/case of each."""
        return {run: tuple(cases) for run, cases in self._do("undecided_runs")[0]["undecided"].items()}

    def find_runs(self, scope: Scope) -> None:
        """Looks again which runs are in scope and which cases they are attempts at."""
        self._do("find_runs", scope=_document(scope))

    def fill(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Inserts rows into a table of an empty store; raises `QueryError` when a value does not fit its column."""
        given = [{name: tagged(value) for name, value in row.items()} for row in rows]
        self._do("fill", table=table, given=given)

    def columns(self, table: str) -> dict[str, str]:
        """Name and DuckDB type of every column of a table of the store, in their order."""
        columns: dict[str, str] = self._do("columns", table=table)[0]["columns"]
        return columns

    def clear(self, tables: Iterable[str]) -> None:
        """Deletes all rows of these tables of an empty store."""
        self._do("clear", names=list(tables))

    def _do(
        self, method: str, *, is_theirs: bool = False, tables: Sequence[pa.Table] = (), **arguments: Any
    ) -> tuple[dict[str, Any], pa.Table | None]:
        self._worker.start()
        if self._generation != self._worker.generation:
            self._generation = self._worker.generation
            self._exchange(self._opening, (), Patience(DEFAULT_WAIT_S + START_S, "opening the store"))
        allowed = None
        if not is_theirs:
            allowed = _OWN_WORK_S
        elif self._timeout_s is not None:
            allowed = self._timeout_s + self._worker.grace_s
        patience = Patience(allowed, f"it did {method}", limit_s=self._timeout_s if is_theirs else None)
        return self._exchange({"do": method, "allowed_s": allowed, **arguments}, tables, patience)

    def _exchange(
        self, document: dict[str, Any], tables: Sequence[pa.Table], patience: Patience
    ) -> tuple[dict[str, Any], pa.Table | None]:
        self._worker.ask(document, tables)
        reply = self._worker.document(patience)
        rows = self._worker.table(patience) if reply["rows"] else None
        self._worker.is_answering = False
        return reply, rows


@contextmanager
def contained_evaluation(directory: Path, scope: Scope, *, timeout_s: float | None) -> Iterator[ContainedSession]:
    """A session on the store in `directory` for evaluators of users; `renew` it before each of them.

    The worker starts at once, and opens the store with the first question.

    Args:
        directory: of the store.
        scope: which runs its tables show.
        timeout_s: how long each query may run [s]; None = as long as it takes.
    """
    opening = {
        "do": "open",
        "directory": str(directory),
        "scope": _document(scope),
        "timeout_s": timeout_s,
        "wait_s": DEFAULT_WAIT_S,
    }
    with Worker() as worker:
        worker.start()
        yield ContainedSession(worker, opening, timeout_s)


@contextmanager
def contained_empty_store(*, macros: Sequence[str], timeout_s: float) -> Iterator[ContainedSession]:
    """A session on a store in memory that has every table and no row, as `empty_store`, in a worker."""
    opening = {"do": "open_empty", "macros": list(macros), "timeout_s": timeout_s}
    with Worker() as worker:
        yield ContainedSession(worker, opening, timeout_s)


def _document(scope: Scope) -> dict[str, Any]:
    times = {name: time and time.isoformat() for name, time in (("since", scope.since), ("until", scope.until))}
    return {**asdict(scope), **times}


def _present(rows: pa.Table | None) -> pa.Table:
    if rows is None:
        raise QueryError("The process for queries gave no rows.")
    return rows
