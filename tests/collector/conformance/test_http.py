"""Rows of HTTP itself: paths, methods, headers, compression, sizes, connections."""

import asyncio
import gzip
import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from otlp_clients import (
    JSON,
    LOGS_EXPORT,
    PROTOBUF,
    TYPES,
    Answer,
    as_message,
    call,
    http_answer,
    post,
    read_answer,
)

from spanscore.collector import DEFAULT_GRPC, DEFAULT_HTTP, Collector, CollectorConfig

LIMIT = 1 << 20
DOCUMENT = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a1" * 16, "spanId": "b2" * 8}]}]}]}
BODIES = {"protobuf": as_message(DOCUMENT).SerializeToString(), "json": json.dumps(DOCUMENT).encode()}
EMPTY = {"protobuf": b"", "json": b"{}"}
GZIP = {"Content_Encoding": "gzip"}


def each(*rows: str, encodings: tuple[str, ...] = ("protobuf", "json")) -> Any:
    """Runs a test in the encodings as those rows of the table."""
    marks = [[pytest.mark.conformance(row, encoding) for row in rows] for encoding in encodings]
    params = [
        pytest.param(encoding, marks=mark, id=f"{' '.join(rows)} {encoding}")
        for encoding, mark in zip(encodings, marks, strict=True)
    ]
    return pytest.mark.parametrize("encoding", params)


def in_two(body: bytes) -> bytes:
    """gzip in two members."""
    return gzip.compress(body[:20]) + gzip.compress(body[20:])


def padded(encoding: str, size: int) -> bytes:
    """A request of that many bytes."""
    body = BODIES[encoding]
    if encoding == "json":
        return body + b" " * (size - len(body))
    head = body + b"\x7a"  # field 15, unknown: ignored
    length = size - len(head) - 3
    return head + bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14]) + bytes(length)


@each("C01", encodings=("protobuf",))
def test_c01(server: Collector, encoding: str) -> None:
    answer = post(server, BODIES[encoding])

    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"", PROTOBUF)
    assert not answer.response.HasField("partial_success")


@each("C02", encodings=("json",))
def test_c02(server: Collector, encoding: str) -> None:
    answer = post(server, BODIES[encoding], JSON)

    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"{}", JSON)


@each("C03")
def test_c03(server: Collector, encoding: str) -> None:
    for kind in (TYPES[encoding] + "; charset=utf-8", TYPES[encoding].title(), TYPES[encoding].upper() + " ;a=b"):
        answer = post(server, BODIES[encoding], kind)

        assert (answer.status, answer.headers["content-type"]) == (200, TYPES[encoding])


@each("C04")
def test_c04(server: Collector, encoding: str) -> None:
    for kind in ("text/plain", None, "", "multipart/form-data; boundary=x", "application/x-protobuf2", "application"):
        answer = post(server, BODIES[encoding], kind)

        assert (answer.status, answer.code, answer.headers["content-type"]) == (415, "INVALID_ARGUMENT", JSON)
        assert "application/x-protobuf or application/json" in answer.message


@each("C05")
def test_c05(server: Collector, encoding: str) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        answer = post(server, b"", TYPES[encoding], method=method)

        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert (answer.code, answer.headers["content-type"]) == ("UNIMPLEMENTED", TYPES[encoding])


@each("C06")
def test_c06(server: Collector, encoding: str) -> None:
    for path, says in (
        ("/nope", "/v1/traces"),
        ("/v1/traces/", "/v1/traces"),
        ("/v1/metrics", "METRICS_EXPORTER=none"),
    ):
        answer = post(server, BODIES[encoding], TYPES[encoding], path=path)

        assert (answer.status, answer.code) == (404, "NOT_FOUND")
        assert says in answer.message


@each("C07")
def test_c07(server: Collector, encoding: str) -> None:
    asks = {"Origin": "http://example.com", "Access_Control_Request_Method": "POST"}
    for method in ("OPTIONS", "POST"):
        answer = post(server, BODIES[encoding], TYPES[encoding], method=method, **asks)

        assert answer.status == (405 if method == "OPTIONS" else 200)
        assert not [name for name in answer.headers if name.startswith("access-control")]


@each("C08", encodings=("protobuf",))
def test_c08(server: Collector, encoding: str) -> None:
    answer = post(server, b"")

    assert (answer.status, answer.body, encoding) == (200, b"", "protobuf")


@each("C10", encodings=("json",))
def test_c10(server: Collector, encoding: str) -> None:
    for body in (b"", b" \n"):
        assert post(server, body, TYPES[encoding]).status == 400


@each("C11")
def test_c11(server: Collector, encoding: str) -> None:
    for name in ("gzip", "GZip", "x-gzip"):
        answer = post(server, gzip.compress(BODIES[encoding]), TYPES[encoding], Content_Encoding=name)

        assert (answer.status, answer.body) == (200, EMPTY[encoding])


@each("C12")
def test_c12(server: Collector, encoding: str) -> None:
    for headers in ({"Content_Encoding": "identity"}, {"Content_Encoding": ""}, {}):
        assert post(server, BODIES[encoding], TYPES[encoding], **headers).status == 200


@each("C13")
def test_c13(server: Collector, encoding: str) -> None:
    for name in ("br", "zstd", "deflate", "gzip, gzip", "identity, gzip"):
        answer = post(server, BODIES[encoding], TYPES[encoding], Content_Encoding=name)

        assert (answer.status, answer.headers["content-type"]) == (415, TYPES[encoding])


@each("C14")
def test_c14(server: Collector, encoding: str) -> None:
    packed = gzip.compress(BODIES[encoding])
    wrong_sum, wrong_length = packed[:-8] + bytes(4) + packed[-4:], packed[:-4] + bytes(4)
    damaged = [
        BODIES[encoding],
        b"",
        packed[:-9],
        packed[:5],
        packed + b"x",
        packed + bytes(8),
        wrong_sum,
        wrong_length,
    ]
    for body in damaged:
        answer = post(server, body, TYPES[encoding], **GZIP)

        assert (answer.status, answer.code) == (400, "INVALID_ARGUMENT")
        assert "gzip" in answer.message


@each("C15")
def test_c15(server: Collector, encoding: str) -> None:
    assert post(server, in_two(BODIES[encoding]), TYPES[encoding], **GZIP).status == 200
    assert post(server, in_two(padded(encoding, LIMIT + 1)), TYPES[encoding], **GZIP).status == 413


@each("C16")
def test_c16(server: Collector, encoding: str) -> None:
    assert CollectorConfig(store=server.config.store).limits.max_request_bytes == 64 << 20
    assert post(server, padded(encoding, LIMIT), TYPES[encoding]).status == 200
    refused(post(server, padded(encoding, LIMIT) + b" ", TYPES[encoding]), encoding)


@each("C17")
def test_c17(server: Collector, encoding: str) -> None:
    assert post(server, gzip.compress(padded(encoding, LIMIT)), TYPES[encoding], **GZIP).status == 200
    refused(post(server, gzip.compress(padded(encoding, LIMIT) + b" "), TYPES[encoding], **GZIP), encoding)


@each("C18")
def test_c18(server: Collector, encoding: str) -> None:
    answer = post(server, (b" " * (1 << 16) for _ in range(40)), TYPES[encoding])

    refused(answer, encoding)
    assert answer.headers["connection"] == "close"


def refused(answer: Answer, encoding: str) -> None:
    """Checks that a request was refused for its size, for good."""
    assert (answer.status, answer.code) == (413, "RESOURCE_EXHAUSTED")
    assert (answer.retry_after_s, "retry-after" in answer.headers) == (None, False)
    assert answer.headers["content-type"] == TYPES[encoding]


@each("C19")
def test_c19(server: Collector, encoding: str) -> None:
    answer = post(server, {"protobuf": b"\xff\xff\xff", "json": b'{"resourceSpans":['}[encoding], TYPES[encoding])

    assert (answer.status, answer.code) == (400, "INVALID_ARGUMENT")
    assert answer.violations == [answer.message]


@each("C52")
def test_c52(server: Collector, encoding: str) -> None:
    """A hundred connections at once, and twenty requests on one connection before the first answer is read."""
    assert server.http_address is not None
    host, port = server.http_address.split(":")
    body = BODIES[encoding]
    request = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {TYPES[encoding]}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body

    async def send(count: int) -> int:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request * count)
        answered = 0
        while answered < count:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            answered += 1
        writer.close()
        return answered

    async def send_all() -> int:
        return sum(await asyncio.gather(*(send(20 if n == 0 else 1) for n in range(100))))

    assert asyncio.run(asyncio.wait_for(send_all(), 60)) == 119


@each("C53")
def test_c53(server: Collector, encoding: str) -> None:
    connection = http.client.HTTPConnection(str(server.http_address), timeout=60)
    connection.connect()
    first = connection.sock
    for _ in range(1000 if encoding == "protobuf" else 100):
        connection.request("POST", "/v1/traces", EMPTY[encoding], {"Content-Type": TYPES[encoding]})
        assert read_answer(connection).status == 200

    assert connection.sock is first
    connection.close()


@each("C54")
def test_c54(server: Collector, encoding: str) -> None:
    """On one connection even, whichever comes first."""
    connection = http.client.HTTPConnection(str(server.http_address), timeout=60)
    for kind in sorted(TYPES, reverse=encoding == "protobuf") * 2:
        connection.request("POST", "/v1/traces", BODIES[kind], {"Content-Type": TYPES[kind]})
        answer = read_answer(connection)
        assert (answer.status, answer.headers["content-type"]) == (200, TYPES[kind])
    connection.close()


@each("C55")
def test_c55(server: Collector, encoding: str) -> None:
    """100 and then 200, or 413 before a byte of the body is sent."""
    for size, expected in ((len(BODIES[encoding]), 200), (LIMIT + 1, 413)):
        head, rest = ask_to_continue(server, encoding, size)
        if expected == 200:
            assert head.startswith(b"HTTP/1.1 100 ")
            assert rest.startswith(b"HTTP/1.1 200 ")
        else:
            assert head.startswith(b"HTTP/1.1 413 ")
            assert b"HTTP/1.1" not in rest


def ask_to_continue(server: Collector, encoding: str, size: int) -> tuple[bytes, bytes]:
    """The first answer to a request that waits for leave to send its body, and what comes after that."""
    host, port = str(server.http_address).split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(
            f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {TYPES[encoding]}\r\nContent-Length: {size}\r\n"
            "Expect: 100-continue\r\n\r\n".encode()
        )
        first = connection.recv(10_000)
        if first.startswith(b"HTTP/1.1 100 "):
            connection.sendall(BODIES[encoding])
            return first, connection.recv(10_000)
        rest = b""
        started = time.monotonic()
        while piece := connection.recv(10_000):
            rest += piece
        assert time.monotonic() - started < 4, "the connection is closed at once"
        return first, rest


@each("C56")
def test_c56(server: Collector, encoding: str) -> None:
    """In the encoding of the request, with the code that belongs to the HTTP status."""
    kind = TYPES[encoding]
    answers = [
        post(server, b"\xff", kind),
        post(server, b"", kind, path="/nope"),
        post(server, b"", kind, method="GET"),
        post(server, padded(encoding, LIMIT + 1), kind),
        post(server, b"", kind, Content_Encoding="br"),
        post(server, b"", kind, **{f"X_{n}": "y" for n in range(200)}),
    ]

    assert [answer.status for answer in answers] == [400, 404, 405, 413, 415, 431]
    for answer in answers:
        assert answer.headers["content-type"] == kind
        assert (answer.code == "UNKNOWN", bool(answer.message)) == (False, True)


@each("C57")
def test_c57(server: Collector, encoding: str) -> None:
    answer = post(server, BODIES[encoding], TYPES[encoding], Accept_Encoding="gzip")

    assert (answer.status, answer.body) == (200, EMPTY[encoding])
    assert "content-encoding" not in answer.headers


@each("C59", encodings=("protobuf", "json", "grpc"))
def test_c59(encoding: str, tmp_path: Any) -> None:
    config = CollectorConfig(store=tmp_path)
    address = config.grpc if encoding == "grpc" else config.http

    assert address == {"grpc": "127.0.0.1:4317"}.get(encoding, "127.0.0.1:4318")
    assert (config.grpc, config.http) == (DEFAULT_GRPC, DEFAULT_HTTP)


def test_what_is_no_http_is_answered_with_a_status_too(server: Collector) -> None:
    host, port = str(server.http_address).split(":")
    for request, expected in ((b"\x16\x03\x01\x02\x00\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000, 431)):
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(request)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            found = http_answer(answer.status, headers, answer.read())

        assert (found.status, found.code) == (expected, "INVALID_ARGUMENT")
        assert found.message


def test_health_paths_answer(server: Collector) -> None:
    answers = [post(server, b"", None, method="GET", path=path) for path in ("/healthz", "/readyz")]

    assert [(answer.status, answer.body) for answer in answers] == [(200, b"ok\n")] * 2


def test_log_records_are_stored(
    collector: Collector, stored: Callable[..., list[tuple[Any, ...]]], logs: Callable[..., Any]
) -> None:
    document = {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {"logRecords": [{"timeUnixNano": "7", "body": {"stringValue": "c"}, "attributes": [{}, {}]}]}
                ]
            }
        ]
    }
    plain = post(collector, logs("a").SerializeToString(), path="/v1/logs")
    odd = post(collector, json.dumps(document).encode(), JSON, path="/v1/logs")
    over_grpc = call(collector, logs("b").SerializeToString(), LOGS_EXPORT)

    assert (plain.body, over_grpc.body) == (b"", b"")
    assert odd.warning == "Stored with a warning: 1 duplicate attribute key."
    rows = stored(collector, "select body::varchar, problems from log_records order by 1")
    assert rows == [("a", None), ("b", None), ("c", ["duplicate_attribute_key"])]
