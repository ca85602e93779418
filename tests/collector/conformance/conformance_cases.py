"""Requests and what is stored of them.

A document is OTLP/JSON in which `@trace` stands for the trace id of the case; its message is made with the official
classes. Expected are columns of the stored span.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from otlp_clients import ENCODINGS

SPAN_ID = "eee19b7ec3c1b174"
MOST, LEAST = 2**63 - 1, -(2**63)
START = 1544712660000000001
ARRAY = {"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "x"}, {}, {"arrayValue": {"values": []}}]}}
KVLIST = {"kvlistValue": {"values": [{"key": "k", "value": ARRAY}, {"key": "e", "value": {}}]}}
PLAIN_ARRAY, PLAIN_KVLIST = [1, "x", None, []], {"e": None, "k": [1, "x", None, []]}
NESTED = [{"key": "a", "value": ARRAY}, {"key": "m", "value": KVLIST}]
PLAIN_NESTED = {"a": PLAIN_ARRAY, "m": PLAIN_KVLIST}
LINK = {"traceId": "ab" * 16, "spanId": "cd" * 8}


def span(**fields: Any) -> dict[str, Any]:
    """A request of one span with the fields."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "@trace", "spanId": SPAN_ID, **fields}]}]}]}


def value(content: Any) -> dict[str, Any]:
    """A request of one span with an attribute."""
    return span(attributes=[{"key": "v", "value": content}])


def unknown(document: Any) -> Any:
    """The document with a field in every object that OTLP does not know."""
    if isinstance(document, list):
        return [unknown(item) for item in document]
    if isinstance(document, dict):
        return {"newField": {"deep": [1]}, **{key: unknown(item) for key, item in document.items()}}
    return document


@dataclass(frozen=True)
class Case:
    """A document and what becomes of it.

    Attributes:
        stored: columns of the span; None when none is stored.
        says: start of the warning or error message.
        refused: the request is, as malformed.
    """

    row: str
    what: str
    document: Any
    stored: dict[str, Any] | None = field(default_factory=dict)
    rejected: int = 0
    says: str = ""
    refused: bool = False
    encodings: tuple[str, ...] = ENCODINGS


JSON = ("json",)
BINARY = ("protobuf", "grpc")
EVERYWHERE = {
    "resourceSpans": [
        {
            "resource": {"attributes": NESTED},
            "scopeSpans": [
                {
                    "scope": {"attributes": NESTED},
                    "spans": [
                        {
                            "traceId": "@trace",
                            "spanId": SPAN_ID,
                            "attributes": NESTED,
                            "events": [{"attributes": NESTED}],
                            "links": [{**LINK, "attributes": NESTED}],
                        }
                    ],
                }
            ],
        }
    ]
}
UPPER = {"traceId": "@TRACE", "spanId": SPAN_ID.upper()}
MANY = {"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": SPAN_ID}] * 10_000}]}]}


def mixture(*bad: str) -> dict[str, Any]:
    """Three spans with ids and two without."""
    good = [{"traceId": "@trace", "spanId": f"{n:016x}"} for n in (1, 2, 3)]
    return {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            good[0],
                            {"traceId": bad[0], "spanId": SPAN_ID},
                            good[1],
                            {"traceId": "@trace", "spanId": bad[1]},
                            good[2],
                        ]
                    }
                ]
            }
        ]
    }


CASES = [
    Case("C09", "no resources", {}, None),
    Case("C09", "an empty list", {"resourceSpans": []}, None),
    Case("C09", "no scopes", {"resourceSpans": [{}]}, None),
    Case("C09", "no spans", {"resourceSpans": [{"scopeSpans": [{}]}]}, None),
    Case(
        "C20",
        "upper case",
        span(**UPPER, parentSpanId="ABCDEFABCDEFABCD"),
        {"parent_span_id": "abcdef" * 2 + "abcd"},
        encodings=JSON,
    ),
    Case(
        "C20",
        "mixed case",
        span(parentSpanId="aBcDeFaBcDeFaBcD"),
        {"parent_span_id": "abcdef" * 2 + "abcd"},
        encodings=JSON,
    ),
    *(
        Case(
            "C21",
            what,
            span(traceId=bad),
            None,
            rejected=1,
            says="1 of 1 spans rejected: 1 invalid trace id",
            encodings=JSON,
        )
        for what, bad in (("base64", "W47/95gDgQPSabYzgT/GDA=="), ("31 characters", "a" * 31), ("no hex", "g" * 32))
    ),
    Case(
        "C21", "15 bytes", span(traceId="ab" * 15), None, rejected=1, says="1 of 1 spans rejected: 1 invalid trace id"
    ),
    Case(
        "C21",
        "a span id of 9 bytes",
        span(spanId="ab" * 9),
        None,
        rejected=1,
        says="1 of 1 spans rejected: 1 invalid span id",
    ),
    Case(
        "C22",
        "parent and link",
        span(parentSpanId="ab" * 8, links=[LINK]),
        {"parent_span_id": "ab" * 8, "links": [(LINK["traceId"], LINK["spanId"], {})]},
    ),
    Case("C23", "kind and status", span(kind=2, status={"code": 2}), {"kind": 2, "status_code": 2}),
    Case("C24", "kind by name", span(kind="SPAN_KIND_SERVER"), None, refused=True, says="invalid_enum", encodings=JSON),
    Case(
        "C24",
        "status by name",
        span(status={"code": "STATUS_CODE_OK"}),
        None,
        refused=True,
        says="invalid_enum",
        encodings=JSON,
    ),
    Case("C25", "kind 99", span(kind=99, status={"code": 7}), {"kind": 99, "status_code": 7}),
    Case("C26", "at every level", unknown(EVERYWHERE), {"attributes": PLAIN_NESTED}, encodings=JSON),
    Case("C27", "at every level", EVERYWHERE, {"attributes": PLAIN_NESTED}, encodings=BINARY),
    Case("C28", "resource_spans", {"resource_spans": span()["resourceSpans"]}, None, encodings=JSON),
    Case(
        "C28",
        "span_id",
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {
                            "spans": [
                                {
                                    "traceId": "@trace",
                                    "spanId": SPAN_ID,
                                    "parent_span_id": "ab" * 8,
                                    "start_time_unix_nano": "5",
                                }
                            ]
                        }
                    ]
                }
            ]
        },
        {"parent_span_id": None, "start_time_unix_nano": 0},
        encodings=JSON,
    ),
    Case("C29", "text", span(startTimeUnixNano=str(START)), {"start_time_unix_nano": START}),
    Case("C29", "number", span(startTimeUnixNano=START), {"start_time_unix_nano": START}),
    Case(
        "C29", "the largest", span(endTimeUnixNano=str(2**64 - 1)), {"end_time_unix_nano": 2**64 - 1, "end_time": None}
    ),
    Case("C30", "most, text", value({"intValue": str(MOST)}), {"attributes": {"v": MOST}}),
    Case("C30", "most, number", value({"intValue": MOST}), {"attributes": {"v": MOST}}),
    Case("C30", "least", value({"intValue": str(LEAST)}), {"attributes": {"v": LEAST}}),
    *(
        Case("C30", f"{text} is an integer", value({"intValue": number}), {"attributes": {"v": 5}}, encodings=JSON)
        for text, number in (("5.0", 5.0), ('"5e0"', "5e0"))
    ),
    Case("C30", "2^53 + 1", value({"intValue": str(2**53 + 1)}), {"attributes": {"v": 2**53 + 1}}),
    *(
        Case("C31", repr(bad), value({"intValue": bad}), None, refused=True, says="invalid_integer", encodings=JSON)
        for bad in (str(2**63), "1.5", "abc", 1.5, str(LEAST - 1))
    ),
    Case(
        "C31",
        "1e21, as JavaScript sends it",
        value({"intValue": 1e21}),
        {"attributes": {"v": 1e21}, "remarks": ["integer_out_of_range"]},
        says="Stored with a warning: 1 integer out of range.",
        encodings=JSON,
    ),
    *(
        Case("C32", repr(given), value({"doubleValue": given}), {"attributes": {"v": float(given)}})
        for given in (1.5, "NaN", "Infinity", "-Infinity", -0.0)
    ),
    *(
        Case(
            "C33",
            bare,
            json.dumps(value({"doubleValue": 0.25})).replace("0.25", bare),
            None,
            refused=True,
            says="malformed_json",
            encodings=JSON,
        )
        for bare in ("NaN", "Infinity", "-Infinity")
    ),
    *(
        Case("C34", text, value({"bytesValue": text}), {"attributes": {"v": b"\xfb\xff"}})
        for text in ("+/8=", "+/8", "-_8=", "-_8")
    ),
    Case("C35", "an empty value", value({}), {"attributes": {"v": None}}),
    Case("C35", "no value", span(attributes=[{"key": "v"}]), {"attributes": {"v": None}}),
    Case(
        "C36",
        "on every owner",
        EVERYWHERE,
        {
            "attributes": PLAIN_NESTED,
            "resource": PLAIN_NESTED,
            "scope": PLAIN_NESTED,
            "events": [(0, PLAIN_NESTED)],
            "links": [(LINK["traceId"], LINK["spanId"], PLAIN_NESTED)],
        },
    ),
    Case(
        "C37",
        "as a value",
        value({"stringValueStrindex": 3}),
        {"attributes": {"v": None}, "remarks": ["strindex"]},
        says="Stored with a warning: 1 strindex.",
    ),
    Case(
        "C37",
        "as a key",
        span(attributes=[{"keyStrindex": 3, "value": {"intValue": 1}}]),
        {"attributes": {"": 1}, "remarks": ["strindex"]},
        says="Stored with a warning: 1 strindex.",
    ),
    Case(
        "C38",
        "every field",
        span(
            **dict.fromkeys(
                [
                    "name",
                    "kind",
                    "status",
                    "attributes",
                    "events",
                    "links",
                    "flags",
                    "startTimeUnixNano",
                    "parentSpanId",
                ]
            )
        ),
        {"name": "", "kind": 0, "attributes": {}, "parent_span_id": None},
        encodings=JSON,
    ),
    Case("C39", "all bits", span(flags=2**32 - 1), {"flags": 2**32 - 1}),
    Case("C39", "bits 10 to 31", span(flags=0xFFFFFC00), {"flags": 0xFFFFFC00}),
    Case(
        "C40",
        "ids alone",
        span(),
        {
            "name": "",
            "kind": 0,
            "status_code": 0,
            "scope_name": "",
            "attributes": {},
            "parent_span_id": None,
            "duration_ns": None,
        },
    ),
    Case(
        "C41",
        "three of five",
        mixture("ab" * 7, "0" * 16),
        {},
        rejected=2,
        says="2 of 5 spans rejected: 1 invalid span id, 1 invalid trace id.",
    ),
    Case(
        "C42",
        "none of two",
        {"resourceSpans": [{"scopeSpans": [{"spans": [{}, {"traceId": "@trace"}]}]}]},
        None,
        rejected=2,
        says="2 of 2 spans rejected",
    ),
    Case(
        "C43",
        "a repeated key",
        span(attributes=[{"key": "v", "value": {"intValue": n}} for n in (1, 2)]),
        {"attributes": {"v": 2}, "remarks": ["duplicate_attribute_key"]},
        says="Stored with a warning: 1 duplicate attribute key.",
    ),
    Case(
        "C43",
        "a parent that is none",
        span(parentSpanId="0" * 16),
        {"parent_span_id": None, "remarks": ["bad_parent_id"]},
        says="Stored with a warning: 1 bad parent id.",
    ),
    Case("C45", "10,000 spans", MANY, None, rejected=10_000, says="10000 of 10000 spans rejected"),
]
