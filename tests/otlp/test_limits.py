"""What one span may hold: too many parts reject it, a text that is too long is cut and says so, in both encodings."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from spanscore.otlp import (
    RawTables,
    SpanLimits,
    decode_logs,
    decode_logs_json,
    decode_traces,
    decode_traces_json,
    read_paths,
)
from spanscore.otlp.limits import marked

LIMITS = SpanLimits(max_attributes=3, max_events=2, max_links=1, max_text_bytes=200, max_content_bytes=1250)
LONG = "ä" * 150  # 300 bytes
KEYS = [{"key": f"k{n}", "value": {"int_value": n}} for n in range(4)]
TEXTS = [{"key": f"t{n}" + "x" * 20, "value": {"string_value": LONG}} for n in range(3)]
IDS = {"trace_id": b"\x02" * 16, "span_id": b"\x03" * 8}

Decode = Callable[[Message], RawTables]


@pytest.fixture(params=["protobuf", "json"])
def decode(request: pytest.FixtureRequest, otlp_json: Callable[[Message], dict[str, Any]]) -> Decode:
    """Tables of a request, by way of each encoding."""

    def run(message: Message) -> RawTables:
        is_logs = isinstance(message, ExportLogsServiceRequest)
        if request.param == "protobuf":
            return (decode_logs if is_logs else decode_traces)([message.SerializeToString()], LIMITS)
        return (decode_logs_json if is_logs else decode_traces_json)(json.dumps(otlp_json(message)).encode(), LIMITS)

    return run


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        ({"attributes": KEYS}, "too_many_attributes"),
        ({"events": [{}, {"attributes": KEYS}]}, "too_many_attributes"),
        ({"links": [{**IDS, "attributes": KEYS}]}, "too_many_attributes"),
        ({"events": [{}] * 3}, "too_many_events"),
        ({"links": [IDS] * 2}, "too_many_links"),
        ({"attributes": TEXTS, "events": [{"attributes": TEXTS}]}, "too_large"),
        ({"attributes": TEXTS, "links": [{**IDS, "attributes": TEXTS}]}, "too_large"),
        ({"links": [IDS] * 2, "trace_id": b"short"}, "invalid_trace_id"),
        ({"events": [{}] * 3, "attributes": KEYS}, "too_many_attributes"),
    ],
)
def test_a_span_with_too_many_parts_is_rejected_and_the_others_kept(
    request_of: Callable[..., Any], decode: Decode, span: dict[str, Any], reason: str
) -> None:
    most = {"attributes": [*KEYS[:1], *TEXTS[:2]], "events": [{"name": "kept"}] * 2, "links": [IDS]}

    tables = decode(request_of(most, span, most))

    assert tables.rejected_spans == {reason: 1}
    assert tables.spans["span_id"].to_pylist() == [bytes([0] * 7 + [n]) for n in (1, 3)]
    assert tables.span_events["span_index"].to_pylist() == [0, 0, 1, 1]
    assert tables.span_links["span_index"].to_pylist() == [0, 1]


@pytest.mark.parametrize("owner", ["resource", "scope"])
def test_too_many_attributes_of_an_owner_reject_its_spans(
    request_of: Callable[..., Any], decode: Decode, owner: str
) -> None:
    request = request_of({}, {})
    request.resource_spans.add().CopyFrom(request.resource_spans[0])
    first = request.resource_spans[0]
    attributes = (first.resource if owner == "resource" else first.scope_spans[0].scope).attributes
    for n in range(4):
        attributes.add(key=f"k{n}").value.int_value = n

    tables = decode(request)

    assert tables.rejected_spans == {"too_many_attributes": 2}
    assert len(tables.spans) == 2


def test_a_log_record_with_too_much_in_it_is_rejected(decode: Decode) -> None:
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    records.add(severity_number=1)
    records.add(severity_number=2, attributes=KEYS)
    large = {"kvlist_value": {"values": TEXTS}}
    records.add(severity_number=3, attributes=[{"key": f"k{n}", "value": large} for n in range(3)], body=large)
    for n in range(3):
        records[-1].attributes[n].key += "x" * 160

    tables = decode(request)

    assert tables.rejected_log_records == {"too_many_attributes": 1, "too_large": 1}
    assert tables.log_records["severity_number"].to_pylist() == [1]


def test_every_text_of_a_span_is_cut(request_of: Callable[..., Any], decode: Decode) -> None:
    entry = [{"key": LONG, "value": {"string_value": LONG}}]
    request = request_of(
        {
            "name": LONG,
            "trace_state": LONG,
            "status": {"message": LONG},
            "attributes": entry,
            "events": [{"name": LONG, "attributes": entry}],
            "links": [{**IDS, "trace_state": LONG, "attributes": entry}],
        }
    )
    owner = request.resource_spans[0]
    owner.schema_url = owner.scope_spans[0].scope.name = owner.scope_spans[0].scope.version = LONG
    owner.resource.attributes.add(key=LONG).value.string_value = LONG
    owner.resource.entity_refs.add(type=LONG)

    tables = decode(request)
    rows = {name: getattr(tables, name).to_pylist()[0] for name in ("resources", "scopes", "spans", "span_events")}
    rows["span_links"] = tables.span_links.to_pylist()[0]
    texts = re.findall("ä+… \\[first part of 300 bytes, sha256 [0-9a-f]{64}, truncated]", repr(rows))

    assert LONG not in repr(rows)
    assert len(texts) == 8 + 2 * 4
    assert set(texts) == {marked(LONG, 200)}
    assert len(texts[0].encode()) in (199, 200)
    assert rows["resources"]["entity_refs"] is None
    assert rows["spans"]["problems"] == ["truncated_value"]


@pytest.mark.parametrize(
    ("value", "original"),
    [
        ({"string_value": LONG}, LONG.encode()),
        ({"bytes_value": b"\xff" * 201}, b"\xff" * 201),
        ({"array_value": {"values": [{"string_value": LONG}]}}, f'["{LONG}"]'.encode()),
        ({"kvlist_value": {"values": [{"key": "k", "value": {"string_value": LONG}}]}}, f'{{"k":"{LONG}"}}'.encode()),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_value_of_any_kind_becomes_text_when_it_is_cut(
    request_of: Callable[..., Any], decode: Decode, value: dict[str, Any], original: bytes
) -> None:
    entries = [{"key": "a", "value": {"int_value": 1}}, {"key": "b", "value": value}, {"key": "c"}]
    tables = decode(request_of({"name": "whole"}, {"attributes": entries}, {"name": "whole"}))
    stored = tables.spans["attributes"][1].as_py()
    text = stored[1]["value"].pop("string_value")
    note = f"… [first part of {len(original)} bytes, sha256 {hashlib.sha256(original).hexdigest()}, truncated]"

    assert [entry["key"] for entry in stored] == ["a", "b", "c"]
    assert set(stored[1]["value"].values()) == {None}
    assert text.endswith(note)
    start = text.removesuffix(note).encode()
    assert start
    assert original.startswith(start) or base64.b64encode(original).startswith(start)
    assert stored[0]["value"]["int_value"] == 1
    assert tables.spans["problems"].to_pylist() == [None, ["truncated_value"], None]


def test_texts_of_log_records_are_cut_and_noted(decode: Decode) -> None:
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    records.add(severity_text="x").body.string_value = LONG
    records.add(event_name=LONG)
    records.add(severity_text="x").body.string_value = "short"

    rows = decode(request).log_records

    assert rows["problems"].to_pylist() == [["truncated_value"], ["truncated_value"], None]
    assert rows["body"][0].as_py()["string_value"] == rows["event_name"][1].as_py() == marked(LONG, 200)


def test_a_text_of_just_the_limit_is_kept_and_a_cut_one_is_not_cut_again(
    request_of: Callable[..., Any], decode: Decode
) -> None:
    once = marked(LONG, 200)
    for text in ("ä" * 100, once, ""):
        tables = decode(request_of({"name": text}))

        assert tables.spans["name"].to_pylist() == [text]
        assert tables.spans["problems"].to_pylist() == [None]


def test_a_note_alone_may_be_longer_than_the_limit() -> None:
    assert re.fullmatch("… \\[first part of 9 bytes, sha256 [0-9a-f]{64}, truncated]", marked("x" * 9, 8))


def test_files_have_the_same_limits(tmp_path: Path, request_of: Callable[..., Any]) -> None:
    request = request_of({"name": "x" * (1 << 20)}, {"name": "y" * ((1 << 20) + 1)})
    path = tmp_path / "spans.bin"
    path.write_bytes(request.SerializeToString())

    (chunk,) = read_paths([path])

    assert chunk.tables.spans["problems"].to_pylist() == [None, ["truncated_value"]]
    (chunk,) = read_paths([path], limits=SpanLimits(max_text_bytes=2 << 20))
    assert chunk.tables.spans["problems"].to_pylist() == [None, None]
