"""Requests made to crash, exhaust or confuse a collector, and the right answer to each.

`Case.body` is made when it is needed: some are large.
"""

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hostile_parts import MIB, attribute, field, json_bytes, json_value, json_with, keys, nested, objects, request, span

FULL, PARTIAL, MALFORMED, TOO_LARGE, WRONG_TYPE = "OK", "PARTIAL", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "415"


@dataclass(frozen=True)
class Case:
    """One request.

    Attributes:
        sent_as: protobuf, json or grpc; each of them a case of its own.
        says: part of the message.
        memory: by how much the collector may grow [MiB].
        encoding: the Content-Encoding; over gRPC, gzip compresses the message.
    """

    name: str
    body: Callable[[], bytes]
    answer: str
    sent_as: tuple[str, ...] = ("protobuf", "grpc")
    says: str = ""
    memory: int = 128
    encoding: str | None = None


JSON = ("json",)
HTTP = ("protobuf",)
GRPC = ("grpc",)


def constant(body: bytes) -> Callable[[], bytes]:
    return lambda: body


def zipped(make: Callable[[], bytes]) -> Callable[[], bytes]:
    return lambda: gzip.compress(make(), 1)


def bomb(mib: int) -> bytes:
    """gzip of so many MiB of zeros, made of one compressed MiB. Its checksum is wrong: nobody should get that far."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    header = b"\x1f\x8b\x08" + bytes(6) + b"\x03"
    return header + block * mib + b"\x03\x00" + bytes(4) + (mib * MIB).to_bytes(4, "little")


def lying_bomb() -> bytes:
    """A bomb that states a small size of itself."""
    return bomb(1024)[:-4] + bytes(4)


EMPTY_SPAN = json.dumps({"traceId": "", "spanId": ""})
RAW_UTF8 = {"overlong": b"\xc0\xaf", "surrogate": b"\xed\xa0\x80", "cut": b"\xe2\x82", "byte": b"\xff"}
LONG = 10 * MIB

SIZE = [
    Case("I01 1 GiB of zeros", partial(bomb, 1024), TOO_LARGE, HTTP, memory=40, encoding="gzip"),
    Case("I01 1 GiB of zeros as JSON", partial(bomb, 1024), TOO_LARGE, JSON, memory=40, encoding="gzip"),
    Case("I01 in 1,024 members", lambda: gzip.compress(bytes(MIB)) * 1024, TOO_LARGE, HTTP, encoding="gzip"),
    Case("I01 that states another size", lying_bomb, TOO_LARGE, HTTP, encoding="gzip"),
    Case("I02 100 MiB of zeros", lambda: bytes(100 * MIB), TOO_LARGE, GRPC, memory=100, encoding="gzip"),
    Case("I03 one byte over 64 MiB", lambda: bytes(64 * MIB + 1), TOO_LARGE, (*HTTP, *GRPC), memory=160),
]
ELEMENTS = [
    Case(f"I05 {name}", zipped(lambda make=make: make()), TOO_LARGE, HTTP, says="elements", encoding="gzip", memory=160)
    for name, make in {
        "16 MB of empty resources": lambda: b"\x0a\x00" * 8_000_000,
        "64 MB of empty resources": lambda: b"\x0a\x00" * 32_000_000,
        "scopes": lambda: field(1, b"\x12\x00" * 2_000_000),
        "resources with a scope": lambda: b"\x0a\x02\x12\x00" * 2_000_000,
        "spans": lambda: request(b"\x12\x00" * 2_000_000),
        "attributes": lambda: span(b"\x4a\x00" * 2_000_000),
        "events": lambda: span(b"\x5a\x00" * 2_000_000),
        "links": lambda: span(b"\x6a\x00" * 2_000_000),
        "short attributes": lambda: span(attribute(b"\x18\x01", b"k") * 1_500_000),
        "values of an array": lambda: span(attribute(field(5, b"\x0a\x00" * 2_000_000))),
        "attributes of the resource": lambda: field(1, field(1, b"\x0a\x00" * 2_000_000)),
    }.items()
] + [
    Case(
        f"I05 {name} in JSON",
        zipped(lambda make=make: make()),
        TOO_LARGE,
        JSON,
        says="elements",
        encoding="gzip",
        memory=160,
    )
    for name, make in {
        "resources": lambda: b'{"resourceSpans":[' + b"{}," * 4_000_000 + b"{}]}",
        "spans": lambda: b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * 3_000_000 + b"{}]}]}]}",
        "lists of an unknown field": lambda: objects(["[]"] * 3_000_000),
        "numbers of an unknown field": lambda: objects(["1"] * 6_000_000),
        "texts of an unknown field": lambda: objects(['"ab"'] * 6_000_000),
    }.items()
]
ELEMENTS += [
    Case("I05 as many as are allowed", lambda: b"\x0a\x00" * 1_000_000, FULL, memory=256),
    Case(
        "I05 as many objects as are allowed",
        lambda: b'{"resourceSpans":[' + b"{}," * 400_000 + b"{}]}",
        FULL,
        JSON,
        memory=400,
    ),
]
DEPTH = [
    Case(
        f"I06 {levels} {member}s{how}",
        partial(nested, levels, member, kind),
        FULL if levels == deepest else MALFORMED,
        sent_as,
    )
    for member, deepest in (("array", 47), ("kvlist", 31))
    for levels in (deepest, deepest + 1, 1000)
    for kind, sent_as, how in (("protobuf", ("protobuf", "grpc"), ""), ("json", JSON, " in JSON"))
] + [
    Case("I07 100,000 arrays", constant(b"[" * 100_000), MALFORMED, JSON),
    Case("I07 5 million objects", lambda: b'{"a":' * 5_000_000, TOO_LARGE, JSON, says="", memory=160),
    Case(
        "I07 2,000 arrays in an unknown field", constant(b'{"x":' + b"[" * 2000 + b"]" * 2000 + b"}"), MALFORMED, JSON
    ),
    Case("I07 1,000 arrays in an unknown field", constant(b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}"), FULL, JSON),
]
TEXT = [
    Case(f"I08 {name} in {place}", constant(make(bad)), MALFORMED)
    for name, bad in RAW_UTF8.items()
    for place, make in {
        "a name": lambda bad: span(field(5, bad)),
        "a value": lambda bad: span(attribute(field(1, bad))),
        "a key": lambda bad: span(attribute(b"\x18\x01", bad)),
    }.items()
] + [
    *(
        Case(f"I08 {name} in JSON", constant(json_bytes(name="@").replace(b"@", bad)), MALFORMED, JSON)
        for name, bad in RAW_UTF8.items()
    ),
    Case("I08 in an array", constant(span(attribute(field(5, field(1, field(1, b"\xff")))))), MALFORMED),
    Case("I08 in the resource", constant(field(1, field(1, attribute(field(1, b"\xff"), number=1)))), MALFORMED),
    *(
        Case(f"I09 {text}", constant(json_with(f'"{text}"')), MALFORMED, JSON)
        for text in (r"\ud800", r"\udfff", r"\udc00\ud800", r"\ud800A", r"\ud800\ud800")
    ),
    Case("I09 in a key", constant(rb'{"\ud800":1}'), MALFORMED, JSON),
    *(
        Case(f"I11 {name}", constant(body), MALFORMED, JSON)
        for name, body in {
            "a byte order mark": b"\xef\xbb\xbf{}",
            "UTF-16": "{}".encode("utf-16"),
            "UTF-16 without a mark": "{}".encode("utf-16-le"),
            "UTF-32": "{}".encode("utf-32"),
            "a comment": b"{/* */}",
            "a line comment": b"{} // x",
            "a trailing comma": b'{"resourceSpans":[],}',
            "a trailing comma in a list": b'{"resourceSpans":[{},]}',
            "trailing bytes": b"{}x",
            "two documents": b"{}{}",
            "single quotes": b"{'a':1}",
            "a key without quotes": b"{a:1}",
            "a raw line break in a text": b'{"a":"\n"}',
            "a raw NUL": b'{"a":"\x00"}',
            "a list": b"[]",
            "a text": b'"resourceSpans"',
            "a number": b"1",
            "null": b"null",
        }.items()
    ),
    *(
        Case(f"I12 {name}", constant(body), MALFORMED, JSON)
        for name, body in {
            "5,000 digits": json_value('{"intValue":' + "9" * 5000 + "}"),
            "5,000 digits as text": json_value('{"intValue":"' + "9" * 5000 + '"}'),
            "1e400": json_value('{"doubleValue":1e400}'),
            "-1e400": json_value('{"doubleValue":-1e400}'),
            "1e400 as text": json_value('{"doubleValue":"1e400"}'),
            "hexadecimal": json_value('{"intValue":0x10}'),
            "a leading zero": json_value('{"intValue":010}'),
            "a plus": json_value('{"intValue":+1}'),
            "a point alone": json_value('{"doubleValue":1.}'),
            "2^64 as text": json_value('{"intValue":"18446744073709551616"}'),
            "Arabic digits": json_value('{"intValue":"٣"}'),
            "true": json_value('{"intValue":true}'),
        }.items()
    ),
    *(
        Case(f"I12 {text}", constant(json_value(f'{{"intValue":{text}}}')), PARTIAL, JSON, "integer out of range")
        for text in ("18446744073709551616", "-1e308")
    ),
    Case("I12 a million digits", lambda: b'{"x":' + b"9" * 1_000_000 + b"}", MALFORMED, JSON),
    Case("I12 a million digits after the point", lambda: b'{"x":0.' + b"9" * 1_000_000 + b"}", FULL, JSON),
]
PARTS = [
    Case("I14 100,000 attributes", lambda: span(keys(100_000)), FULL, HTTP, memory=256),
    Case("I14 131,073 attributes", lambda: span(keys(131_073)), PARTIAL, HTTP, "too many attributes", memory=256),
    Case(
        "I14 131,073 attributes of an event",
        lambda: span(field(11, keys(131_073, 3))),
        PARTIAL,
        HTTP,
        "too many attributes",
        memory=256,
    ),
    Case(
        "I14 131,073 attributes of the resource",
        lambda: field(1, field(1, keys(131_073, 1)) + field(2, field(2, span()[6:]))),
        PARTIAL,
        HTTP,
        "too many attributes",
        memory=256,
    ),
    Case(
        "I14 the same key 100,000 times",
        lambda: span(attribute(b"\x18\x01", b"a key of some length") * 100_000),
        PARTIAL,
        HTTP,
        "duplicate attribute key",
        memory=256,
    ),
    Case("I15 10,000 events", lambda: span(field(11, field(2, b"an event with a name")) * 10_000), FULL, HTTP),
    Case(
        "I15 131,073 events",
        lambda: span(field(11, field(2, b"an event with a name")) * 131_073),
        PARTIAL,
        HTTP,
        "too many events",
        memory=256,
    ),
    Case(
        "I15 131,073 links",
        lambda: span(field(13, field(3, b"a state of a trace")) * 131_073),
        PARTIAL,
        HTTP,
        "too many links",
        memory=256,
    ),
    *(
        Case(f"I16 10 MB in {place}", lambda make=make: make(b"x" * LONG), PARTIAL, HTTP, "truncated value", memory=200)
        for place, make in {
            "a value": lambda text: span(attribute(field(1, text))),
            "bytes": lambda text: span(attribute(field(7, text))),
            "an array": lambda text: span(attribute(field(5, field(1, field(1, text))))),
            "a kvlist": lambda text: span(attribute(field(6, field(1, field(1, b"k") + field(2, field(1, text)))))),
            "a key": lambda text: span(attribute(b"\x18\x01", text)),
            "the name": lambda text: span(field(5, text)),
            "the status": lambda text: span(field(15, field(2, text))),
            "an event": lambda text: span(field(11, field(2, text))),
            "a link": lambda text: span(field(13, field(3, text))),
        }.items()
    ),
    Case("I16 10 MB as JSON", lambda: json_bytes(name="x" * LONG), PARTIAL, JSON, "truncated value", memory=200),
    Case(
        "I16 60 MB in a value",
        lambda: span(attribute(field(1, b"x" * (60 * MIB)))),
        PARTIAL,
        HTTP,
        "truncated value",
        # The request twice, as pieces and as a whole, and 8 times while it is decoded (`max_in_flight_bytes`).
        memory=600,
    ),
    Case("I16 1 MiB", lambda: span(attribute(field(1, b"x" * MIB))), FULL, HTTP),
    Case(
        "I16 20 values of 1 MiB",
        lambda: span(b"".join(attribute(field(1, b"x" * MIB), b"%d" % n) for n in range(20))),
        PARTIAL,
        HTTP,
        "too large",
        memory=400,
    ),
]
PLAIN = span(field(5, b"chat"))
LABELS = [
    Case("I18 gzip in gzip", constant(gzip.compress(gzip.compress(PLAIN))), MALFORMED, HTTP, encoding="gzip"),
    Case("I18 gzip that is not declared", constant(gzip.compress(PLAIN)), MALFORMED, HTTP),
    Case("I18 gzip declared as identity", constant(gzip.compress(PLAIN)), MALFORMED, HTTP, encoding="identity"),
    Case("I18 zlib declared as gzip", constant(zlib.compress(PLAIN)), MALFORMED, HTTP, encoding="gzip"),
    Case("I18 zstd declared as gzip", constant(b"\x28\xb5\x2f\xfd\x00\x00"), MALFORMED, HTTP, encoding="gzip"),
    Case("I18 zstd", constant(b"\x28\xb5\x2f\xfd\x00\x00"), WRONG_TYPE, HTTP, encoding="zstd"),
    Case("I18 JSON as protobuf", constant(json_bytes()), MALFORMED),
    Case("I18 protobuf as JSON", constant(PLAIN), MALFORMED, JSON),
    Case("I18 a gRPC frame over HTTP", constant(bytes(5) + PLAIN), MALFORMED, HTTP),
    Case("I18 a group", constant(b"\x0b\x0c"), FULL),
    Case("I18 a group without end", constant(b"\x0b"), MALFORMED),
    Case("I18 field number 0", constant(b"\x02\x00"), MALFORMED),
    Case("I18 a length beyond the end", constant(b"\x0a\xff\xff\xff\xff\x07"), MALFORMED),
    Case("I18 a varint of 11 bytes", constant(b"\x0a" + b"\xff" * 11), MALFORMED),
    Case("I18 a wrong wire type is an unknown field", constant(span(b"\x28\x01")), FULL),
]
CASES = [*SIZE, *ELEMENTS, *DEPTH, *TEXT, *PARTS, *LABELS]
