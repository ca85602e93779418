"""Whole requests to RawTables."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from spanscore.errors import DecodeError
from spanscore.otlp import wire
from spanscore.otlp.flatten import flatten_logs, flatten_traces
from spanscore.otlp.json_batch import LOGS, TRACES, JsonBatch, Signal
from spanscore.otlp.limits import DEFAULT_LIMITS, SpanLimits
from spanscore.otlp.schema import RawTables
from spanscore.otlp.validate import checked_logs, checked_traces


def decode_traces(payloads: Sequence[bytes], limits: SpanLimits = DEFAULT_LIMITS) -> RawTables:
    """Tables of serialised ExportTraceServiceRequest messages, rows in the order they came.

    Raises:
        DecodeError: a payload is malformed; nothing is returned for any of them.
    """
    if not any(payloads):
        return RawTables()
    return checked_traces(flatten_traces(wire.read_batch(payloads, wire.TRACES)), limits)


def decode_logs(payloads: Sequence[bytes], limits: SpanLimits = DEFAULT_LIMITS) -> RawTables:
    """Tables of serialised ExportLogsServiceRequest messages, rows in the order they came.

    Raises:
        DecodeError: a payload is malformed; nothing is returned for any of them.
    """
    if not any(payloads):
        return RawTables()
    return checked_logs(flatten_logs(wire.read_batch(payloads, wire.LOGS)), limits)


def decode_traces_json(payload: bytes, limits: SpanLimits = DEFAULT_LIMITS) -> RawTables:
    """Tables of one ExportTraceServiceRequest in OTLP/JSON.

    Raises:
        DecodeError: the request is malformed anywhere; nothing of it is returned.
    """
    return _request_tables(payload, TRACES, limits)


def decode_logs_json(payload: bytes, limits: SpanLimits = DEFAULT_LIMITS) -> RawTables:
    """Tables of one ExportLogsServiceRequest in OTLP/JSON.

    Raises:
        DecodeError: the request is malformed anywhere; nothing of it is returned.
    """
    return _request_tables(payload, LOGS, limits)


def load_json(text: bytes) -> Any:
    """The JSON value of the text.

    Raises:
        DecodeError: the text is not JSON in UTF-8, or is nested more than 1024 levels deep.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise DecodeError("malformed_json", str(error)) from None


@contextmanager
def without_cycle_collection() -> Iterator[None]:
    """Switches the cycle collector off: parsed JSON has no cycles, and looking for some doubles the time to parse."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _request_tables(payload: bytes, signal: Signal, limits: SpanLimits) -> RawTables:
    with without_cycle_collection():
        batch = JsonBatch(limits=limits)
        batch.add_request(load_json(payload), signal)
        return batch.tables()
