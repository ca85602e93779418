"""Traces as Jaeger's query API and its UI's "download JSON" write them, to OTLP/JSON.

Source: https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/jaeger/ read backwards: the tags that an
OpenTelemetry exporter makes of a span's kind, status and scope are made those again.
"""

from __future__ import annotations

from typing import Any

from spanscore.errors import DecodeError
from spanscore.otlp.json_columns import JsonObject
from spanscore.otlp.json_numbers import integer

KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
STATUS_CODES = {"OK": 1, "ERROR": 2}
VALUE_MEMBERS = {
    "string": "stringValue",
    "bool": "boolValue",
    "int64": "intValue",
    "float64": "doubleValue",
    "binary": "bytesValue",
}
SCOPE_TAGS = {
    "name": ("otel.scope.name", "otel.library.name"),
    "version": ("otel.scope.version", "otel.library.version"),
}
WARNINGS = "jaeger.warnings"

REFUSED: JsonObject = {"traceId": False}
"""Stands for a span that cannot be read: a span the OTLP decoder refuses, so that it is counted like any other."""


def otlp_of_jaeger(document: JsonObject) -> JsonObject:
    """The same as a trace request: one resource per process, one scope per span.

    Raises:
        DecodeError: the document is not shaped like Jaeger's down to its spans.
    """
    traces = document.get("data")
    if not isinstance(traces, list) or not all(isinstance(trace, dict) for trace in traces):
        raise DecodeError("malformed_jaeger", "`data` must be an array of traces")
    return {"resourceSpans": [owner for trace in traces for owner in _owners(trace)]}


def _owners(trace: JsonObject) -> list[JsonObject]:
    spans, processes = trace.get("spans") or [], trace.get("processes") or {}
    if not isinstance(spans, list) or not isinstance(processes, dict):
        raise DecodeError("malformed_jaeger", "`spans` must be an array and `processes` an object")
    owners: dict[Any, JsonObject] = {}
    for span in spans:
        try:
            key = span.get("processID")
            process = span.get("process") or processes.get(key) or {}
            converted, resource = _scope_spans(span), _resource(process)
        except (AttributeError, DecodeError, LookupError, TypeError, ValueError):
            key, converted, resource = None, {"spans": [REFUSED]}, {}
        owners.setdefault(key, {"resource": resource, "scopeSpans": []})["scopeSpans"].append(converted)
    return list(owners.values())


def _resource(process: JsonObject) -> JsonObject:
    attributes = _attributes(process.get("tags") or [])
    if process.get("serviceName") is not None:
        attributes.insert(0, {"key": "service.name", "value": {"stringValue": process["serviceName"]}})
    return {"attributes": attributes}


def _scope_spans(span: JsonObject) -> JsonObject:
    tags = {tag["key"]: tag for tag in span.get("tags") or []}

    def taken(*keys: str) -> Any:
        found = [tags.pop(key).get("value") for key in keys if key in tags]
        return found[0] if found else None

    kind = KINDS.get(str(tags.get("span.kind", {}).get("value")).lower())
    if kind is not None:
        taken("span.kind")
    status = STATUS_CODES.get(str(taken("otel.status_code")).upper())
    if str(tags.get("error", {}).get("value")).lower() == "true" and status in (None, 2):
        taken("error")
        status = 2
    message = taken("otel.status_description")
    scope = {name: value for name, keys in SCOPE_TAGS.items() if (value := taken(*keys)) is not None}
    trace_state = taken("w3c.tracestate")
    attributes = _attributes(tags.values())
    if span.get("warnings"):
        values = [{"stringValue": warning} for warning in span["warnings"]]
        attributes.append({"key": WARNINGS, "value": {"arrayValue": {"values": values}}})
    start, duration = _microseconds(span.get("startTime")), _microseconds(span.get("duration"))
    parent, links = _references(span)
    converted = {
        "traceId": _padded(span.get("traceID"), 32),
        "spanId": _padded(span.get("spanID"), 16),
        "parentSpanId": parent,
        "traceState": trace_state,
        "flags": span.get("flags"),
        "name": span.get("operationName"),
        "kind": kind,
        "startTimeUnixNano": start * 1000,
        "endTimeUnixNano": (start + duration) * 1000,
        "attributes": attributes,
        "events": [_event(log) for log in span.get("logs") or []],
        "links": links,
        "status": {"code": status, "message": message},
    }
    return {"scope": scope or None, "spans": [converted]}


def _references(span: JsonObject) -> tuple[str | None, list[JsonObject]]:
    """The parent's span id, which is the first CHILD_OF of the same trace, and the other references as links."""
    parent = _padded(span.get("parentSpanID"), 16) or None
    links = []
    for reference in span.get("references") or []:
        trace_id, span_id = _padded(reference.get("traceID"), 32), _padded(reference.get("spanID"), 16)
        is_parent = reference.get("refType") == "CHILD_OF" and trace_id == _padded(span.get("traceID"), 32)
        if is_parent and parent in (None, span_id):
            parent = span_id
        else:
            links.append({"traceId": trace_id, "spanId": span_id})
    return parent, links


def _event(log: JsonObject) -> JsonObject:
    fields = {field["key"]: field for field in log.get("fields") or []}
    name = fields.pop("event", {}).get("value")
    return {
        "timeUnixNano": _microseconds(log.get("timestamp")) * 1000,
        "name": name if name is None or isinstance(name, str) else str(name),
        "attributes": _attributes(fields.values()),
    }


def _attributes(tags: Any) -> list[JsonObject]:
    return [{"key": tag["key"], "value": _value(tag)} for tag in tags]


def _value(tag: JsonObject) -> JsonObject:
    member = VALUE_MEMBERS.get(str(tag.get("type", "")).lower())
    value = tag.get("value")
    if member is None:
        members = {bool: "boolValue", int: "intValue", float: "doubleValue"}
        member = members.get(type(value), "stringValue")
    elif member == "boolValue" and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    return {member: value}


def _padded(value: Any, digits: int) -> str | None:
    """The hex id with the leading zeros that Jaeger leaves out."""
    return None if value is None else str(value).rjust(digits, "0")


def _microseconds(value: Any) -> int:
    found = 0 if value is None else integer(value, "a time")
    if found is None:
        raise ValueError(value)
    return found
