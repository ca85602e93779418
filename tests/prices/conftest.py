"""A connection with the shipped prices, and a way to price a list of calls on it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from spanscore.store.prices import CALL_COLUMNS, price_calls, price_session

Call = dict[str, Any]
Priced = dict[str, dict[str, Any]]

_ARROW_TYPES = {"varchar": pa.string(), "bigint": pa.int64(), "timestamp_ns": pa.timestamp("ns")}


def priced(con: duckdb.DuckDBPyConnection, calls: Sequence[Call]) -> Priced:
    """The rows of `priced_calls` by call id; a column that a call leaves out is NULL."""
    schema = pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in CALL_COLUMNS.items()])
    con.register("given_calls", pa.Table.from_pylist(list(calls), schema=schema))
    con.execute("create or replace temp table calls_to_price as select * from given_calls")
    con.unregister("given_calls")
    price_calls(con)
    return {row["llm_call_id"]: row for row in con.sql("select * from priced_calls").to_arrow_table().to_pylist()}


@pytest.fixture(scope="session")
def prices() -> Iterator[duckdb.DuckDBPyConnection]:
    with price_session() as con:
        yield con


@pytest.fixture(scope="session")
def price_them(prices: duckdb.DuckDBPyConnection) -> Callable[[Sequence[Call]], Priced]:
    """Prices calls with the shipped prices alone."""
    return lambda calls: priced(prices, calls)


@pytest.fixture
def price_with(tmp_path: Path) -> Callable[[str, Sequence[Call]], Priced]:
    """Prices calls with the shipped prices and an overrides file of the given text."""

    def price(overrides: str, calls: Sequence[Call]) -> Priced:
        path = tmp_path / "prices.csv"
        path.write_text(overrides, encoding="utf-8")
        with price_session(path) as con:
            return priced(con, calls)

    return price
