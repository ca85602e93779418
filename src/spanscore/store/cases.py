"""Keeps the cases of suites in the store, and tells which runs are attempts at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import pyarrow as pa

from spanscore.store.queries import read_query
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from spanscore.store.session import ReadSession
    from spanscore.store.store import Store

_TEXT_COLUMNS = ("case_id", "category", "input", "expected_calls", "expected_agent", "checks", "defaults")
_LIST_COLUMNS = ("tags", "expected_tools", "expected_steps", "acceptable_agents", "expected_sources")
_NUMBER_COLUMNS = ("optimal_steps", "step_cap")

_ROWS = pa.schema(
    [
        *((name, pa.string()) for name in _TEXT_COLUMNS),
        *((name, pa.list_(pa.string())) for name in _LIST_COLUMNS),
        *((name, pa.int64()) for name in _NUMBER_COLUMNS),
        ("unanswerable", pa.bool_()),
    ]
)


class StorableSuite(Protocol):
    """What the store must know of a suite."""

    @property
    def name(self) -> str:
        """Of the suite."""

    @property
    def version(self) -> str | None:
        """Of the suite; None = it has none."""

    def case_rows(self) -> Sequence[dict[str, Any]]:
        """A row for the table `cases` per case, without the suite; JSON columns as text."""


def store_suite(store: Store, suite: StorableSuite) -> int:
    """Stores the cases of a suite in place of those of the same name and version, and returns how many there are.

    The suite stored last is the newest version of its name, whatever the version is called.
    """
    connection = store.connection
    rows = suite.case_rows()
    connection.register("given_cases", pa.Table.from_pylist(list(rows), schema=_ROWS))
    try:
        connection.begin()
        try:
            which = {"suite_name": suite.name, "suite_version": suite.version}
            connection.execute(read_query("evaluation/delete_cases.sql"), which)
            connection.execute(read_query("evaluation/insert_cases.sql"), which)
            connection.commit()
        except BaseException:
            roll_back(connection)
            raise
    finally:
        connection.unregister("given_cases")
    return len(rows)


def regex_problems(patterns: Iterable[str]) -> dict[str, str]:
    """The patterns that DuckDB takes for no regular expression, and why."""
    problems: dict[str, str] = {}
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for pattern in patterns:
            try:
                connection.execute("select regexp_matches('', $1)", [pattern]).fetchall()
            except duckdb.Error as error:
                problems[pattern] = str(error).splitlines()[0].removeprefix("Invalid Input Error: ")
    return problems


@dataclass(frozen=True, slots=True)
class CapturedTask:
    """What captured runs were asked, and what the newest of them did."""

    run_id: str
    runs: int
    """How many runs were asked the same [count]."""
    question: str
    answer: str | None
    tools: tuple[str, ...] | None
    """Tools that every one of the runs called, in alphabetical order; None = they called different ones."""
    results: tuple[str, ...]
    """What the tools of the newest run gave back."""


def captured_tasks(
    session: ReadSession,
    *,
    limit: int,
    source: str | None = None,
    service: str | None = None,
    since: dt.datetime | None = None,
) -> list[CapturedTask]:
    """The questions of runs that ended well, those asked last first.

    Args:
        session: to read with.
        limit: how many questions at most.
        source: benchmark or production; None = both.
        service: of the runs; None = any.
        since: runs that began then or later, UTC without zone; None = all.
    """
    which = {"source": source, "service": service, "since": since, "limit": limit}
    rows = session.rows(read_query("evaluation/captured_tasks.sql"), which)
    return [
        CapturedTask(run_id, runs, question, answer, None if tools is None else tuple(tools), tuple(results))
        for run_id, runs, question, answer, tools, results in rows
    ]
