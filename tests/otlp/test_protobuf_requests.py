"""Hostile and odd protobuf requests: the right answer, or the right reason."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from spanscore.otlp import DecodeError, decode_logs, decode_traces

RequestOf = Callable[..., ExportTraceServiceRequest]


def field(number: int, content: bytes | int) -> bytes:
    """A field of a message: of a length below 128, or a small varint."""
    if isinstance(content, int):
        return bytes((number << 3, content))
    assert len(content) < 128
    return bytes((number << 3 | 2, len(content))) + content


def request_with_value(value: bytes) -> bytes:
    span = field(1, b"t" * 16) + field(2, b"s" * 8) + field(9, field(1, b"k") + value)
    return field(1, field(2, field(2, span)))


def nested(levels: int, member: str) -> AnyValue:
    value = AnyValue(int_value=7)
    for _ in range(levels):
        outer = AnyValue()
        if member == "array_value":
            outer.array_value.values.append(value)
        else:
            outer.kvlist_value.values.add(key="k").value.CopyFrom(value)
        value = outer
    return value


@pytest.mark.parametrize(
    "trace_id", [b"", b"\0" * 16, b"1234567", b"x" * 17, b"5b8efff798038103d269b633813fc60c"], ids=repr
)
def test_a_span_with_a_bad_trace_id_is_rejected_and_the_rest_kept(request_of: RequestOf, trace_id: bytes) -> None:
    request = request_of({"trace_id": trace_id}, {"name": "kept"}, {"trace_id": trace_id, "span_id": b""})

    tables = decode_traces([request.SerializeToString()])

    assert {"invalid_trace_id": 2} == tables.rejected_spans
    assert ["kept"] == tables.spans["name"].to_pylist()


@pytest.mark.parametrize("span_id", [b"", b"\0" * 8, b"1234567", b"x" * 9], ids=repr)
def test_a_span_with_a_bad_span_id_is_rejected(request_of: RequestOf, span_id: bytes) -> None:
    assert {"invalid_span_id": 1} == decode_traces(
        [request_of({"span_id": span_id}).SerializeToString()]
    ).rejected_spans


def test_payloads_are_decoded_in_order(request_of: RequestOf) -> None:
    payloads = [request_of({"name": name}).SerializeToString() for name in ("a", "b")]

    tables = decode_traces([payloads[0], b"", payloads[1]])

    assert [("a", 0, 0), ("b", 1, 1)] == [
        (span["name"], span["resource_index"], span["scope_index"]) for span in tables.spans.to_pylist()
    ]


@pytest.mark.parametrize(
    "payload",
    [b"\xff\xff\xff", b"\x0a\xff", b"\x02\x00", request_with_value(field(2, field(1, b"\xff")))],
    ids=["varint", "cut", "field 0", "not UTF-8"],
)
def test_a_malformed_request_is_refused_whole(request_of: RequestOf, payload: bytes) -> None:
    with pytest.raises(DecodeError, match="malformed_protobuf"):
        decode_traces([request_of({}).SerializeToString(), payload])


def test_text_that_is_not_utf8_is_refused_in_a_nested_value_too() -> None:
    with pytest.raises(DecodeError, match="malformed_protobuf"):
        decode_traces([request_with_value(field(2, field(5, field(1, field(1, b"\xff")))))])


@pytest.mark.parametrize(("member", "deepest"), [("array_value", 47), ("kvlist_value", 31)])
def test_values_nest_as_deeply_as_protobuf_reads_them(request_of: RequestOf, member: str, deepest: int) -> None:
    def payload(levels: int) -> bytes:
        request = request_of({})
        span = request.resource_spans[0].scope_spans[0].spans[0]
        span.attributes.add(key="k").value.CopyFrom(nested(levels, member))
        return request.SerializeToString()

    assert "7" in decode_traces([payload(deepest)]).spans["attributes"][0].as_py()[0]["value"]["json_value"]
    ExportTraceServiceRequest.FromString(payload(deepest))
    with pytest.raises(DecodeError):
        decode_traces([payload(deepest + 1)])


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (field(2, field(1, b"first") + field(3, 5)), {"int_value": 5}),
        (field(2, field(3, 5) + field(1, b"last")), {"string_value": "last"}),
        (field(2, field(1, b"first")) + field(2, field(3, 5)), {"int_value": 5}),
        (field(2, field(1, b"first") + field(5, field(1, field(3, 5)))), {"json_value": "[5]"}),
    ],
)
def test_the_last_member_of_a_value_counts(value: bytes, stored: dict[str, Any]) -> None:
    (attribute,) = decode_traces([request_with_value(value)]).spans["attributes"][0].as_py()

    assert stored == {member: content for member, content in attribute["value"].items() if content is not None}


def test_an_empty_value_does_not_hide_one_set_twice(request_of: RequestOf) -> None:
    empty = request_of({})
    empty.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="k").value.SetInParent()
    twice = request_with_value(field(2, field(1, b"first") + field(3, 5)))

    values = [
        span[0]["value"] for span in decode_traces([empty.SerializeToString(), twice]).spans["attributes"].to_pylist()
    ]

    assert [(None, None), (None, 5)] == [(value["string_value"], value["int_value"]) for value in values]


def test_unknown_fields_enums_and_flag_bits_are_no_obstacle() -> None:
    span = field(1, b"t" * 16) + field(2, b"s" * 8) + field(6, 99) + bytes((0x85, 0x01)) + b"\xff" * 4 + field(13, b"")
    (stored,) = decode_traces(
        [field(1, field(2, field(2, span + bytes((0xFA, 0x7F, 1, 9))))) + field(7, b"new")]
    ).spans.to_pylist()

    assert (99, 2**32 - 1) == (stored["kind"], stored["flags"])


def test_string_table_references_are_empty_and_noted() -> None:
    values = decode_traces([request_with_value(field(2, field(8, 3)))]).spans.to_pylist()

    assert [["strindex"]] == [span["problems"] for span in values]
    assert {None} == set(values[0]["attributes"][0]["value"].values())


def test_problems_of_a_resource_are_noted_on_its_spans_only(request_of: RequestOf) -> None:
    odd = request_of({"name": "odd"})
    for number in (1, 2):
        odd.resource_spans[0].resource.attributes.add(key="k").value.int_value = number

    tables = decode_traces([request_of({"name": "fine"}).SerializeToString(), odd.SerializeToString()])

    assert [None, ["duplicate_attribute_key"]] == tables.spans["problems"].to_pylist()
    assert [None, [2]] == [
        attributes and [attribute["value"]["int_value"] for attribute in attributes]
        for attributes in tables.resources["attributes"].to_pylist()
    ]


def test_many_attributes_on_one_span_are_kept(request_of: RequestOf) -> None:
    request = request_of({})
    for number in range(100_000):
        request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key=f"k{number}")

    assert 100_000 == len(decode_traces([request.SerializeToString()]).spans["attributes"][0])


@pytest.mark.parametrize("element", [b"\x0a\x00", b"\x5a\x00"])
def test_a_bomb_of_empty_elements_is_refused_before_it_is_decoded(element: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(DecodeError, match="too_many_elements"):
        decode_traces([element * 8_000_000])

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_mutated_requests_never_do_worse_than_a_decode_error(request_of: RequestOf) -> None:
    request = request_of({"name": "a"}, {"name": "b"})
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="k").value.CopyFrom(nested(3, "kvlist_value"))
    span.events.add(name="e").attributes.add(key="k").value.double_value = 1.5
    original, chance = request.SerializeToString(), random.Random(7)

    for _ in range(300):
        mutated = bytearray(original)
        for _ in range(chance.randint(1, 4)):
            mutated[chance.randrange(len(mutated))] = chance.randrange(256)
        try:
            tables = decode_traces([bytes(mutated[: chance.randint(1, len(mutated))]), original])
        except DecodeError:
            continue
        tables.spans.validate(full=True)
        assert {"a", "b"} <= set(tables.spans["name"].to_pylist())


def test_log_records_need_no_ids() -> None:
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    records.add(trace_id=b"bad", span_id=b"s" * 8, severity_number=99).body.string_value = "text"
    records.add(time_unix_nano=2**64 - 1)

    rows = decode_logs([request.SerializeToString()]).log_records.to_pylist()

    assert [(None, b"s" * 8, 99, "text"), (None, None, 0, None)] == [
        (row["trace_id"], row["span_id"], row["severity_number"], row["body"]["string_value"]) for row in rows
    ]


def test_importing_the_package_loads_no_decoder() -> None:
    loaded = "import sys, spanscore; sys.exit('pyarrow' in sys.modules or 'ptars' in sys.modules)"
    assert 0 == subprocess.run([sys.executable, "-c", loaded], check=False).returncode
