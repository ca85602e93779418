"""The worker's side of sessions in which evaluators of users run: what `EvaluationSession` does, asked for by name."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import QueryError
from spanscore.store.evaluation import EvaluationSession, Scope, empty_store
from spanscore.store.session import ReadSession, read_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

_MOST_ROWS = 20_000_000


class Scoring:
    """Holds one session at a time: on a store, or on an empty one in memory."""

    def __init__(self, *, memory_limit: str, threads: int) -> None:
        """Both are DuckDB's."""
        self._memory_limit, self._threads = memory_limit, threads
        self._open = ExitStack()
        self._reading: ReadSession | None = None
        self._session: EvaluationSession | None = None
        self._scope = Scope()

    def answer(self, document: dict[str, Any], tables: Sequence[pa.Table]) -> tuple[dict[str, Any], pa.Table | None]:
        """What `EvaluationSession` says to the method `do` with these arguments, and the rows that go with it."""
        method = getattr(self, f"_do_{document['do']}")
        reply: tuple[dict[str, Any], pa.Table | None] = method(document, tables)
        return reply

    def _do_open(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        self._open.close()
        self._session = None
        self._scope = scope_from(document["scope"])
        self._reading = self._open.enter_context(
            read_session(
                Path(document["directory"]),
                wait_s=document["wait_s"],
                timeout_s=document["timeout_s"],
                memory_limit=self._memory_limit,
                threads=self._threads,
            )
        )
        return {}, None

    def _do_open_empty(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        self._open.close()
        self._session = self._open.enter_context(
            empty_store(
                macros=document["macros"],
                timeout_s=document["timeout_s"],
                memory_limit=self._memory_limit,
                threads=self._threads,
            )
        )
        return {}, None

    def _do_renew(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        """Another connection for the next evaluator: nothing that the last one left in its own is there."""
        assert self._reading is not None
        reading = self._reading
        fresh = ReadSession(reading.connection.cursor(), reading.path, reading.timeout_s, reading.whole_tables)
        self._open.callback(fresh.connection.close)
        self._session = EvaluationSession(fresh)
        self._session.create_macros(document["statements"])
        self._session.prepare(self._scope, macros=())
        return {}, None

    def _do_facts(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        facts = self._current.facts(document["sql"])
        return {"kinds": list(facts.kinds), "parameters": sorted(facts.parameters)}, None

    def _do_answer(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], pa.Table]:
        if self._current.facts(document["sql"]).kinds != ("SELECT",):
            raise QueryError("Only one SELECT is allowed here.")
        answer = self._current.answer(document["sql"], document["parameters"])
        if answer.rows.num_rows > _MOST_ROWS:
            raise QueryError(f"It gives {answer.rows.num_rows:,} rows; an evaluator gives one for what it scores.")
        return {"columns": [[column.name, column.type] for column in answer.columns]}, answer.rows

    def _do_query(self, document: dict[str, Any], tables: Sequence[pa.Table]) -> tuple[dict[str, Any], pa.Table]:
        given = dict(zip(document["names"], tables, strict=True))
        return {}, self._current.query(document["name"], given, document["parameters"])

    def _do_scoped_runs(self, _: dict[str, Any], __: Sequence[pa.Table]) -> tuple[dict[str, Any], pa.Table]:
        return {}, self._current.scoped_runs()

    def _do_undecided_runs(self, _: dict[str, Any], __: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        return {"undecided": self._current.undecided_runs()}, None

    def _do_find_runs(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        self._current.find_runs(scope_from(document["scope"]))
        return {}, None

    def _do_fill(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        rows = [{name: _plain(value) for name, value in row.items()} for row in document["given"]]
        self._current.fill(document["table"], rows)
        return {}, None

    def _do_columns(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        return {"columns": self._current.columns(document["table"])}, None

    def _do_clear(self, document: dict[str, Any], _: Sequence[pa.Table]) -> tuple[dict[str, Any], None]:
        self._current.clear(document["names"])
        return {}, None

    @property
    def _current(self) -> EvaluationSession:
        assert self._session is not None
        return self._session


def scope_from(document: Mapping[str, Any]) -> Scope:
    """The scope that `scope_document` wrote."""
    times = {name: document[name] and dt.datetime.fromisoformat(document[name]) for name in ("since", "until")}
    return Scope(**{**document, **times, "runs": tuple(document["runs"])})


def tagged(value: object) -> object:
    """A value of a case in a form that JSON has."""
    for kind in (dt.datetime, dt.date, dt.time):
        if isinstance(value, kind):
            return {"is": kind.__name__, "text": value.isoformat()}
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"is", "text"}:
        return getattr(dt, value["is"]).fromisoformat(value["text"])
    return value
