"""Golden telemetry as OTLP requests, written field by field: protobuf with the published messages, JSON by hand."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Record = dict[str, Any]
PER_REQUEST = 500


def batches(items: list[Record]) -> Iterator[list[Record]]:
    """The items, so many at a time as exporters send."""
    for start in range(0, len(items), PER_REQUEST):
        yield items[start : start + PER_REQUEST]


def grouped(items: list[Record]) -> dict[int, dict[int, list[Record]]]:
    """Items by resource and scope."""
    groups: dict[int, dict[int, list[Record]]] = {}
    for item in items:
        groups.setdefault(item["resource"], {}).setdefault(item["scope"], []).append(item)
    return groups


# Protobuf


def fill_value(message: Any, value: list[Any]) -> None:
    kind, content = value
    if kind == "array":
        message.array_value.SetInParent()
        for part in content:
            fill_value(message.array_value.values.add(), part)
    elif kind == "kvlist":
        message.kvlist_value.SetInParent()
        fill_attributes(message.kvlist_value.values, content)
    elif kind != "empty":
        read: Mapping[str, Callable[[Any], Any]] = {"int": int, "double": float, "bytes": b64decode}
        setattr(message, f"{kind}_value", read.get(kind, lambda same: same)(content))


def fill_attributes(field: Any, pairs: list[list[Any]]) -> None:
    for key, value in pairs:
        fill_value(field.add(key=key).value, value)


def fill_span(message: Any, span: Record) -> None:
    for name in ("trace_id", "span_id", "parent_span_id"):
        setattr(message, name, bytes.fromhex(span[name]))
    for name in ("trace_state", "flags", "name", "kind"):
        setattr(message, name, span[name])
    for name in ("dropped_attributes_count", "dropped_events_count", "dropped_links_count"):
        setattr(message, name, span[name])
    message.start_time_unix_nano = int(span["start_time_unix_nano"])
    message.end_time_unix_nano = int(span["end_time_unix_nano"])
    message.status.code, message.status.message = span["status"]["code"], span["status"]["message"]
    fill_attributes(message.attributes, span["attributes"])
    for event in span["events"]:
        part = message.events.add(time_unix_nano=int(event["time_unix_nano"]), name=event["name"])
        part.dropped_attributes_count = event["dropped_attributes_count"]
        fill_attributes(part.attributes, event["attributes"])
    for link in span["links"]:
        part = message.links.add(trace_state=link["trace_state"], flags=link["flags"])
        part.trace_id, part.span_id = bytes.fromhex(link["trace_id"]), bytes.fromhex(link["span_id"])
        part.dropped_attributes_count = link["dropped_attributes_count"]
        fill_attributes(part.attributes, link["attributes"])


def fill_log_record(message: Any, record: Record) -> None:
    for name in ("trace_id", "span_id"):
        setattr(message, name, bytes.fromhex(record[name]))
    for name in ("severity_number", "severity_text", "event_name", "dropped_attributes_count", "flags"):
        setattr(message, name, record[name])
    message.time_unix_nano = int(record["time_unix_nano"])
    message.observed_time_unix_nano = int(record["observed_time_unix_nano"])
    fill_value(message.body, record["body"])
    fill_attributes(message.attributes, record["attributes"])


def protobuf(description: Record, items: list[Record], *, are_logs: bool) -> bytes:
    """A request with the items."""
    request = ExportLogsServiceRequest() if are_logs else ExportTraceServiceRequest()
    for resource_index, scopes in grouped(items).items():
        resource = description["resources"][resource_index]
        group = (request.resource_logs if are_logs else request.resource_spans).add(schema_url=resource["schema_url"])
        group.resource.dropped_attributes_count = resource["dropped_attributes_count"]
        fill_attributes(group.resource.attributes, resource["attributes"])
        for scope_index, members in scopes.items():
            scope = description["scopes"][scope_index]
            part = (group.scope_logs if are_logs else group.scope_spans).add(schema_url=scope["schema_url"])
            for name in ("name", "version", "dropped_attributes_count"):
                setattr(part.scope, name, scope[name])
            fill_attributes(part.scope.attributes, scope["attributes"])
            for member in members:
                if are_logs:
                    fill_log_record(part.log_records.add(), member)
                else:
                    fill_span(part.spans.add(), member)
    content: bytes = request.SerializeToString()
    return content


# JSON

NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def json_value(value: list[Any]) -> Record:
    kind, content = value
    if kind == "array":
        return {"arrayValue": {"values": [json_value(part) for part in content]}}
    if kind == "kvlist":
        return {"kvlistValue": {"values": json_attributes(content)}}
    if kind == "empty":
        return {}
    if kind == "double":
        content = NUMBERS.get(content) or float(content)
    return {f"{kind}Value": content}


def json_attributes(pairs: list[list[Any]]) -> list[Record]:
    return [{"key": key, "value": json_value(value)} for key, value in pairs]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def json_item(item: Record) -> Record:
    """A golden span, event, link or log record in OTLP/JSON: all but the attributes only changes its keys."""
    not_sent = {"row", "parent_is_remote", "trace_flags", "is_remote", "resource", "scope"}
    written = {camel(name): content for name, content in item.items() if name not in not_sent}
    written["attributes"] = json_attributes(item["attributes"])
    if "body" in item:
        written["body"] = json_value(item["body"])
    for name in ("events", "links"):
        if name in item:
            written[name] = [json_item(part) for part in item[name]]
    return written


def json_request(description: Record, items: list[Record], *, are_logs: bool) -> Record:
    """A request with the items."""
    noun, members_are = ("Logs", "logRecords") if are_logs else ("Spans", "spans")
    groups = []
    for resource_index, scopes in grouped(items).items():
        parts = []
        for scope_index, members in scopes.items():
            scope = description["scopes"][scope_index]
            written = {camel(name): scope[name] for name in ("name", "version", "dropped_attributes_count")}
            written["attributes"] = json_attributes(scope["attributes"])
            listed = [json_item(member) for member in members]
            parts.append({"scope": written, members_are: listed, "schemaUrl": scope["schema_url"]})
        resource = description["resources"][resource_index]
        owner = {
            "attributes": json_attributes(resource["attributes"]),
            "droppedAttributesCount": resource["dropped_attributes_count"],
        }
        groups.append({"resource": owner, f"scope{noun}": parts, "schemaUrl": resource["schema_url"]})
    return {f"resource{noun}": groups}
