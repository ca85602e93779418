"""Keeps the cases of suites in the store, and tells which runs are attempts at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import pyarrow as pa

from spanscore.store import load
from spanscore.store.queries import read_query

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            load.roll_back(connection)
            raise
    finally:
        connection.unregister("given_cases")
    return len(rows)


def regex_problem(pattern: str) -> str | None:
    """Why DuckDB takes `pattern` for no regular expression; None = it takes it for one."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        try:
            connection.execute("select regexp_matches('', $1)", [pattern])
        except duckdb.Error as error:
            return str(error).splitlines()[0].removeprefix("Invalid Input Error: ")
    return None
