"""One request, whichever way it came: decode, count what is invalid, append to the spool, answer."""

import time
from collections.abc import Callable

from spanscore.collector.admission import Admission
from spanscore.collector.config import CollectorLimits
from spanscore.collector.decoding import DECODERS, FOOTPRINTS, problems_in
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.redaction.redactor import Redactor
from spanscore.collector.spool import Spool
from spanscore.collector.status import CollectorStatus
from spanscore.collector.wire import Accepted, Refusal, Refused
from spanscore.errors import SpoolUnavailable
from spanscore.otlp import DecodeError
from spanscore.otlp.limits import DEFAULT_LIMITS


class Intake:
    """Accepts requests on the calling thread and returns once they are on disk, or refused."""

    def __init__(
        self,
        spool: Spool,
        status: CollectorStatus,
        admission: Admission,
        redactor: Redactor,
        limits: CollectorLimits,
        *,
        on_accept: Callable[[int, int], None],
    ) -> None:
        """`on_accept` is told the items [count] and the size [bytes] of every request that was spooled."""
        self._spool = spool
        self._status = status
        self._admission = admission
        self._limits = limits
        self._redactor = redactor
        self._on_accept = on_accept

    def accept(self, signal: Signal, encoding: Encoding, payload: bytes, *, read_at: float) -> Accepted | Refused:
        """Decodes, spools and answers one request (already un-gzipped) that was read completely at `read_at` [s]."""
        answer = self._accept(signal, encoding, payload, read_at)
        self._status.count(answer)
        if isinstance(answer, Accepted):
            self._status.acknowledgements.observe(time.monotonic() - read_at)
        return answer

    def _accept(self, signal: Signal, encoding: Encoding, payload: bytes, read_at: float) -> Accepted | Refused:
        footprint = FOOTPRINTS[encoding](payload)
        if footprint.elements > self._limits.max_elements:
            return Refused(
                Refusal.TOO_LARGE,
                f"The request has more than {self._limits.max_elements} elements. Send smaller batches.",
            )
        with self._admission.decoding(len(payload), footprint.memory, waits_since=read_at) as refused:
            if refused is not None:
                return refused
            try:
                answer, payload = self._inspect(signal, encoding, payload)
            except DecodeError as error:
                return Refused(Refusal.MALFORMED, f"The request cannot be decoded: {error}")
        if answer.received == 0:
            return answer
        try:
            self._spool.append(SpoolRecord(signal, encoding, time.time_ns(), payload))
        except SpoolUnavailable:
            self._admission.note_spool(has_failed=True)
            return Refused(Refusal.UNAVAILABLE, "The request could not be written to disk.", retry_after_s=30)
        self._admission.note_spool(has_failed=False)
        self._on_accept(answer.received, len(payload))
        return answer

    def _inspect(self, signal: Signal, encoding: Encoding, payload: bytes) -> tuple[Accepted, bytes]:
        """What is in a request, and its bytes as they may be stored."""
        tables = DECODERS[signal, encoding]([payload], self._limits.span or DEFAULT_LIMITS)
        if signal is Signal.TRACES:
            items, rejected = tables.spans, tables.rejected_spans
        else:
            items, rejected = tables.log_records, tables.rejected_log_records
        answer = Accepted(signal, len(items) + sum(rejected.values()), dict(rejected), problems_in(items))
        del tables, items
        return answer, self._redactor.clean(signal, encoding, payload)
