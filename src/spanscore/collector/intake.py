"""One request, whichever way it came: decode, count what is invalid, append to the spool, answer."""

import threading
import time
from collections.abc import Callable

from spanscore.collector.decoding import DECODERS
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.spool import Spool
from spanscore.collector.status import CollectorStatus
from spanscore.collector.wire import Accepted, Refusal, Refused
from spanscore.errors import SpoolUnavailable
from spanscore.otlp import DecodeError

_LARGE_BYTES = 4 << 20


class Intake:
    """Accepts requests on the calling thread and returns once they are on disk, or refused."""

    def __init__(self, spool: Spool, status: CollectorStatus, *, on_accept: Callable[[int, int], None]) -> None:
        """`on_accept` is told the items [count] and the size [bytes] of every request that was spooled."""
        self._spool = spool
        self._status = status
        self._on_accept = on_accept
        # A payload grows many times over while it is decoded: large ones take turns.
        self._large = threading.Lock()

    def accept(self, signal: Signal, encoding: Encoding, payload: bytes) -> Accepted | Refused:
        """Decodes, spools and answers one request (already un-gzipped)."""
        answer = self._accept(signal, encoding, payload)
        self._status.count(answer)
        return answer

    def _accept(self, signal: Signal, encoding: Encoding, payload: bytes) -> Accepted | Refused:
        try:
            if len(payload) > _LARGE_BYTES:
                with self._large:
                    answer = self._inspect(signal, encoding, payload)
            else:
                answer = self._inspect(signal, encoding, payload)
        except DecodeError as error:
            return Refused(Refusal.MALFORMED, f"The request cannot be decoded: {error}")
        if answer.received == 0:
            return answer
        try:
            self._spool.append(SpoolRecord(signal, encoding, time.time_ns(), payload))
        except SpoolUnavailable:
            return Refused(Refusal.UNAVAILABLE, "The request could not be written to disk.", retry_after_s=30)
        self._on_accept(answer.received, len(payload))
        return answer

    def _inspect(self, signal: Signal, encoding: Encoding, payload: bytes) -> Accepted:
        tables = DECODERS[signal, encoding]([payload])
        if signal is Signal.TRACES:
            rows, rejected = tables.spans.num_rows, tables.rejected_spans
        else:
            rows, rejected = tables.log_records.num_rows, tables.rejected_log_records
        return Accepted(signal, rows + sum(rejected.values()), dict(rejected))
