"""Rows about a collector that cannot accept anything at the moment, or is gone."""

import errno
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from otlp_clients import (
    ENCODINGS,
    TRACE_EXPORT,
    TYPES,
    Answer,
    Server,
    as_message,
    call,
    collector_process,
    own_channel,
    post,
)

from spanscore.collector import Collector
from spanscore.store import read_session

PARAMS = {
    row: [pytest.param(encoding, marks=pytest.mark.conformance(row, encoding)) for encoding in encodings]
    for row, encodings in {"C46": ("protobuf", "json"), "C47": ("grpc",), "C58": ENCODINGS}.items()
}


def document(n: int) -> dict[str, Any]:
    """A request of one span."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "c5" * 16, "spanId": f"{n:016x}"}]}]}]}


def body(encoding: str, n: int = 1) -> bytes:
    return json.dumps(document(n)).encode() if encoding == "json" else as_message(document(n)).SerializeToString()


def send(server: Server, encoding: str, n: int = 1) -> Answer:
    content = body(encoding, n)
    return call(server, content) if encoding == "grpc" else post(server, content, TYPES[encoding])


def says_unavailable(answer: Answer, encoding: str, seconds: int) -> None:
    """Checks the answer that makes a client keep its data, and that it says when to come back."""
    assert (answer.code, answer.retry_after_s) == ("UNAVAILABLE", seconds)
    if encoding != "grpc":
        assert (answer.status, answer.headers["retry-after"]) == (503, str(seconds))


@pytest.mark.parametrize("encoding", PARAMS["C46"] + PARAMS["C47"])
def test_c46_c47_overloaded(collector: Collector, encoding: str) -> None:
    everything = collector.config.limits.max_in_flight_bytes
    assert collector._admission.take(everything)
    says_unavailable(send(collector, encoding), encoding, 1)
    collector._admission.give_back(everything)

    assert send(collector, encoding).is_full_success


def broken(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("encoding", PARAMS["C58"])
@pytest.mark.parametrize("fault", ["fdatasync", "writev"])
def test_c58_storage_faults(collector: Collector, monkeypatch: pytest.MonkeyPatch, encoding: str, fault: str) -> None:
    monkeypatch.setattr(os, fault, broken)
    says_unavailable(send(collector, encoding), encoding, 30)
    monkeypatch.undo()

    assert send(collector, encoding).is_full_success


@pytest.mark.conformance("C60", *ENCODINGS)
def test_c60_killed_in_the_middle_of_requests(tmp_path: Path) -> None:
    """Nobody gets an answer; sent again, each span is there once, however often it is sent."""
    with collector_process(tmp_path / "store") as server:
        halves = [half_a_request(str(server.http_address), encoding) for encoding in TYPES]
        with own_channel(server) as channel:
            silent = channel.stream_unary(TRACE_EXPORT).future(never(), timeout=30)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            error = silent.exception()
    assert isinstance(error, grpc.RpcError)
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    for half in halves:
        assert reads_nothing(half)
        half.close()

    with collector_process(tmp_path / "store") as server:
        for _ in range(2):
            for n, encoding in enumerate(ENCODINGS, start=1):
                assert send(server, encoding, n).is_full_success
        server.process.terminate()
        assert server.process.wait(timeout=60) == 0
    with read_session(tmp_path / "store") as session:
        assert session.rows("select span_id from spans order by 1") == [(f"{n:016x}",) for n in (1, 2, 3)]


def never() -> Iterator[bytes]:
    """A call whose message never comes."""
    time.sleep(20)
    yield b""


def reads_nothing(connection: socket.socket) -> bool:
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def half_a_request(address: str, encoding: str) -> socket.socket:
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    content = body(encoding)
    headers = {"Host": "x", "Content-Type": TYPES[encoding], "Content-Length": len(content)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection.sendall(f"POST /v1/traces HTTP/1.1\r\n{head}\r\n".encode() + content[: len(content) // 2])
    return connection
