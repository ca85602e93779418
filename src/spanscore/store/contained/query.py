"""One query of a user in a worker: rows for JSON and tables, or Arrow batches for Parquet, read as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.errors import QueryError
from spanscore.store.contained import values
from spanscore.store.contained.process import START_S, Patience, Worker
from spanscore.store.result import ArrowResult, Column, QueryResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

DEFAULT_WAIT_S = 5.0


def contained_query(
    worker: Worker,
    directory: Path,
    sql: str,
    *,
    timeout_s: float,
    limit: int | None = None,
    macros: Sequence[str] = (),
    wait_s: float = DEFAULT_WAIT_S,
) -> QueryResult:
    """Runs one SELECT on the store in `directory`, which the worker opens for this query alone.

    Args:
        worker: where it runs; it is killed when the query is late, or when `rows` is left before its end.
        directory: of the store.
        sql: exactly one statement.
        timeout_s: how long it may run [s]; whoever reads the rows may take as long as he likes.
        limit: how many rows to give at most [rows]; None = all.
        macros: our own statements that create the macros it calls.
        wait_s: how long to wait for a writer to let go of the store [s].

    Raises:
        StoreError: the store cannot be read.
        QueryError: it is no single SELECT, or DuckDB refuses it. Also raised while rows are read.
        QueryTimeout: it ran too long. Also raised while rows are read.
    """
    patience = _ask(worker, directory, sql, timeout_s, limit, macros, wait_s, is_arrow=False)
    head = worker.document(patience)
    result = QueryResult(tuple(Column(name, kind) for name, kind in head["columns"]), iter(()))

    def rows() -> Iterator[tuple[Any, ...]]:
        for frame in _frames(worker, patience):
            if isinstance(frame, dict):
                result.is_truncated = frame["is_truncated"]
            else:
                yield from values.decode(frame)

    result.rows = rows()
    return result


def contained_arrow_query(
    worker: Worker,
    directory: Path,
    sql: str,
    *,
    timeout_s: float,
    limit: int | None = None,
    macros: Sequence[str] = (),
    wait_s: float = DEFAULT_WAIT_S,
) -> ArrowResult:
    """As `contained_query`, with the rows as Arrow batches of types that Parquet has."""
    patience = _ask(worker, directory, sql, timeout_s, limit, macros, wait_s, is_arrow=True)
    schema = worker.table(patience).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for frame in _frames(worker, patience):
            if not isinstance(frame, dict):
                yield from frame.to_batches()

    return ArrowResult(schema, batches())


def _ask(
    worker: Worker,
    directory: Path,
    sql: str,
    timeout_s: float,
    limit: int | None,
    macros: Sequence[str],
    wait_s: float,
    *,
    is_arrow: bool,
) -> Patience:
    worker.ask(
        {
            "do": "select",
            "directory": str(directory),
            "sql": sql,
            "timeout_s": timeout_s,
            "allowed_s": timeout_s + worker.grace_s,
            "limit": limit,
            "macros": list(macros),
            "wait_s": wait_s,
            "is_arrow": is_arrow,
        }
    )
    worker.document(Patience(wait_s + START_S, "opening the store"))
    return Patience(timeout_s + worker.grace_s, "running the query", limit_s=timeout_s)


def _frames(worker: Worker, patience: Patience) -> Iterator[dict[str, Any] | pa.Table]:
    """What the worker says of a query, to the document that ends it. Left before that, the worker is killed."""
    generation = worker.generation
    try:
        while True:
            if worker.generation != generation or not worker.is_answering:
                raise QueryError("The rows are gone: something else was asked before they were read.")
            frame = worker.reply(patience)
            if isinstance(frame, dict):
                worker.is_answering = False
                yield frame
                return
            yield frame
    finally:
        if worker.is_answering and worker.generation == generation:
            worker.kill()
