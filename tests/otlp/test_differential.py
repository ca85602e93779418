"""The fast decoders against a slow one written over opentelemetry-proto's objects, field by field."""

from __future__ import annotations

import base64
import gzip
import json
import math
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, EntityRef, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from spanscore.otlp import decode_logs, decode_logs_json, decode_traces, decode_traces_json

CORPUS = Path(__file__).parents[1] / "corpus"
CAPTURED_TWICE = sorted(
    path for path in CORPUS.glob("*/*.pb.gz") if path.with_name(path.name.replace(".pb.gz", ".jsonl")).exists()
)
EMPTY = dict.fromkeys(("string_value", "bool_value", "int_value", "double_value", "bytes_value", "json_value"))

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
names = st.sampled_from(["a", "a.b", "", 'q"\n', "kelvin"]) | texts
counts = st.sampled_from([0, 1, 2**32 - 1]) | st.integers(0, 2**32 - 1)
times = st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
int64s = st.sampled_from([0, -1, 2**53 + 1, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
enums = st.integers(0, 5) | st.sampled_from([99, -1, 2**31 - 1])
trace_ids = st.sampled_from([b"\x01" * 16, b"\xab" * 16]) | st.sampled_from([b"", b"\0" * 16, b"7 bytes", b"x" * 17])
span_ids = st.integers(1, 2**64 - 1).map(lambda n: n.to_bytes(8, "big")) | st.sampled_from([b"", b"\0" * 8, b"short"])

plain_values = st.one_of(
    st.builds(AnyValue),
    st.builds(AnyValue, string_value=texts),
    st.builds(AnyValue, bool_value=st.booleans()),
    st.builds(AnyValue, int_value=int64s),
    st.builds(AnyValue, double_value=st.floats()),
    st.builds(AnyValue, bytes_value=st.binary(max_size=6)),
)


def _array(values: list[AnyValue]) -> AnyValue:
    made = AnyValue()
    made.array_value.SetInParent()
    made.array_value.values.extend(values)
    return made


def _kvlist(entries: list[KeyValue]) -> AnyValue:
    made = AnyValue()
    made.kvlist_value.SetInParent()
    made.kvlist_value.values.extend(entries)
    return made


any_values = st.recursive(
    plain_values,
    lambda inner: (
        st.lists(inner, max_size=3).map(_array)
        | st.lists(st.builds(KeyValue, key=names, value=inner), max_size=3).map(_kvlist)
    ),
    max_leaves=5,
)
attributes = st.lists(st.builds(KeyValue, key=names, value=any_values) | st.builds(KeyValue, key=names), max_size=4)
entity_refs = st.builds(
    EntityRef,
    schema_url=texts,
    type=texts,
    id_keys=st.lists(texts, max_size=2),
    description_keys=st.lists(texts, max_size=2),
)
resources = st.none() | st.builds(
    Resource,
    attributes=attributes,
    dropped_attributes_count=counts,
    entity_refs=st.lists(entity_refs, max_size=2),
)
scopes = st.none() | st.builds(
    InstrumentationScope, name=names, version=texts, attributes=attributes, dropped_attributes_count=counts
)
events = st.builds(Span.Event, time_unix_nano=times, name=names, attributes=attributes, dropped_attributes_count=counts)
links = st.builds(
    Span.Link,
    trace_id=trace_ids,
    span_id=span_ids,
    trace_state=texts,
    attributes=attributes,
    dropped_attributes_count=counts,
    flags=counts,
)
spans = st.builds(
    Span,
    trace_id=trace_ids,
    span_id=span_ids,
    trace_state=texts,
    parent_span_id=span_ids,
    flags=counts,
    name=names,
    kind=enums,
    start_time_unix_nano=times,
    end_time_unix_nano=times,
    attributes=attributes,
    dropped_attributes_count=counts,
    events=st.lists(events, max_size=2),
    dropped_events_count=counts,
    links=st.lists(links, max_size=2),
    dropped_links_count=counts,
    status=st.none() | st.builds(Status, message=texts, code=enums),
)
trace_requests = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=resources,
            scope_spans=st.lists(
                st.builds(ScopeSpans, scope=scopes, spans=st.lists(spans, max_size=3), schema_url=texts), max_size=2
            ),
            schema_url=texts,
        ),
        max_size=2,
    ),
)
log_records = st.builds(
    LogRecord,
    time_unix_nano=times,
    observed_time_unix_nano=times,
    severity_number=enums,
    severity_text=texts,
    body=st.none() | any_values,
    attributes=attributes,
    dropped_attributes_count=counts,
    flags=counts,
    trace_id=trace_ids,
    span_id=span_ids,
    event_name=texts,
)
log_requests = st.builds(
    ExportLogsServiceRequest,
    resource_logs=st.lists(
        st.builds(
            ResourceLogs,
            resource=resources,
            scope_logs=st.lists(
                st.builds(ScopeLogs, scope=scopes, log_records=st.lists(log_records, max_size=3), schema_url=texts),
                max_size=2,
            ),
            schema_url=texts,
        ),
        max_size=2,
    ),
)


def plain(value: AnyValue) -> Any:
    """What a nested value is in JSON."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    content = getattr(value, kind)
    if kind == "array_value":
        return [plain(part) for part in content.values]
    if kind == "kvlist_value":
        return {entry.key: plain(entry.value) for entry in content.values}
    if kind == "bytes_value":
        return base64.b64encode(content).decode()
    if kind == "double_value" and not math.isfinite(content):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(content, "NaN")
    return content


def expected_value(value: AnyValue) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind is None:
        return EMPTY
    if kind in ("array_value", "kvlist_value"):
        return EMPTY | {"json_value": plain(value)}
    return EMPTY | {kind: getattr(value, kind)}


def expected_attributes(entries: Any) -> list[dict[str, Any]]:
    keys = [entry.key for entry in entries]
    return [
        {"key": entry.key, "value": expected_value(entry.value)}
        for place, entry in enumerate(entries)
        if entry.key not in keys[place + 1 :]
    ]


def has_duplicates(entries: Any) -> bool:
    return len({entry.key for entry in entries}) < len(entries)


def is_id(value: bytes, size: int) -> bool:
    return len(value) == size and any(value)


def expected_owners(request: Any, owners: str, scopes_name: str) -> tuple[list[Any], list[Any]]:
    resource_rows, scope_rows = [], []
    for owner in getattr(request, owners):
        sent = owner.HasField("resource")
        refs = [
            {
                "schema_url": ref.schema_url,
                "type": ref.type,
                "id_keys": list(ref.id_keys),
                "description_keys": list(ref.description_keys),
            }
            for ref in owner.resource.entity_refs
        ]
        resource_rows.append(
            {
                "resource_index": len(resource_rows),
                "attributes": expected_attributes(owner.resource.attributes) if sent else None,
                "dropped_attributes_count": owner.resource.dropped_attributes_count if sent else None,
                "entity_refs": refs or None,
                "schema_url": owner.schema_url or None,
            }
        )
        for scope_owner in getattr(owner, scopes_name):
            sent, scope = scope_owner.HasField("scope"), scope_owner.scope
            scope_rows.append(
                {
                    "scope_index": len(scope_rows),
                    "name": scope.name or None,
                    "version": scope.version or None,
                    "attributes": expected_attributes(scope.attributes) if sent else None,
                    "dropped_attributes_count": scope.dropped_attributes_count if sent else None,
                    "schema_url": scope_owner.schema_url or None,
                }
            )
    return resource_rows, scope_rows


def expected_traces(request: ExportTraceServiceRequest) -> dict[str, Any]:
    resource_rows, scope_rows = expected_owners(request, "resource_spans", "scope_spans")
    rows: dict[str, Any] = {"resources": resource_rows, "scopes": scope_rows, "log_records": []}
    rows |= {"spans": [], "span_events": [], "span_links": [], "rejected_spans": {}, "rejected_log_records": {}}
    scope_index = -1
    for resource_index, owner in enumerate(request.resource_spans):
        for scope_owner in owner.scope_spans:
            scope_index += 1
            for span in scope_owner.spans:
                if not (is_id(span.trace_id, 16) and is_id(span.span_id, 8)):
                    reason = "invalid_span_id" if is_id(span.trace_id, 16) else "invalid_trace_id"
                    rows["rejected_spans"][reason] = rows["rejected_spans"].get(reason, 0) + 1
                    continue
                lists = [span.attributes, owner.resource.attributes, scope_owner.scope.attributes]
                lists += [part.attributes for part in [*span.events, *span.links]]
                problems = ["bad_parent_id"] if span.parent_span_id and not is_id(span.parent_span_id, 8) else []
                are_linked = [is_id(link.trace_id, 16) and is_id(link.span_id, 8) for link in span.links]
                problems = (["bad_link_id"] if not all(are_linked) else []) + problems
                problems += ["duplicate_attribute_key"] if any(map(has_duplicates, lists)) else []
                span_index = len(rows["spans"])
                rows["spans"].append(
                    {
                        "trace_id": span.trace_id,
                        "span_id": span.span_id,
                        "parent_span_id": span.parent_span_id if is_id(span.parent_span_id, 8) else None,
                        "trace_state": span.trace_state or None,
                        "flags": span.flags,
                        "name": span.name,
                        "kind": span.kind,
                        "start_time_unix_nano": span.start_time_unix_nano,
                        "end_time_unix_nano": span.end_time_unix_nano,
                        "status_code": span.status.code,
                        "status_message": span.status.message or None,
                        "attributes": expected_attributes(span.attributes),
                        "dropped_attributes_count": span.dropped_attributes_count,
                        "dropped_events_count": span.dropped_events_count,
                        "dropped_links_count": span.dropped_links_count,
                        "resource_index": resource_index,
                        "scope_index": scope_index,
                        "problems": problems or None,
                    }
                )
                for event_index, event in enumerate(span.events):
                    rows["span_events"].append(
                        {
                            "span_index": span_index,
                            "event_index": event_index,
                            "time_unix_nano": event.time_unix_nano,
                            "name": event.name,
                            "attributes": expected_attributes(event.attributes),
                            "dropped_attributes_count": event.dropped_attributes_count,
                        }
                    )
                for link_index, link in enumerate(span.links):
                    rows["span_links"].append(
                        {
                            "span_index": span_index,
                            "link_index": link_index,
                            "linked_trace_id": link.trace_id if is_id(link.trace_id, 16) else None,
                            "linked_span_id": link.span_id if is_id(link.span_id, 8) else None,
                            "trace_state": link.trace_state or None,
                            "flags": link.flags,
                            "attributes": expected_attributes(link.attributes),
                            "dropped_attributes_count": link.dropped_attributes_count,
                        }
                    )
    return rows


def expected_logs(request: ExportLogsServiceRequest) -> dict[str, Any]:
    resource_rows, scope_rows = expected_owners(request, "resource_logs", "scope_logs")
    rows: dict[str, Any] = {"resources": resource_rows, "scopes": scope_rows, "log_records": []}
    rows |= {"spans": [], "span_events": [], "span_links": [], "rejected_spans": {}, "rejected_log_records": {}}
    scope_index = -1
    for resource_index, owner in enumerate(request.resource_logs):
        for scope_owner in owner.scope_logs:
            scope_index += 1
            rows["log_records"] += [
                {
                    "trace_id": record.trace_id if is_id(record.trace_id, 16) else None,
                    "span_id": record.span_id if is_id(record.span_id, 8) else None,
                    "time_unix_nano": record.time_unix_nano,
                    "observed_time_unix_nano": record.observed_time_unix_nano,
                    "severity_number": record.severity_number,
                    "severity_text": record.severity_text or None,
                    "event_name": record.event_name or None,
                    "body": expected_value(record.body),
                    "attributes": expected_attributes(record.attributes),
                    "dropped_attributes_count": record.dropped_attributes_count,
                    "flags": record.flags,
                    "resource_index": resource_index,
                    "scope_index": scope_index,
                    "problems": ["duplicate_attribute_key"]
                    if any(has_duplicates(sender.attributes) for sender in (record, owner.resource, scope_owner.scope))
                    else None,
                }
                for record in scope_owner.log_records
            ]
    return rows


def _parsed(key: str, value: Any) -> Any:
    return json.loads(value) if key in ("json_value", "entity_refs") and isinstance(value, str) else value


def comparable(rows: Any) -> Any:
    """The rows with JSON text parsed, and NaN and other doubles as words, so that `==` compares exactly."""
    if isinstance(rows, dict):
        return {key: comparable(_parsed(key, value)) for key, value in rows.items()}
    if isinstance(rows, list):
        return [comparable(row) for row in rows]
    return repr(rows) if isinstance(rows, float) else rows


@settings(max_examples=60, deadline=None)
@given(request_=trace_requests)
def test_traces_equal_the_slow_decoder(otlp_json: Any, rows_of: Any, request_: ExportTraceServiceRequest) -> None:
    expected = comparable(expected_traces(request_))

    assert expected == comparable(rows_of(decode_traces([request_.SerializeToString()])))
    assert expected == comparable(rows_of(decode_traces_json(orjson.dumps(otlp_json(request_)))))


@settings(max_examples=60, deadline=None)
@given(request_=log_requests)
def test_logs_equal_the_slow_decoder(otlp_json: Any, rows_of: Any, request_: ExportLogsServiceRequest) -> None:
    expected = comparable(expected_logs(request_))

    assert expected == comparable(rows_of(decode_logs([request_.SerializeToString()])))
    assert expected == comparable(rows_of(decode_logs_json(orjson.dumps(otlp_json(request_)))))


def varint_records(content: bytes) -> list[bytes]:
    found, position = [], 0
    while position < len(content):
        length = shift = 0
        while True:
            byte = content[position]
            position += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found.append(content[position : position + length])
        position += length
    return found


@pytest.mark.parametrize("path", CAPTURED_TWICE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_capture_reads_the_same_from_protobuf_and_json(path: Path, rows_of: Any) -> None:
    records = varint_records(gzip.decompress(path.read_bytes()))
    lines = path.with_name(path.name.replace(".pb.gz", ".jsonl")).read_bytes().splitlines()
    from_protobuf, from_json = (
        (decode_logs, decode_logs_json) if ".logs." in path.name else (decode_traces, decode_traces_json)
    )

    assert len(records) == len(lines) > 0
    for record, line in zip(records, lines, strict=True):
        assert rows_of(from_protobuf([record])) == rows_of(from_json(line))
