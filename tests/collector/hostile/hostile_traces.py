"""Spans that make no sense, or a trace that makes none of them together, and what is stored of them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hostile_parts import IDS, attribute, span
from hostile_parts import field as wire_field

START = 1_700_000_000_000_000_000
GOOD = {"startTimeUnixNano": str(START), "endTimeUnixNano": str(START + 1_000_000)}
MOST, LEAST = 2**63 - 1, -(2**63)


@dataclass(frozen=True)
class Case:
    """Spans of one trace, as OTLP/JSON without their trace ids; protobuf bytes where only those can say it.

    Attributes:
        stored: columns of its first span; None when none is stored.
        count: spans that are stored.
        requests: how often it is sent.
    """

    name: str
    spans: list[dict[str, Any]]
    stored: dict[str, Any] | None = field(default_factory=dict)
    count: int = 1
    rejected: int = 0
    requests: int = 1
    payload: Callable[[], bytes] | None = None


def one(**fields: Any) -> list[dict[str, Any]]:
    return [{"spanId": f"{1:016x}", **GOOD, **fields}]


def chain(length: int, *, loops: bool = False) -> list[dict[str, Any]]:
    """Each span the parent of the next; the last one of the first when it loops."""
    spans = [{"spanId": f"{n:016x}", "parentSpanId": f"{n - 1:016x}", **GOOD} for n in range(1, length + 1)]
    spans[0]["parentSpanId"] = f"{length:016x}" if loops else ""
    return spans


def keys(*names: str) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"intValue": n}} for n, name in enumerate(names)]


def value(content: Any) -> list[dict[str, Any]]:
    return one(attributes=[{"key": "v", "value": content}])


def twice(first: bytes, second: bytes) -> Callable[[], bytes]:
    """An attribute whose value is set to both."""
    return lambda: span(attribute(first + second), IDS)


TIMES = {
    "T08 end before start": (
        {"endTimeUnixNano": str(START - 1)},
        {"duration_ns": None, "problems": ["end_before_start"]},
    ),
    "T08 no end": ({"endTimeUnixNano": "0"}, {"duration_ns": None, "end_time": None, "problems": ["no_end_time"]}),
    "T08 no start": (
        {"startTimeUnixNano": "0"},
        {"duration_ns": None, "start_time": None, "problems": ["no_start_time"]},
    ),
    "T08 neither": (
        {"startTimeUnixNano": "0", "endTimeUnixNano": "0"},
        {"duration_ns": None, "problems": ["no_start_time", "no_end_time"]},
    ),
    "T08 no time at all": ({"endTimeUnixNano": str(START)}, {"duration_ns": 0, "problems": None}),
    "T09 2^64 - 1": ({"endTimeUnixNano": str(2**64 - 1)}, {"end_time_unix_nano": 2**64 - 1, "end_time": None}),
    "T09 2^63 - 1": ({"endTimeUnixNano": str(2**63 - 1)}, {"end_time_unix_nano": 2**63 - 1, "end_time": None}),
    "T09 2^63 - 2": ({"endTimeUnixNano": str(2**63 - 2)}, {"end_time_unix_nano": 2**63 - 2}),
    "T09 1 to 2^64 - 1": ({"startTimeUnixNano": "1", "endTimeUnixNano": str(2**64 - 1)}, {"duration_ns": None}),
    "T10 in ten years": ({"startTimeUnixNano": str(START * 2), "endTimeUnixNano": str(START * 2)}, {"duration_ns": 0}),
    "T10 in 1970": ({"startTimeUnixNano": "1", "endTimeUnixNano": "2"}, {"duration_ns": 1}),
}
VALUES = {
    "T11 NaN": ({"doubleValue": "NaN"}, float("nan")),
    "T11 Infinity": ({"doubleValue": "Infinity"}, float("inf")),
    "T11 -Infinity": ({"doubleValue": "-Infinity"}, float("-inf")),
    "T11 NaN in a list": ({"arrayValue": {"values": [{"doubleValue": "NaN"}]}}, ["NaN"]),
    "T12 the largest integer": ({"intValue": str(MOST)}, MOST),
    "T12 the smallest integer": ({"intValue": str(LEAST)}, LEAST),
    "I10 NUL in a value": ({"stringValue": "a\0b"}, "a\0b"),
    "I10 a value of NULs": ({"stringValue": "\0\0\0"}, "\0\0\0"),
    "I10 control characters": ({"stringValue": "\x1b]52;c;x\x07\x9b"}, "\x1b]52;c;x\x07\x9b"),
    "I10 directions": ({"stringValue": "\u202eabc\u2066"}, "\u202eabc\u2066"),
    "I10 beyond the first plane": ({"stringValue": "\U0010ffff\U0001f600"}, "\U0010ffff\U0001f600"),
}
NAMES = {
    "T13 a and a.b": (["a", "a.b"], {"a": 0, "a.b": 1}),
    "T13 an empty key": (["", "x"], {"": 0, "x": 1}),
    "T13 quotes": (["a'b", 'a"b', "a`b"], {"a'b": 0, 'a"b': 1, "a`b": 2}),
    "T13 line breaks": (["a\nb", "a\tb"], {"a\nb": 0, "a\tb": 1}),
    "T13 paths": (["$.a", "$[0]", "a[0]"], {"$.a": 0, "$[0]": 1, "a[0]": 2}),
    "T13 the same key twice": (["a", "b", "a"], {"b": 1, "a": 2}),
    "T13 an empty key twice": (["", ""], {"": 1}),
    "T13 case": (["A", "a"], {"A": 0, "a": 1}),
    "T13 NUL in a key": (["a\0b", "a"], {"a\0b": 0, "a": 1}),
}
USAGE = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
CALL = [{"key": key, "value": {"stringValue": text}} for key, text in USAGE.items()]
CASES = [
    *(
        Case(f"T01 {what} {size} bytes", [{"spanId": f"{1:016x}", **GOOD, id_field: "ab" * size}], None, rejected=1)
        for what, id_field, sizes in (
            ("a trace id of", "traceId", (0, 7, 15, 17)),
            ("a span id of", "spanId", (0, 7, 9, 16)),
        )
        for size in sizes
    ),
    Case("T01 a trace id of zeros", one(traceId="0" * 32), None, rejected=1),
    Case("T01 a span id of zeros", one(spanId="0" * 16), None, rejected=1),
    Case("T01 bad ids among good ones", [*one(), *one(spanId=""), *one(spanId=f"{2:016x}")], count=2, rejected=1),
    *(
        Case(f"T02 a parent id {what}", one(parentSpanId=bad), {"parent_span_id": None, "problems": ["bad_parent_id"]})
        for what, bad in (("of zeros", "0" * 16), ("of 7 bytes", "ab" * 7), ("of 16 bytes", "ab" * 16))
    ),
    Case("T02 a link of zeros", one(links=[{"traceId": "0" * 32, "spanId": "0" * 16}]), {"problems": ["bad_link_id"]}),
    Case("T03 its own parent", one(parentSpanId=f"{1:016x}"), {"parent_span_id": f"{1:016x}"}),
    Case("T04 two in a circle", chain(2, loops=True), count=2),
    Case("T04 a hundred in a circle", chain(100, loops=True), count=100),
    Case("T04 a chain of 5,000", chain(5000), count=5000),
    Case("T05 a parent that never comes", one(parentSpanId="ab" * 8, attributes=CALL), {"parent_span_id": "ab" * 8}),
    Case("T05 two roots", [*one(), *one(spanId=f"{2:016x}")], count=2),
    Case("T05 no root", [*one(parentSpanId="ab" * 8), *one(spanId=f"{2:016x}", parentSpanId="cd" * 8)], count=2),
    Case("T08 a call without end", one(endTimeUnixNano="0", attributes=CALL), {"problems": ["no_end_time"]}),
    Case("T06 the same three times", one(name="same"), {"name": "same"}, requests=3),
    Case("T06 the same in one request", [*one(), *one()]),
    Case("T07 another content in one request", [*one(name="first"), *one(name="second")], {"name": "first"}),
    Case("T07 another resource's span", [*one(name="a", attributes=keys("x")), *one(name="a", attributes=keys("y"))]),
    *(Case(name, one(**fields), stored) for name, (fields, stored) in TIMES.items()),
    *(Case(name, value(content), {"attributes": {"v": plain}}) for name, (content, plain) in VALUES.items()),
    *(Case(name, one(attributes=keys(*names)), {"attributes": plain}) for name, (names, plain) in NAMES.items()),
    *(
        Case(
            f"T12 {what} tokens",
            one(
                attributes=[
                    *CALL,
                    {"key": "gen_ai.usage.input_tokens", "value": {"intValue": str(tokens)}},
                    {"key": "gen_ai.usage.output_tokens", "value": {"intValue": str(tokens)}},
                ]
            ),
        )
        for what, tokens in (("negative", -5), ("10^18", 10**18), ("the most", MOST), ("the least", LEAST))
    ),
    Case(
        "T12 NaN tokens",
        one(
            attributes=[
                *CALL,
                {"key": "gen_ai.usage.input_tokens", "value": {"doubleValue": "NaN"}},
            ]
        ),
    ),
    Case("I10 NUL in a name", one(name="a\0b"), {"name": "a\0b"}),
    Case("I13 the same JSON key twice", one(name="second"), {"name": "second"}),
    Case("I17 a text and then a number", [], {"attributes": {"v": 7}}, payload=twice(wire_field(1, b"x"), b"\x18\x07")),
    Case(
        "I17 a number and then a text", [], {"attributes": {"v": "x"}}, payload=twice(b"\x18\x07", wire_field(1, b"x"))
    ),
    Case(
        "I17 a list and then a text",
        [],
        {"attributes": {"v": "x"}},
        payload=twice(wire_field(5, b""), wire_field(1, b"x")),
    ),
    Case("I17 a number twice", [], {"attributes": {"v": 7}}, payload=twice(b"\x18\x06", b"\x18\x07")),
]


def trace_of(case: Case) -> str:
    return f"{0xF00D:04x}{CASES.index(case) + 1:028x}"


def body_of(case: Case) -> bytes:
    """The request: protobuf where the case gives it, else OTLP/JSON."""
    if case.payload is not None:
        return case.payload().replace(IDS[2:18], bytes.fromhex(trace_of(case)))
    spans = [{"traceId": trace_of(case), **one_span} for one_span in case.spans]
    text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    if case.name.startswith("I13"):
        text = text.replace('"name"', '"name": "first", "name"')
    return text.encode()
