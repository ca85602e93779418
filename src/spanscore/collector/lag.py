"""How long it takes from the receipt of a request until the trajectory shows what it brought."""

from __future__ import annotations

import time

from spanscore.otlp import RawTables


class Lag:
    """Measured at the end of every window, by the oldest request that the trajectory did not show before it.

    What an earlier window loaded, of this process or another, is known to the store. A load's requests count from the
    oldest of them, so a figure may be too high by the time in which they were received, and is never too low.

    Attributes:
        last_s: at the end of the last window: age of the oldest request of which the trajectory knew nothing before the
            window [s]; None before the first.
        longest_s: highest of these so far [s].
    """

    def __init__(self) -> None:
        self.last_s: float | None = None
        self.longest_s: float | None = None
        self._oldest_ns: int | None = None

    def begin_window(self, waiting_since_ns: int | None) -> None:
        """Told since when the trace waits that waits longest [ns since 1970]; None = none waits."""
        self._add(waiting_since_ns)

    def arrive(self, received_ns: int, tables: RawTables) -> None:
        """Told of every load before it is tried, as one that raised may have happened.

        Args:
            received_ns: when the oldest of its requests was received [ns since 1970].
            tables: what it brings; without anything of a trace it does not count.
        """
        of_traces = len(tables.log_records) - tables.log_records["trace_id"].null_count
        if len(tables.spans) or of_traces:
            self._add(received_ns)

    def end_window(self) -> None:
        """Told when the store can be read again."""
        if self._oldest_ns is None:
            return
        self.last_s = max(0, now_ns() - self._oldest_ns) / 1e9
        self.longest_s = max(self.last_s, self.longest_s or 0.0)
        self._oldest_ns = None

    def _add(self, ns: int | None) -> None:
        if ns is not None:
            self._oldest_ns = ns if self._oldest_ns is None else min(ns, self._oldest_ns)


def now_ns() -> int:
    """The present time [ns since 1970]."""
    return time.time_ns()
