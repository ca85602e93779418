"""Rows of gRPC itself."""

from typing import Any

import grpc
import pytest
from otlp_clients import METRICS_EXPORT, TRACE_EXPORT, as_message, call, own_channel

from spanscore.collector import Collector

LIMIT = 1 << 20
DOCUMENT = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a3" * 16, "spanId": "b4" * 8}]}]}]}
PAYLOAD = as_message(DOCUMENT).SerializeToString()
IN_FULL = [
    ("C08", b"", None),
    ("C12", PAYLOAD, grpc.Compression.NoCompression),
    ("C44", PAYLOAD, None),
    ("C50", PAYLOAD, grpc.Compression.Gzip),
    ("C50", PAYLOAD, grpc.Compression.Deflate),
    ("C48", PAYLOAD + b"\x7a" + bytes([0xC0, 0x84, 0x3D]) + bytes(1_000_000), None),
]
FOR_GOOD = [
    ("C48", TRACE_EXPORT, bytes(LIMIT + 1), None, "RESOURCE_EXHAUSTED", "larger than max"),
    ("C48", TRACE_EXPORT, bytes(LIMIT * 9), grpc.Compression.Gzip, "RESOURCE_EXHAUSTED", "larger than max"),
    ("C49", TRACE_EXPORT, b"\xff\xff\xff", None, "INVALID_ARGUMENT", "cannot be decoded"),
    ("C51", TRACE_EXPORT + "s", PAYLOAD, None, "UNIMPLEMENTED", "Method not found"),
    ("C51", METRICS_EXPORT, b"", None, "UNIMPLEMENTED", "OTEL_METRICS_EXPORTER=none"),
]


def rows(cases: list[Any]) -> list[Any]:
    """The cases as parameters, each marked with its row."""
    return [pytest.param(*case[1:], marks=pytest.mark.conformance(case[0], "grpc"), id=case[0]) for case in cases]


@pytest.mark.parametrize(("payload", "compression"), rows(IN_FULL))
def test_is_accepted_in_full(server: Collector, payload: bytes, compression: grpc.Compression | None) -> None:
    answer = call(server, payload, compression=compression)

    assert (answer.code, answer.body) == ("OK", b"")
    assert answer.is_full_success


@pytest.mark.parametrize(("method", "payload", "compression", "code", "says"), rows(FOR_GOOD))
def test_is_refused_for_good(
    server: Collector, method: str, payload: bytes, compression: grpc.Compression | None, code: str, says: str
) -> None:
    answer = call(server, payload, method, compression=compression)

    assert (answer.code, says in answer.message) == (code, True)
    assert answer.retry_after_s is None
    assert call(server, PAYLOAD).code == "OK"


@pytest.mark.conformance("C56", "grpc")
def test_c56_the_status_stands_in_the_trailers(server: Collector) -> None:
    answer = call(server, b"\xff\xff\xff")

    assert (answer.code, answer.violations) == ("INVALID_ARGUMENT", [answer.message])


@pytest.mark.conformance("C52", "grpc")
def test_c52_a_hundred_calls_at_once_are_all_answered(server: Collector) -> None:
    with own_channel(server) as channel:
        export = channel.unary_unary(TRACE_EXPORT)
        answers = [export.future(PAYLOAD, timeout=60) for _ in range(100)]

        assert [answer.result() for answer in answers] == [b""] * 100


@pytest.mark.conformance("C53", "grpc")
def test_c53_hundreds_of_calls_on_one_channel(server: Collector) -> None:
    with own_channel(server) as channel:
        assert {call(server, b"", channel=channel).code for _ in range(300)} == {"OK"}


def test_a_call_without_a_message_is_malformed(server: Collector) -> None:
    with own_channel(server) as channel, pytest.raises(grpc.RpcError) as raised:
        channel.stream_unary(TRACE_EXPORT)(iter(()), timeout=20)

    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
