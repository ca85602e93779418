"""Derives the traces that came first while later ones are still being loaded.

Loading works on one processor, and so does a batch of traces: one after the other would leave the second one idle.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.store import derive

if TYPE_CHECKING:
    from types import TracebackType

    import duckdb

    from spanscore.otlp import RawTables


class DerivingBeside:
    """A worker that derives one batch of pending traces at a time, as a context manager around the loading.

    A trace in hand is not to get new spans: `make_way` waits for the batch to end where it would. An input whose traces
    overlap so much would be derived again and again, so that was then the last batch; the rest is left to `derive`.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Of a store that is open for writing, in which this process alone loads and derives."""
        self._connection = connection
        self._loaded_spans = 0
        self._batch: pa.Table | None = None
        self._work: Future[None] | None = None
        self._threads = derive.thread_count(connection)
        self._is_willing = self._threads > 1

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="derive-beside")
        if self._is_willing:
            derive.set_threads(self._connection, 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._settle(is_quiet=error is not None)
        finally:
            self._pool.shutdown()
            derive.set_threads(self._connection, self._threads)

    @property
    def is_busy(self) -> bool:
        """Whether a batch was begun that nothing has waited for yet."""
        return self._work is not None

    def make_way(self, tables: RawTables) -> None:
        """Returns once none of the traces in `tables` is being derived: to be called before they are loaded."""
        if self._work is not None and self._work.done():
            self._settle()
        if self._batch is not None and _shares_traces(self._batch, tables):
            self._is_willing = False
            self._settle()

    def take(self, spans: int) -> None:
        """Begins a batch when there is enough to do, `spans` more having been loaded [spans]."""
        self._loaded_spans += spans
        if not self._is_willing or self._work is not None or self._loaded_spans < 2 * derive.BATCH_SPANS:
            return
        self._loaded_spans -= derive.BATCH_SPANS
        # Those that were loaded first: they are complete, when anything is.
        self._batch = derive.take_round(self._connection, derive.BATCH_SPANS)
        self._work = self._pool.submit(_derive, self._connection.cursor(), self._batch)

    def _settle(self, *, is_quiet: bool = False) -> None:
        """Waits for the batch in hand; what went wrong in it is raised, unless something else did already."""
        work, self._work, self._batch = self._work, None, None
        if work is None:
            return
        error = work.exception()
        if error is not None and not is_quiet:
            raise error


def _derive(connection: duckdb.DuckDBPyConnection, batch: pa.Table) -> None:
    with connection:
        for _ in derive.derive_round(connection, batch, workers=1):
            pass


def _shares_traces(batch: pa.Table, tables: RawTables) -> bool:
    in_hand = pa.array([bytes.fromhex(trace_id) for trace_id in batch["trace_id"].to_pylist()], pa.binary())
    for rows in (tables.spans, tables.log_records):
        if rows.num_rows and pc.any(pc.is_in(rows["trace_id"].cast(pa.binary()), value_set=in_hand)).as_py():
            return True
    return False
