"""Whole requests to RawTables."""

from __future__ import annotations

from collections.abc import Sequence

from spanscore.otlp import wire
from spanscore.otlp.flatten import flatten_logs, flatten_traces
from spanscore.otlp.schema import RawTables
from spanscore.otlp.validate import checked_logs, checked_traces


def decode_traces(payloads: Sequence[bytes]) -> RawTables:
    """Tables of serialised ExportTraceServiceRequest messages, rows in the order they came.

    Raises:
        DecodeError: a payload is malformed; nothing is returned for any of them.
    """
    return checked_traces(flatten_traces(wire.read_batch(payloads, wire.TRACES)))


def decode_logs(payloads: Sequence[bytes]) -> RawTables:
    """Tables of serialised ExportLogsServiceRequest messages, rows in the order they came.

    Raises:
        DecodeError: a payload is malformed; nothing is returned for any of them.
    """
    return checked_logs(flatten_logs(wire.read_batch(payloads, wire.LOGS)))
