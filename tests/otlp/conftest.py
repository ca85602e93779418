"""OTLP/JSON of a protobuf message, requests to start from, and tables as plain rows."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.otlp import RawTables

TABLES = ("resources", "scopes", "spans", "span_events", "span_links", "log_records")
WIDE = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
}


def _json_scalar(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _json_object(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex() if field.name.endswith("_id") else base64.b64encode(value).decode()
    if field.type in WIDE:
        return str(value)
    if field.type == FieldDescriptor.TYPE_DOUBLE and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


def _json_object(message: Message) -> dict[str, Any]:
    fields = {}
    for field, value in message.ListFields():
        repeated = not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
        fields[field.json_name] = (
            [_json_scalar(field, part) for part in value] if repeated else _json_scalar(field, value)
        )
    return fields


@pytest.fixture(scope="session")
def otlp_json() -> Callable[[Message], dict[str, Any]]:
    """The OTLP/JSON object of a message: hex ids, enums as integers, 64-bit integers as strings."""
    return _json_object


@pytest.fixture(scope="session")
def rows_of() -> Callable[[RawTables], dict[str, Any]]:
    """Every row of the tables as plain values, and the counts, after checking that Arrow finds the tables sound."""

    def rows(tables: RawTables) -> dict[str, Any]:
        for name in TABLES:
            getattr(tables, name).validate(full=True)
        return {name: getattr(tables, name).to_pylist() for name in TABLES} | {
            "rejected_spans": dict(tables.rejected_spans),
            "rejected_log_records": dict(tables.rejected_log_records),
        }

    return rows


@pytest.fixture
def request_of() -> Callable[..., ExportTraceServiceRequest]:
    """A trace request of one resource and scope with the given spans, ids filled in where they are missing."""

    def build(*spans: dict[str, Any]) -> ExportTraceServiceRequest:
        request = ExportTraceServiceRequest()
        scope_spans = request.resource_spans.add().scope_spans.add()
        for number, span in enumerate(spans, start=1):
            ids = {"trace_id": b"\x01" * 16, "span_id": number.to_bytes(8, "big")}
            scope_spans.spans.add(**(ids | span))
        return request

    return build
