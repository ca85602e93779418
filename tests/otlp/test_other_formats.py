"""Jaeger's and Tempo's JSON become the spans they were made from."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.otlp import FileChunk, decode_traces, json_stream, read_paths

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"


def read(folder: Path, document: Any, indent: int | None = None) -> FileChunk:
    path = folder / "document.json"
    path.write_text(json.dumps(document, indent=indent))
    (chunk,) = read_paths([path])
    return chunk


def attributes_of(row: dict[str, Any]) -> dict[str, Any]:
    return {
        entry["key"]: next((content for content in entry["value"].values() if content is not None), None)
        for entry in row["attributes"]
    }


def jaeger_span(**fields: Any) -> dict[str, Any]:
    return {
        "traceID": TRACE,
        "spanID": SPAN,
        "operationName": "chat",
        "startTime": 1_700_000_000_000_001,
        "duration": 250,
        "processID": "p1",
        "warnings": None,
    } | fields


def jaeger(*spans: dict[str, Any]) -> dict[str, Any]:
    processes = {
        "p1": {"serviceName": "agent", "tags": [{"key": "host.name", "type": "string", "value": "h"}]},
        "p2": {"serviceName": "tools", "tags": []},
    }
    return {"data": [{"traceID": TRACE, "spans": list(spans), "processes": processes}], "total": 0, "errors": None}


@pytest.mark.parametrize("indent", [None, 4])
def test_a_jaeger_span_is_read_whole(tmp_path: Path, indent: int | None) -> None:
    tags = [
        {"key": "span.kind", "type": "string", "value": "client"},
        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        {"key": "otel.status_description", "type": "string", "value": "boom"},
        {"key": "error", "type": "bool", "value": True},
        {"key": "otel.scope.name", "type": "string", "value": "scope"},
        {"key": "otel.scope.version", "type": "string", "value": "1.2"},
        {"key": "w3c.tracestate", "type": "string", "value": "a=b"},
        {"key": "tokens", "type": "int64", "value": 9007199254740993},
        {"key": "large", "type": "int64", "value": "9223372036854775807"},
        {"key": "ratio", "type": "float64", "value": 0.5},
        {"key": "done", "type": "bool", "value": False},
        {"key": "raw", "type": "binary", "value": "+/8="},
        {"key": "untyped", "value": 3},
    ]
    references = [
        {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": "1"},
        {"refType": "CHILD_OF", "traceID": TRACE, "spanID": PARENT},
    ]
    logs = [
        {
            "timestamp": 1_700_000_000_000_002,
            "fields": [
                {"key": "event", "type": "string", "value": "exception"},
                {"key": "exception.type", "type": "string", "value": "ValueError"},
            ],
        }
    ]
    span = jaeger_span(tags=tags, references=references, logs=logs, warnings=["clock skew"], flags=1)

    tables = read(tmp_path, jaeger(span, jaeger_span(processID="p2", spanID="2")), indent).tables

    row, other = tables.spans.to_pylist()
    assert (row["trace_id"].hex(), row["span_id"].hex(), row["parent_span_id"].hex()) == (TRACE, SPAN, PARENT)
    assert (row["name"], row["kind"], row["status_code"], row["status_message"]) == ("chat", 3, 2, "boom")
    assert (row["trace_state"], row["flags"]) == ("a=b", 1)
    assert row["start_time_unix_nano"] == 1_700_000_000_000_001_000
    assert row["end_time_unix_nano"] - row["start_time_unix_nano"] == 250_000
    assert attributes_of(row) == {
        "tokens": 9007199254740993,
        "large": 2**63 - 1,
        "ratio": 0.5,
        "done": False,
        "raw": b"\xfb\xff",
        "untyped": 3,
        "jaeger.warnings": '["clock skew"]',
    }
    (event,) = tables.span_events.to_pylist()
    assert (event["name"], event["time_unix_nano"]) == ("exception", 1_700_000_000_000_002_000)
    assert attributes_of(event) == {"exception.type": "ValueError"}
    (link,) = tables.span_links.to_pylist()
    assert (link["linked_trace_id"].hex(), link["linked_span_id"].hex()) == (TRACE, "1".rjust(16, "0"))
    scopes = tables.scopes.to_pylist()
    assert [(scope["name"], scope["version"]) for scope in scopes] == [("scope", "1.2"), (None, None)]
    resources = [attributes_of(resource) for resource in tables.resources.to_pylist()]
    assert resources == [{"service.name": "agent", "host.name": "h"}, {"service.name": "tools"}]
    assert (other["resource_index"], other["span_id"].hex()) == (1, "2".rjust(16, "0"))


def test_an_unset_jaeger_status_stays_unset_and_short_trace_ids_are_padded(tmp_path: Path) -> None:
    (row,) = read(tmp_path, jaeger(jaeger_span(traceID="8448eb211c80319c"))).tables.spans.to_pylist()

    assert (row["status_code"], row["kind"], row["parent_span_id"]) == (0, 0, None)
    assert row["trace_id"].hex() == "8448eb211c80319c".rjust(32, "0")


@pytest.mark.parametrize(
    "bad",
    [
        5,
        {"traceID": "xyz"},
        jaeger_span(startTime="soon"),
        jaeger_span(startTime=0.5),
        jaeger_span(startTime="1e30"),
        jaeger_span(startTime=1e30),
        jaeger_span(tags=[{"type": "string"}]),
        jaeger_span(tags=[{"key": "n", "type": "int64", "value": 1.5}]),
        jaeger_span(logs=[1]),
        jaeger_span(operationName=1),
    ],
)
def test_a_bad_jaeger_span_is_counted_and_the_others_kept(tmp_path: Path, bad: Any) -> None:
    chunk = read(tmp_path, jaeger(jaeger_span(), bad))

    assert len(chunk.tables.spans) == 1
    assert sum(chunk.tables.rejected_spans.values()) == 1


def test_a_jaeger_time_may_be_written_with_a_point_and_costs_itself_alone_where_it_does_not_fit(tmp_path: Path) -> None:
    spans = [jaeger_span(startTime=1.5e15, duration="2.0"), jaeger_span(startTime=-5, duration=0)]

    first, second = read(tmp_path, jaeger(*spans)).tables.spans.to_pylist()

    times = "start_time_unix_nano", "end_time_unix_nano", "problems"
    assert (1_500_000_000_000_000_000, 1_500_000_000_000_002_000, None) == tuple(first[name] for name in times)
    assert (0, 0, ["integer_out_of_range"]) == tuple(second[name] for name in times)


@pytest.mark.parametrize(
    "document", [{"data": [{"traceID": 1, "spans": {"a": 1}}]}, {"data": [["traceID"]], "traceID": 1}]
)
def test_another_shape_of_jaeger_document_is_named(tmp_path: Path, document: Any) -> None:
    assert [problem.reason for problem in read(tmp_path, document).rejected_lines] == ["malformed_jaeger"]


def tempo_request() -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    owner = request.resource_spans.add()
    owner.resource.attributes.add(key="service.name").value.string_value = "agent"
    scope_spans = owner.scope_spans.add()
    scope_spans.scope.name = "scope"
    for place in range(1, 6):
        span = scope_spans.spans.add(
            trace_id=b"\xff" * 16, span_id=bytes([place]) * 8, parent_span_id=b"p" * 8, name=f"span {place}", kind=3
        )
        span.status.code = 2
        span.start_time_unix_nano = 2**63 + place
        span.attributes.add(key="n").value.int_value = place
        span.links.add(trace_id=b"l" * 16, span_id=b"\xfe" * 8)
    return request


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("ids", ["base64", "hex"])
def test_a_tempo_document_is_read_with_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_of: Any, *, is_cut: bool, is_old: bool, ids: str
) -> None:
    if is_cut:
        monkeypatch.setattr(json_stream, "WHOLE_BYTES", 100)
    document = MessageToDict(tempo_request())
    text = json.dumps({"batches": document["resourceSpans"]})
    if is_old:
        text = text.replace("scopeSpans", "instrumentationLibrarySpans").replace(
            '"scope":', '"instrumentationLibrary":'
        )
    if ids == "hex":
        for raw in (b"\xff" * 16, b"p" * 8, b"l" * 16, b"\xfe" * 8, *(bytes([place]) * 8 for place in range(1, 6))):
            text = text.replace(base64.b64encode(raw).decode(), raw.hex())
    assert "SPAN_KIND_CLIENT" in text

    chunk = read(tmp_path, json.loads(text))

    assert chunk.rejected_lines == []
    assert rows_of(chunk.tables) == rows_of(decode_traces([tempo_request().SerializeToString()]))
