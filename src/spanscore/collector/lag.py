"""How long it takes from the receipt of a request until the trajectory shows what it brought."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp import RawTables

_WAITING = pa.schema([("trace_id", pa.binary()), ("received_ns", pa.int64())])


class Lag:
    """Follows each trace from the load that brought rows of it to the window after which it is derived.

    A trace is as old as the oldest request of that load, so a figure may be too high by the time in which the requests
    of one load were received, and is never too low.

    Attributes:
        last_s: at the end of the last window: age of the oldest request of which the trajectory knew nothing before the
            window [s]; None before the first.
        longest_s: highest of these so far [s].
    """

    def __init__(self) -> None:
        self.last_s: float | None = None
        self.longest_s: float | None = None
        self._waiting = _WAITING.empty_table()
        self._arrived: dict[tuple[str, int], pa.Table] = {}

    def arrive(self, place: tuple[str, int], received_ns: int, tables: RawTables) -> None:
        """Told of every load before it is tried, as one that raised may have happened.

        Args:
            place: segment and offset of the load: what is tried again comes from the same.
            received_ns: when the oldest of its requests was received [ns since 1970].
            tables: what it brings.
        """
        ids = pa.chunked_array([*tables.spans["trace_id"].chunks, *tables.log_records["trace_id"].chunks], pa.binary())
        unique = pc.unique(ids).drop_null()
        received = pa.repeat(pa.scalar(received_ns, pa.int64()), len(unique))
        self._arrived[place] = pa.Table.from_arrays([unique, received], schema=_WAITING)

    def end_window(self, pending: pa.Array | None) -> None:
        """Told when the store can be read again.

        Args:
            pending: ids of the traces with rows that the trajectory does not know; None where nothing was derived.
        """
        tracked = pa.concat_tables([self._waiting, *self._arrived.values()])
        self._arrived.clear()
        if len(tracked):
            self.last_s = max(0, now_ns() - pc.min(tracked["received_ns"]).as_py()) / 1e9
            self.longest_s = max(self.last_s, self.longest_s or 0.0)
        if pending is not None:
            tracked = tracked.filter(pc.is_in(tracked["trace_id"], value_set=pending))
            # A trace that waits while more and more of it comes is one row.
            oldest = tracked.group_by("trace_id").aggregate([("received_ns", "min")])
            tracked = oldest.rename_columns(["trace_id", "received_ns"]).select(_WAITING.names).cast(_WAITING)
        self._waiting = tracked


def now_ns() -> int:
    """The present time [ns since 1970]."""
    return time.time_ns()
