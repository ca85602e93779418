"""What the worker does: answers one question after the other, each on a connection that no other has used."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from spanscore.errors import QueryError, QueryTimeout, SpanscoreError
from spanscore.store.connection import damage_in, default_contained_memory_bytes, default_threads
from spanscore.store.contained import limits, values, wire
from spanscore.store.contained.stopwatch import Stopwatch
from spanscore.store.query import run_arrow_query, run_query
from spanscore.store.session import read_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.store.contained.scoring import Scoring

_FIRST_ROWS = 16
_MOST_ROWS = 4_096
_BATCH_BYTES = 4 << 20

LARGEST_RESULT = 4 << 30
"""The most that one query may give [bytes of its rows as they travel]."""


def serve(requests: int, replies: int) -> None:
    """Answers what comes through the pipe `requests` until it is closed; for a fresh process."""
    limits.end_with(requests)
    try:
        memory, threads = default_contained_memory_bytes(), default_threads()
    except SpanscoreError as error:
        wire.write_all(replies, [_failure(error)])
        return
    server = _Server(replies, memory, threads)
    limits.bound(memory + limits.HEADROOM_BYTES)
    server.say({"ready": True})
    while True:
        document = wire.read_frame(lambda size: wire.read_exactly(requests, size))
        assert isinstance(document, dict)
        tables = [wire.read_frame(lambda size: wire.read_exactly(requests, size)) for _ in range(document["tables"])]
        limits.allow_processor(_seconds(document) * threads)
        try:
            server.answer(document, tables)
        except Exception as error:  # noqa: BLE001 whatever went wrong is for the caller to tell
            wire.write_all(replies, [_failure(error, document.get("directory"))])
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                return


class _Server:
    def __init__(self, replies: int, memory: int, threads: int) -> None:
        self._replies = replies
        self._memory_limit, self._threads = f"{memory >> 20}MiB", threads
        self._scoring: Scoring | None = None

    def say(self, document: object) -> None:
        wire.write_all(self._replies, [wire.json_frame(document)])

    def answer(self, document: dict[str, Any], tables: list[Any]) -> None:
        if document["do"] == "select":
            self._query(document)
            return
        if self._scoring is None:
            # A query alone needs none of it.
            from spanscore.store.contained.scoring import Scoring

            self._scoring = Scoring(memory_limit=self._memory_limit, threads=self._threads)
        reply, rows = self._scoring.answer(document, tables)
        frames = [wire.json_frame({**reply, "rows": rows is not None})]
        if rows is not None:
            frames.append(wire.arrow_frame(rows))
        wire.write_all(self._replies, frames)

    def _query(self, document: dict[str, Any]) -> None:
        with read_session(
            Path(document["directory"]),
            wait_s=document["wait_s"],
            memory_limit=self._memory_limit,
            threads=self._threads,
        ) as session:
            session.timeout_s = document["timeout_s"]
            for statement in document["macros"]:
                session.connection.execute(statement)
            self.say({"open": True})
            sql, limit = document["sql"], document["limit"]
            with Stopwatch(document["timeout_s"], session.connection.interrupt) as stopwatch:
                if document["is_arrow"]:
                    arrow = run_arrow_query(session, sql, limit=limit)
                    self._stream([arrow.schema.empty_table()], stopwatch)
                    self._stream(arrow.batches, stopwatch)
                    is_truncated = False
                else:
                    result = run_query(session, sql, limit=limit)
                    self.say({"columns": [[column.name, column.type] for column in result.columns]})
                    self._stream(map(values.encode, _chunks(result.rows)), stopwatch)
                    is_truncated = result.is_truncated
        # The last word comes when the store is free again.
        self.say({"is_truncated": is_truncated})

    def _stream(self, batches: Any, stopwatch: Stopwatch) -> None:
        given = 0
        for batch in batches:
            given += batch.nbytes
            if given > LARGEST_RESULT:
                raise QueryError(
                    f"The query gives more than the {LARGEST_RESULT >> 30} GiB that one query may give.\n"
                    "  Narrow it down, or fetch it in parts with --limit."
                )
            frame = wire.arrow_frame(batch)
            with stopwatch.paused():
                wire.write_all(self._replies, [frame])


def _chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows by the dozen at first, then as many as the size of those before allows."""
    wanted = _FIRST_ROWS
    chunk: list[tuple[Any, ...]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == wanted:
            yield chunk
            size = sum(len(value) if isinstance(value, str | bytes) else 16 for row in chunk for value in row)
            wanted = max(1, min(_MOST_ROWS, len(chunk) * 4, len(chunk) * _BATCH_BYTES // max(1, size)))
            chunk = []
    if chunk:
        yield chunk


def _seconds(document: dict[str, Any]) -> float:
    """For how long the answer may take; without a limit, a day."""
    return float(document.get("allowed_s") or 86_400.0)


def _failure(error: Exception, directory: str | None = None) -> bytes:
    if isinstance(error, SpanscoreError):
        return wire.json_frame({"error": type(error).__name__, "message": str(error), "is_breach": _is_breach(error)})
    if isinstance(error, MemoryError | wire.FrameTooLarge):
        reason = (
            "needs more memory than it may use"
            if isinstance(error, MemoryError)
            else f"gives more at once than may be handed over ({wire.LARGEST_FRAME >> 20} MiB)"
        )
        advice = "Narrow it down, or allow more with SPANSCORE_MEMORY_LIMIT."
        return wire.json_frame(
            {"error": "QueryError", "message": f"The query {reason}.\n  {advice}", "is_breach": True}
        )
    damage = damage_in(error, None if directory is None else Path(directory))
    if damage is not None:
        return wire.json_frame({"error": "StoreDamaged", "message": str(damage), "is_breach": True})
    return wire.json_frame({"error": "", "message": "".join(traceback.format_exception(error)), "is_breach": True})


def _is_breach(error: SpanscoreError) -> bool:
    """Whether a limit was reached: what was mapped by then is not given back, and the next query would lack it."""
    return isinstance(error, QueryTimeout) or isinstance(error.__cause__, duckdb.OutOfMemoryException | MemoryError)
