"""Integers of OTLP/JSON: what proto3 accepts is accepted exactly, and one that does not fit costs its value alone."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanscore.otlp import DecodeError, RawTables, decode_logs_json, decode_traces_json, read_paths

IDS = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174"}
NOTED = ["integer_out_of_range"]
MOST = 2**63 - 1
Rows = dict[str, list[dict[str, Any]]]


def traces(owner: Any = None, scope: Any = None, **fields: Any) -> RawTables:
    spans = [{"scope": scope, "spans": [IDS | fields]}]
    return decode_traces_json(_text({"resourceSpans": [{"resource": owner, "scopeSpans": spans}]}))


def logs(**fields: Any) -> RawTables:
    return decode_logs_json(_text({"resourceLogs": [{"scopeLogs": [{"logRecords": [IDS | fields]}]}]}))


def _text(document: Any) -> bytes:
    """The document, in which a text that begins with @ stands for the JSON behind it."""
    return re.sub('"@([^"]*)"', r"\1", json.dumps(document)).encode()


def value_of(text: str) -> tuple[dict[str, Any], list[str] | None]:
    """What is stored of an attribute whose `intValue` is this JSON, and the problems of its span."""
    (span,) = traces(attributes=[{"key": "k", "value": {"intValue": _marked(text)}}]).spans.to_pylist()
    stored = {member: content for member, content in span["attributes"][0]["value"].items() if content is not None}
    return stored, span["problems"]


def _marked(text: str) -> str:
    return text[1:-1] if text.startswith('"') else "@" + text


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("5", 5),
        ("5.0", 5),
        ("5e0", 5),
        ("0.5E1", 5),
        ("500e-2", 5),
        ("-5.00", -5),
        ("-0.0", 0),
        ("1e18", 10**18),
        ("9.007199254740992e15", 2**53),
        ("-9.223372036854775808e18", -(2**63)),
        ('"5.0"', 5),
        ('"5e0"', 5),
        ('"0e-99999999999999999999"', 0),
        ('"007"', 7),
        ('"9007199254740993.0"', 9007199254740993),
        ('"9.223372036854775807e18"', MOST),
        ('"-9223372036854775808.000"', -(2**63)),
    ],
)
def test_an_integer_may_be_written_in_many_ways(text: str, integer: int) -> None:
    assert ({"int_value": integer}, None) == value_of(text)


@pytest.mark.parametrize(
    "text", ["1e21", "-1e21", "9223372036854775808", "-9223372036854777856", "18446744073709551616", "-1.7e308"]
)
def test_a_number_that_does_not_fit_is_kept_as_a_double_and_noted(text: str) -> None:
    assert ({"double_value": float(text)}, NOTED) == value_of(text)


@pytest.mark.parametrize(
    "text", ["0.5", "1e-1", "5.000001", "1e400", '"1e21"', '"1e400"', '"1e-999999999"', '"5."', '".5"', '"5e"']
)
def test_no_integer_and_a_text_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        value_of(text)


def test_only_the_values_that_do_not_fit_change(rows_of: Callable[[RawTables], Rows]) -> None:
    numbers = [1, "@1e21", "2", "@3.0", {"arrayValue": {"values": [{"intValue": "@1e21"}, {"intValue": "@4.0"}]}}]
    values = [one if isinstance(one, dict) else {"intValue": one} for one in numbers]
    values += [{"doubleValue": 0.5}, {"kvlistValue": {"values": [{"key": "k", "value": {"intValue": "@-1e30"}}]}}]
    attributes = [{"key": str(n), "value": value} for n, value in enumerate(values)]
    spans = [IDS | {"attributes": attributes}, IDS, IDS | {"events": [{}, {"attributes": attributes[1:2]}]}]

    rows = rows_of(decode_traces_json(_text({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})))["spans"]

    assert [NOTED, None, NOTED] == [row["problems"] for row in rows]
    stored = [
        next((one for one in value["value"].values() if one is not None), None) for value in rows[0]["attributes"]
    ]
    assert [1, 1e21, 2, 3, "[1e+21,4]", 0.5, '{"k":-1e+30}'] == stored


def test_many_values_that_do_not_fit_take_time_by_their_number() -> None:
    def seconds(n: int) -> float:
        attributes = [{"key": str(number), "value": {"intValue": "@1e21"}} for number in range(n)]
        request = _text({"resourceSpans": [{"scopeSpans": [{"spans": [IDS | {"attributes": attributes}]}]}]})
        began = time.process_time()
        assert decode_traces_json(request).spans["problems"].to_pylist() == [NOTED]
        return time.process_time() - began

    # Four times as many would take sixteen times as long if each looked through all of them.
    seconds(100)
    assert min(seconds(16_000) for _ in range(3)) < 10 * min(seconds(4_000) for _ in range(3))


def test_a_body_that_does_not_fit_is_a_double() -> None:
    (record,) = logs(body={"intValue": "@1e21"}).log_records.to_pylist()

    assert (1e21, NOTED) == (record["body"]["double_value"], record["problems"])


SPAN_FIELDS = {
    "flags": ("flags", 2**32),
    "kind": ("kind", 2**31),
    "startTimeUnixNano": ("start_time_unix_nano", 2**64),
    "endTimeUnixNano": ("end_time_unix_nano", 2**64),
    "droppedAttributesCount": ("dropped_attributes_count", 2**32),
    "droppedEventsCount": ("dropped_events_count", 2**32),
    "droppedLinksCount": ("dropped_links_count", 2**32),
}
LOG_FIELDS = {
    "flags": ("flags", 2**32),
    "severityNumber": ("severity_number", 2**31),
    "timeUnixNano": ("time_unix_nano", 2**64),
    "observedTimeUnixNano": ("observed_time_unix_nano", 2**64),
    "droppedAttributesCount": ("dropped_attributes_count", 2**32),
}
EVENT_FIELDS = {
    "timeUnixNano": ("time_unix_nano", 2**64),
    "droppedAttributesCount": ("dropped_attributes_count", 2**32),
}
LINK_FIELDS = {"flags": ("flags", 2**32), "droppedAttributesCount": ("dropped_attributes_count", 2**32)}
OWNER_FIELDS = {"droppedAttributesCount": ("dropped_attributes_count", 2**32)}

Place = Callable[[str, Any], tuple[int, list[str] | None]]
"""What is stored of a JSON field with that content, and the problems of the span or log record."""


def _of_span(table: str, place: Callable[[dict[str, Any]], dict[str, Any]], columns: dict[str, Any]) -> Place:
    def read(name: str, content: Any) -> tuple[int, list[str] | None]:
        tables = traces(**place({name: content}))
        return getattr(tables, table)[columns[name][0]][0].as_py(), tables.spans["problems"][0].as_py()

    return read


def _of_log(name: str, content: Any) -> tuple[int, list[str] | None]:
    table = logs(**{name: content}).log_records
    return table[LOG_FIELDS[name][0]][0].as_py(), table["problems"][0].as_py()


PLACES: dict[str, tuple[dict[str, tuple[str, int]], Any, Place]] = {
    "span": (SPAN_FIELDS, Span, _of_span("spans", lambda fields: fields, SPAN_FIELDS)),
    "status": (
        {"code": ("status_code", 2**31)},
        Status,
        _of_span("spans", lambda fields: {"status": fields}, {"code": ("status_code", 2**31)}),
    ),
    "event": (EVENT_FIELDS, Span.Event, _of_span("span_events", lambda fields: {"events": [fields]}, EVENT_FIELDS)),
    "link": (
        LINK_FIELDS,
        Span.Link,
        _of_span("span_links", lambda fields: {"links": [IDS | fields]}, LINK_FIELDS),
    ),
    "resource": (OWNER_FIELDS, Resource, _of_span("resources", lambda fields: {"owner": fields}, OWNER_FIELDS)),
    "scope": (OWNER_FIELDS, InstrumentationScope, _of_span("scopes", lambda fields: {"scope": fields}, OWNER_FIELDS)),
    "log record": (LOG_FIELDS, LogRecord, _of_log),
}
FIELDS = [(place, name, beyond) for place, (columns, _, _) in PLACES.items() for name, (_, beyond) in columns.items()]


@pytest.mark.parametrize(("place", "name", "beyond"), FIELDS)
def test_every_integer_field_follows_the_same_rule(place: str, name: str, beyond: int) -> None:
    read = PLACES[place][2]
    is_enum = name in ("kind", "code", "severityNumber")

    for text in ("2", "2.0", "2e0", *(() if is_enum else ('"2"', '"2.0"'))):
        assert (2, None) == read(name, _marked(text))
    for text in (str(beyond), f"{beyond}.0", "1e21", str(-(2**40)), "-1e21"):
        assert (0, NOTED) == read(name, _marked(text))
    for text in ("2.5", f'"{beyond}"', '"x"', "true"):
        with pytest.raises(DecodeError):
            read(name, _marked(text))


NUMBERS = st.one_of(
    st.integers(-(2**66), 2**66).map(str),
    st.integers(-(2**66), 2**66).map(lambda n: f"{n}.0"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,5})?([eE][-+]?[0-9]{1,2})?", fullmatch=True),
)


@given(st.sampled_from(FIELDS), NUMBERS, st.booleans())
@example(("span", "startTimeUnixNano", 0), "1.5447126600000000e18", False)
@example(("span", "kind", 0), "2.0", False)
@example(("event", "timeUnixNano", 0), "2000000000000000.1", True)
def test_what_protobuf_accepts_is_accepted_and_the_same(field: Any, number: str, is_text: bool) -> None:
    place, name, _ = field
    _, message, read = PLACES[place]
    is_enum = name in ("kind", "code", "severityNumber")
    text = f'"{number}"' if is_text and not is_enum else number
    try:
        parsed = json_format.Parse(f'{{"{name}": {text}}}', message())
    except (json_format.ParseError, OverflowError):
        return
    if is_enum and not (_is_integral(number) and -(2**31) <= Fraction(number) < 2**31):
        return  # it is cut to an integer of 32 bits there
    expected = getattr(parsed, message.DESCRIPTOR.fields_by_camelcase_name[name].name)

    stored, problems = read(name, _marked(text))

    assert problems is None
    # It reads a text with a point or an exponent as a double; here such a text is exact.
    assert stored in (expected, Fraction(number))


@given(NUMBERS, st.booleans())
@example("9223372036854775807", False)
@example("5.0", True)
@example("2000000000000000.1", True)
def test_an_attribute_that_protobuf_accepts_is_the_same(number: str, is_text: bool) -> None:
    text = f'"{number}"' if is_text else number
    try:
        expected = json_format.Parse(f'{{"intValue": {text}}}', AnyValue()).int_value
    except (json_format.ParseError, OverflowError):
        return

    stored, problems = value_of(text)

    assert problems is None
    assert stored["int_value"] in (expected, Fraction(number))


def _is_integral(number: str) -> bool:
    return Fraction(number).denominator == 1 and float(number).is_integer()


def test_lines_of_a_file_follow_the_same_rule(tmp_path: Path) -> None:
    attributes = [{"key": "k", "value": {"intValue": "@1e21"}}, {"key": "n", "value": {"intValue": "@5.0"}}]
    line = _text({"resourceSpans": [{"scopeSpans": [{"spans": [IDS | {"attributes": attributes, "kind": "@3.0"}]}]}]})
    path = tmp_path / "spans.jsonl"
    path.write_bytes(line + b"\n" + line + b"\n")

    (chunk,) = read_paths([path])

    assert {} == chunk.tables.rejected_spans
    assert [(3, NOTED)] * 2 == [(span["kind"], span["problems"]) for span in chunk.tables.spans.to_pylist()]
