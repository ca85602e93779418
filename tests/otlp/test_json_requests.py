"""What strict OTLP/JSON accepts, and what it refuses with which reason."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from spanscore.otlp import DecodeError, RawTables, decode_logs_json, decode_traces_json

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
Rows = Callable[[RawTables], dict[str, Any]]


def request(**fields: Any) -> bytes:
    """A request of one span with the given fields."""
    span = {"traceId": TRACE, "spanId": SPAN} | fields
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def value_of(value: Any) -> dict[str, Any]:
    """What is stored of an attribute value: its one member, or nothing."""
    tables = decode_traces_json(request(attributes=[{"key": "k", "value": value}]))
    (attribute,) = tables.spans["attributes"][0].as_py()
    return {member: content for member, content in attribute["value"].items() if content is not None}


def reason_for(payload: bytes) -> str:
    with pytest.raises(DecodeError) as caught:
        decode_traces_json(payload)
    return caught.value.reason


@pytest.mark.parametrize(
    "payload", [b"{}", b'{"resourceSpans":[]}', b'{"resourceSpans":[{}]}', b'{"resourceSpans":null}']
)
def test_a_request_without_spans_is_accepted(payload: bytes) -> None:
    assert len(decode_traces_json(payload).spans) == 0


@pytest.mark.parametrize("trace_id", [TRACE, TRACE.upper(), "5B8eFff798038103d269b633813FC60c"])
def test_ids_are_hex_of_any_case(trace_id: str) -> None:
    spans = decode_traces_json(request(traceId=trace_id, parentSpanId=SPAN.upper())).spans

    assert bytes.fromhex(TRACE) == spans["trace_id"][0].as_py()
    assert bytes.fromhex(SPAN) == spans["parent_span_id"][0].as_py()


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("traceId", base64.b64encode(bytes.fromhex(TRACE)).decode(), "invalid_trace_id"),
        ("traceId", base64.b64encode(TRACE.encode()).decode(), "invalid_trace_id"),
        ("traceId", TRACE[:-1], "invalid_trace_id"),
        ("traceId", TRACE[:-1] + "g", "invalid_trace_id"),
        ("traceId", TRACE[:-3] + " " + TRACE[-2:], "invalid_trace_id"),
        ("traceId", " " + TRACE[:-2] + " ", "invalid_trace_id"),
        ("traceId", "", "invalid_trace_id"),
        ("traceId", None, "invalid_trace_id"),
        ("traceId", "0" * 32, "invalid_trace_id"),
        ("traceId", TRACE + "00", "invalid_trace_id"),
        ("traceId", "٣" * 32, "invalid_trace_id"),
        ("spanId", base64.b64encode(bytes.fromhex(SPAN)).decode(), "invalid_span_id"),
        ("spanId", SPAN[:-2], "invalid_span_id"),
        ("spanId", "0" * 16, "invalid_span_id"),
        ("spanId", None, "invalid_span_id"),
    ],
)
def test_a_span_with_a_bad_id_is_rejected_by_reason(field: str, value: Any, reason: str) -> None:
    tables = decode_traces_json(request(**{field: value}))

    assert {reason: 1} == tables.rejected_spans
    assert len(tables.spans) == 0


@pytest.mark.parametrize(
    ("parent", "problems"), [("abc", ["bad_parent_id"]), ("0" * 16, ["bad_parent_id"]), ("", None)]
)
def test_a_bad_parent_id_is_null_and_noted(parent: str, problems: list[str] | None) -> None:
    (span,) = decode_traces_json(request(parentSpanId=parent)).spans.to_pylist()

    assert span["parent_span_id"] is None
    assert problems == span["problems"]


def test_valid_spans_beside_invalid_ones_keep_their_parts(rows_of: Rows) -> None:
    good = {
        "traceId": TRACE,
        "spanId": SPAN,
        "events": [{"name": "kept"}],
        "links": [{"traceId": TRACE, "spanId": SPAN}],
    }
    bad = good | {"spanId": "x", "events": [{"name": "lost"}]}
    payload = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [bad, good, bad, good | {"traceId": ""}]}]}]})

    rows = rows_of(decode_traces_json(payload))

    assert {"invalid_span_id": 2, "invalid_trace_id": 1} == rows["rejected_spans"]
    assert 1 == len(rows["spans"])
    assert [(0, "kept")] == [(event["span_index"], event["name"]) for event in rows["span_events"]]
    assert [(0, bytes.fromhex(TRACE))] == [(link["span_index"], link["linked_trace_id"]) for link in rows["span_links"]]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"intValue": "25"}, {"int_value": 25}),
        ({"intValue": 25}, {"int_value": 25}),
        ({"intValue": "9223372036854775807"}, {"int_value": 2**63 - 1}),
        ({"intValue": 9223372036854775807}, {"int_value": 2**63 - 1}),
        ({"intValue": "-9223372036854775808"}, {"int_value": -(2**63)}),
        ({"intValue": -9223372036854775808}, {"int_value": -(2**63)}),
        ({"intValue": "9007199254740993"}, {"int_value": 9007199254740993}),
        ({"doubleValue": 1.5}, {"double_value": 1.5}),
        ({"doubleValue": 3}, {"double_value": 3.0}),
        ({"doubleValue": "-2.5e3"}, {"double_value": -2500.0}),
        ({"doubleValue": "Infinity"}, {"double_value": float("inf")}),
        ({"doubleValue": "-Infinity"}, {"double_value": float("-inf")}),
        ({"boolValue": False}, {"bool_value": False}),
        ({"stringValue": ""}, {"string_value": ""}),
        ({"stringValue": "a\0b"}, {"string_value": "a\0b"}),
        ({"bytesValue": "+/8="}, {"bytes_value": b"\xfb\xff"}),
        ({"bytesValue": "+/8"}, {"bytes_value": b"\xfb\xff"}),
        ({"bytesValue": "-_8="}, {"bytes_value": b"\xfb\xff"}),
        ({"bytesValue": "-_8"}, {"bytes_value": b"\xfb\xff"}),
        ({"bytesValue": ""}, {"bytes_value": b""}),
        ({}, {}),
        (None, {}),
        ({"stringValue": None}, {}),
        ({"stringValue": None, "intValue": "1"}, {"int_value": 1}),
        ({"unknownValue": 1}, {}),
        ({"unknownValue": 1, "stringValue": "s"}, {"string_value": "s"}),
        ({"arrayValue": {}}, {"json_value": "[]"}),
        ({"kvlistValue": {"values": None}}, {"json_value": "{}"}),
    ],
)
def test_the_value_is_stored_exactly(value: Any, stored: dict[str, Any]) -> None:
    assert stored == value_of(value)


def test_nan_is_stored_as_nan() -> None:
    assert "nan" == str(value_of({"doubleValue": "NaN"})["double_value"])


def test_a_nested_value_becomes_json_text() -> None:
    members = [
        {"intValue": "9223372036854775807"},
        {"doubleValue": "NaN"},
        {"bytesValue": "-_8"},
        {},
        {
            "kvlistValue": {
                "values": [{"key": "k", "value": {"boolValue": True}}, {"key": "k"}, {"value": {"intValue": 1}}]
            }
        },
    ]

    stored = value_of({"arrayValue": {"values": members}})["json_value"]

    assert '[9223372036854775807,"NaN","+/8=",null,{"k":null,"":1}]' == stored


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"intValue": "9223372036854775808"}, "invalid_integer"),
        ({"intValue": "1.5"}, "invalid_integer"),
        ({"intValue": 1.5}, "invalid_integer"),
        ({"intValue": "abc"}, "invalid_integer"),
        ({"intValue": ""}, "invalid_integer"),
        ({"intValue": "0x10"}, "invalid_integer"),
        ({"intValue": "1_0"}, "invalid_integer"),
        ({"intValue": "+1"}, "invalid_integer"),
        ({"intValue": "--1"}, "invalid_integer"),
        ({"intValue": " 1"}, "invalid_integer"),
        ({"intValue": "٣"}, "invalid_integer"),
        ({"intValue": "9" * 5000}, "invalid_integer"),
        ({"intValue": True}, "invalid_integer"),
        ({"intValue": []}, "invalid_integer"),
        ({"doubleValue": "1.5x"}, "invalid_double"),
        ({"doubleValue": "nan"}, "invalid_double"),
        ({"doubleValue": "1e400"}, "invalid_double"),
        ({"doubleValue": "1_0"}, "invalid_double"),
        ({"doubleValue": True}, "invalid_double"),
        ({"boolValue": 1}, "wrong_type"),
        ({"boolValue": "true"}, "wrong_type"),
        ({"stringValue": 1}, "wrong_type"),
        ({"stringValue": {}}, "wrong_type"),
        ({"bytesValue": "a"}, "invalid_base64"),
        ({"bytesValue": "+_8="}, "invalid_base64"),
        ({"bytesValue": "a b="}, "invalid_base64"),
        ({"bytesValue": 1}, "invalid_base64"),
        ({"arrayValue": []}, "wrong_type"),
        ({"arrayValue": {"values": {}}}, "wrong_type"),
        ({"kvlistValue": {"values": [1]}}, "wrong_type"),
        ({"stringValue": "s", "intValue": "1"}, "value_set_twice"),
        ("text", "wrong_type"),
        ([], "wrong_type"),
        (0, "wrong_type"),
    ],
)
def test_a_bad_value_is_refused_alone_and_in_an_array(value: Any, reason: str) -> None:
    assert reason == reason_for(request(attributes=[{"key": "k", "value": value}]))
    nested = {"arrayValue": {"values": [value]}}
    assert reason == reason_for(request(attributes=[{"key": "k", "value": nested}]))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "SPAN_KIND_SERVER"}, "invalid_enum"),
        ({"kind": "2"}, "invalid_enum"),
        ({"kind": True}, "invalid_enum"),
        ({"kind": 2.5}, "invalid_integer"),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "invalid_enum"),
        ({"status": 2}, "wrong_type"),
        ({"name": 1}, "wrong_type"),
        ({"traceId": 1}, "wrong_type"),
        ({"startTimeUnixNano": "-1"}, "invalid_integer"),
        ({"startTimeUnixNano": "18446744073709551616"}, "invalid_integer"),
        ({"startTimeUnixNano": 0.5}, "invalid_integer"),
        ({"flags": str(2**32)}, "invalid_integer"),
        ({"attributes": {}}, "wrong_type"),
        ({"attributes": [None]}, "wrong_type"),
        ({"attributes": ["k"]}, "wrong_type"),
        ({"attributes": [["k"]]}, "wrong_type"),
        ({"attributes": [{"key": 1}]}, "wrong_type"),
        ({"events": [1]}, "wrong_type"),
        ({"links": {}}, "wrong_type"),
    ],
)
def test_a_bad_field_is_refused(fields: dict[str, Any], reason: str) -> None:
    assert reason == reason_for(request(**fields))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[1,",
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"{} {}",
        b'{"resourceSpans":[],}',
        b"{/**/}",
        b'{"a":NaN}',
        b'{"a":1e400}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b"[" * 100_000,
        b'{"a":' * 5_000_000,
    ],
    ids=lambda payload: repr(payload[:12]),
)
def test_text_that_is_not_strict_json_is_refused(payload: bytes) -> None:
    assert "malformed_json" == reason_for(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b"[]",
        b"1",
        b'"text"',
        b"null",
        b'{"resourceSpans":{}}',
        b'{"resourceSpans":[[]]}',
        b'{"resourceSpans":[{"scopeSpans":[1]}]}',
    ],
)
def test_another_shape_is_refused(payload: bytes) -> None:
    assert "wrong_type" == reason_for(payload)


def test_numbers_stand_for_enums_and_times(rows_of: Rows) -> None:
    payload = request(
        kind=99, status={"code": 2}, startTimeUnixNano=1544712660000000001, endTimeUnixNano="18446744073709551615"
    )

    (span,) = rows_of(decode_traces_json(payload))["spans"]

    assert (99, 2) == (span["kind"], span["status_code"])
    assert (1544712660000000001, 2**64 - 1) == (span["start_time_unix_nano"], span["end_time_unix_nano"])


def test_unknown_and_snake_case_keys_are_ignored() -> None:
    assert 0 == len(decode_traces_json(b'{"resource_spans":[{"scope_spans":[{"spans":[{}]}]}]}').spans)
    (span,) = decode_traces_json(request(start_time_unix_nano="5", news={"a": [1]})).spans.to_pylist()
    assert 0 == span["start_time_unix_nano"]


def test_null_is_an_absent_field(rows_of: Rows) -> None:
    names = ["name", "kind", "status", "attributes", "events", "links", "flags", "startTimeUnixNano", "parentSpanId"]

    assert rows_of(decode_traces_json(request())) == rows_of(decode_traces_json(request(**dict.fromkeys(names))))


def test_the_last_of_duplicate_keys_counts() -> None:
    payload = request(name="second").replace(b'"name"', b'"name":"first","name"')
    assert "second" == decode_traces_json(payload).spans["name"][0].as_py()

    entries = [{"key": "k", "value": {"intValue": n}} for n in (1, 2)]
    (span,) = decode_traces_json(request(attributes=[*entries, {"key": "k.x"}, {"key": ""}])).spans.to_pylist()
    assert [("k", 2), ("k.x", None), ("", None)] == [(a["key"], a["value"]["int_value"]) for a in span["attributes"]]
    assert ["duplicate_attribute_key"] == span["problems"]


@pytest.mark.parametrize(
    "entry",
    [{"key": "k", "value": {"stringValueStrindex": 3}}, {"keyStrindex": 3, "value": {"stringValueStrindex": 0}}],
)
def test_a_string_table_reference_is_empty_and_noted(entry: dict[str, Any]) -> None:
    (span,) = decode_traces_json(request(attributes=[entry])).spans.to_pylist()

    assert ["strindex"] == span["problems"]
    assert {None} == set(span["attributes"][0]["value"].values())


def nested(levels: int, member: str) -> dict[str, Any]:
    value: dict[str, Any] = {"intValue": 7}
    for _ in range(levels):
        inner = value if member == "arrayValue" else {"key": "k", "value": value}
        value = {member: {"values": [inner]}}
    return value


@pytest.mark.parametrize(("member", "deepest"), [("arrayValue", 47), ("kvlistValue", 31)])
def test_values_nest_as_deeply_as_in_protobuf(member: str, deepest: int) -> None:
    assert "7" in value_of(nested(deepest, member))["json_value"]
    assert "nested_too_deeply" == reason_for(request(attributes=[{"key": "k", "value": nested(deepest + 1, member)}]))


def test_log_bodies_of_every_kind_are_kept() -> None:
    bodies = [{"stringValue": "s"}, {"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}]}}, None, {}]
    records = [{"body": body, "traceId": "bad", "severityNumber": 9} for body in bodies]
    tables = decode_logs_json(orjson.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}))

    stored = [row["body"] for row in tables.log_records.to_pylist()]

    assert ["s", None, None, None] == [body["string_value"] for body in stored]
    assert [None, {"a": 1}, None, None] == [body["json_value"] and json.loads(body["json_value"]) for body in stored]
    assert [None] * 4 == tables.log_records["trace_id"].to_pylist()
