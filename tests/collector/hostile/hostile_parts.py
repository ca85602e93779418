"""Pieces of requests: protobuf fields by hand, and spans of both encodings."""

import json
from collections.abc import Iterable
from typing import Any

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
IDS = b"\x0a\x10" + bytes.fromhex(TRACE) + b"\x12\x08" + bytes.fromhex(SPAN)
MIB = 1 << 20


def field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def request(spans: bytes) -> bytes:
    """A request whose only scope has these bytes."""
    return field(1, field(2, spans))


def span(content: bytes = b"", ids: bytes = IDS) -> bytes:
    """A request of one span with these fields."""
    return request(field(2, ids + content))


def attribute(value: bytes, key: bytes = b"v", number: int = 9) -> bytes:
    """An attribute, of a span unless told otherwise."""
    return field(number, field(1, key) + field(2, value))


def json_span(**fields: Any) -> dict[str, Any]:
    """A request of one span."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": SPAN, **fields}]}]}]}


def json_bytes(**fields: Any) -> bytes:
    return json.dumps(json_span(**fields)).encode()


def json_with(text: str, place: str = "name") -> bytes:
    """A request of one span with a field whose value is this very text."""
    return json_bytes(**{place: "@"}).replace(b'"@"', text.encode())


def json_value(value: str) -> bytes:
    """A request of one span with an attribute whose value is this very text."""
    return json_bytes(attributes=[{"key": "v", "value": "@"}]).replace(b'"@"', value.encode())


def nested(levels: int, member: str, kind: str) -> bytes:
    """A span with an attribute in so many arrays or kvlists."""
    if kind == "json":
        inner: Any = '{"intValue":1}'
        opening = '{"arrayValue":{"values":[' if member == "array" else '{"kvlistValue":{"values":[{"key":"k","value":'
        closing = "]}}" if member == "array" else "}]}}"
        return json_value(opening * levels + inner + closing * levels)
    value = b"\x18\x01"
    for _ in range(levels):
        value = field(5, field(1, value)) if member == "array" else field(6, field(1, field(1, b"k") + field(2, value)))
    return span(attribute(value))


def many(part: bytes, count: int) -> bytes:
    return part * count


def keys(count: int, number: int = 9) -> bytes:
    """So many different attributes."""
    return b"".join(attribute(b"\x18\x01", b"key.%d" % n, number) for n in range(count))


def objects(items: Iterable[str]) -> bytes:
    """Unknown JSON that has to be parsed all the same."""
    return b'{"x":[' + ",".join(items).encode() + b"]}"
