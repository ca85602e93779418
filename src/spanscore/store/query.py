"""One query of a user on a reading session, its values exact: as rows for JSON and tables, or as Arrow for Parquet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import duckdb

from spanscore.errors import QueryError
from spanscore.store.keywords import quote_keyword_columns
from spanscore.store.result import ArrowResult, Column, QueryResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from spanscore.store.session import ReadSession

_ROWS_PER_FETCH = 1_000
_ROWS_PER_BATCH = 20_000

# Python's dates and times end at microseconds and the year 9999, and have no infinity and no months: these go as text.
_TIMES = re.compile(r"(TIMESTAMP|DATE|TIME|INTERVAL|BIT\b|BIGNUM)")
_NESTED = re.compile(r"\b(STRUCT|MAP|UNION|VARIANT)\b|\[")
_NESTED_NANOSECONDS = re.compile(r"(TIMESTAMP_NS|TIME_NS|INTERVAL)")
_NOT_IN_PARQUET = re.compile(r"(VARIANT|UNION|INTERVAL|BIT\b|BIGNUM|TIME WITH TIME ZONE|TIME_NS|UHUGEINT|\"NULL\")")


def run_query(session: ReadSession, sql: str, *, limit: int | None = None) -> QueryResult:
    """Runs one SELECT.

    Args:
        session: where to read.
        sql: exactly one statement.
        limit: how many rows to give at most [rows]; None = all.

    Raises:
        QueryError: it is no single SELECT, or DuckDB refuses it. Also raised while rows are read.
    """
    sql = quote_keyword_columns(sql)
    columns = _columns(session, sql)
    with session.refusals():
        cursor = session.connection.execute(_projected(sql, columns, _as_row_value))
    moments = [index for index, column in enumerate(columns) if _is_moment(column.type)]
    result = QueryResult(columns=columns, rows=iter(()))

    def rows() -> Iterator[tuple[Any, ...]]:
        given = 0
        while True:
            with session.refusals():
                fetched = cursor.fetchmany(_ROWS_PER_FETCH)
            for row in fetched:
                if given == limit:
                    result.is_truncated = True
                    return
                given += 1
                yield _with_iso_moments(row, moments) if moments else row
            if not fetched:
                return

    result.rows = rows()
    return result


def run_arrow_query(session: ReadSession, sql: str, *, limit: int | None = None) -> ArrowResult:
    """The rows of one SELECT as Arrow batches of types that Parquet has.

    HUGEINT becomes DECIMAL(38, 0); types that Parquet lacks become text, nested ones as JSON.

    Raises:
        QueryError: it is no single SELECT, or DuckDB refuses it. Also raised while batches are read.
    """
    import pyarrow as pa

    sql = quote_keyword_columns(sql)
    columns = _columns(session, sql)
    projected = _projected(sql, columns, _as_parquet_value)
    with session.refusals():
        relation = session.connection.sql(projected)
        reader = (relation if limit is None else relation.limit(limit)).to_arrow_reader(_ROWS_PER_BATCH)
    schema = pa.schema([field.with_name(column.name) for field, column in zip(reader.schema, columns, strict=True)])

    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            with session.refusals():
                batch = next(reader, None)
            if batch is None:
                return
            yield pa.record_batch(batch.columns, schema=schema)

    return ArrowResult(schema, batches())


def _columns(session: ReadSession, sql: str) -> tuple[Column, ...]:
    session.check(sql)
    with session.refusals():
        relation = session.connection.sql(sql)
    if relation is None:
        raise QueryError("The query returns no rows and no columns.")
    names: list[str] = []
    for name in relation.columns:
        unique, n = name, 1
        while unique in names:
            unique = f"{name}_{n}"
            n += 1
        names.append(unique)
    return tuple(Column(name, str(kind)) for name, kind in zip(names, relation.types, strict=True))


def _projected(sql: str, columns: tuple[Column, ...], value: Callable[[str, str], str]) -> str:
    """`sql`, wrapped only where a column must be cast."""
    places = [f"c{index}" for index in range(len(columns))]
    values = [value(place, column.type) for place, column in zip(places, columns, strict=True)]
    if values == places:
        return sql
    return f"select {', '.join(values)} from (\n{_unended(sql)}\n) as result({', '.join(places)})"


def _unended(sql: str) -> str:
    """`sql` without the semicolons and remarks after its last word."""
    encoded = sql.encode("utf-8")
    end = len(encoded)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and encoded[start:end].strip() != b";":
            break
        end = start
    return encoded[:end].decode("utf-8")


def _as_row_value(place: str, kind: str) -> str:
    if _NESTED.search(kind):
        return f"to_json({place})" if _NESTED_NANOSECONDS.search(kind) else place
    return f"{place}::varchar" if _TIMES.match(kind) else place


def _as_parquet_value(place: str, kind: str) -> str:
    if kind == "HUGEINT":
        return f"{place}::decimal(38, 0)"
    if not _NOT_IN_PARQUET.search(kind):
        return place
    return f"to_json({place})::varchar" if _NESTED.search(kind) else f"{place}::varchar"


def _is_moment(kind: str) -> bool:
    return kind.startswith("TIMESTAMP") and not _NESTED.search(kind)


def _with_iso_moments(row: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    values = list(row)
    for place in places:
        if values[place] is not None:
            values[place] = _iso(values[place])
    return tuple(values)


_MOMENT = re.compile(r"(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?")


def _iso(text: str) -> str:
    """ISO 8601 in UTC; what has no such form (infinity, years before 1) as DuckDB writes it."""
    match = _MOMENT.fullmatch(text)
    return f"{match[1]}T{match[2]}Z" if match else text
