"""Traces as Tempo's query API writes them, to OTLP/JSON.

`{"batches": [...]}` is OTLP in protobuf's generic JSON: ids in base64, enums by name, and in older versions
`instrumentationLibrarySpans` in place of `scopeSpans`. Nowhere else are such ids and names accepted.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from opentelemetry.proto.trace.v1 import trace_pb2

from spanscore.otlp.json_columns import JsonObject

_RENAMED = {"instrumentationLibrarySpans": "scopeSpans", "instrumentationLibrary": "scope"}
_BASE64_ID_LENGTHS = (12, 24)
"""Characters of 8 and of 16 bytes in base64; hex has 16 and 32."""

_ID_KEYS = ("traceId", "spanId", "parentSpanId")
_ENUMS = {"kind": trace_pb2.Span.SpanKind, "code": trace_pb2.Status.StatusCode}


def otlp_of_tempo(document: JsonObject) -> JsonObject:
    """The same as a trace request; what is not shaped as it should be is left for the request's decoder to refuse."""
    return {"resourceSpans": [_owner(batch) for batch in _listed(document.get("batches"))]}


def _owner(batch: Any) -> Any:
    return _with_list(_renamed(batch), "scopeSpans", _scope)


def _scope(scope: Any) -> Any:
    return _with_list(_renamed(scope), "spans", _span)


def _span(span: Any) -> Any:
    if not isinstance(span, dict):
        return span
    span = _with_list(_with_hex_ids(span), "links", _with_hex_ids)
    span = _with_number(span, "kind")
    if isinstance(span.get("status"), dict):
        span["status"] = _with_number(span["status"], "code")
    return span


def _renamed(value: Any) -> Any:
    return {_RENAMED.get(key, key): part for key, part in value.items()} if isinstance(value, dict) else value


def _with_list(value: Any, key: str, change: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get(key), list):
        value = value | {key: [change(part) for part in value[key]]}
    return value


def _with_number(value: JsonObject, key: str) -> JsonObject:
    name = value.get(key)
    return value | {key: _ENUMS[key].Value(name)} if name in _ENUMS[key].keys() else value  # noqa: SIM118


def _with_hex_ids(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return value | {key: _hex(value[key]) for key in _ID_KEYS if key in value}


def _hex(value: Any) -> Any:
    if isinstance(value, str) and len(value) in _BASE64_ID_LENGTHS:
        try:
            return b64decode(value, validate=True).hex()
        except ValueError:
            return value
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
