"""Rows about a collector that cannot accept anything at the moment, or is gone."""

import errno
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from otlp_clients import ENCODINGS, TRACE_EXPORT, TYPES, Answer, as_message, call, post

from spanscore.collector import Collector
from spanscore.store import read_session

SERVER = Path(__file__).parents[1] / "ack_server.py"
PARAMS = {
    row: [pytest.param(encoding, marks=pytest.mark.conformance(row, encoding)) for encoding in encodings]
    for row, encodings in {"C46": ("protobuf", "json"), "C47": ("grpc",), "C58": ENCODINGS}.items()
}


def document(n: int) -> dict[str, Any]:
    """A request of one span."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "c5" * 16, "spanId": f"{n:016x}"}]}]}]}


def body(encoding: str, n: int = 1) -> bytes:
    return json.dumps(document(n)).encode() if encoding == "json" else as_message(document(n)).SerializeToString()


def send(server: Collector, encoding: str) -> Answer:
    return call(server, body(encoding)) if encoding == "grpc" else post(server, body(encoding), TYPES[encoding])


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


@pytest.fixture
def server_process(tmp_path: Path) -> Iterator[Callable[[], tuple[subprocess.Popen[str], dict[str, str]]]]:
    """Starts a collector as a process of its own on the same store each time."""
    started: list[subprocess.Popen[str]] = []

    def start() -> tuple[subprocess.Popen[str], dict[str, str]]:
        command = [sys.executable, str(SERVER), str(tmp_path / "store"), "ack-after-sync", "127.0.0.1:0", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.conformance("C60", *ENCODINGS)
def test_c60_killed_in_the_middle_of_requests(
    tmp_path: Path, server_process: Callable[[], tuple[subprocess.Popen[str], dict[str, str]]]
) -> None:
    """Nobody gets an answer; sent again, each span is there once, however often it is sent."""
    process, where = server_process()
    halves = [half_a_request(where["http"], encoding) for encoding in TYPES]
    with grpc.insecure_channel(where["grpc"]) as channel:
        silent = channel.stream_unary(TRACE_EXPORT).future(never(), timeout=30)
        process.send_signal(signal.SIGKILL)
        process.wait()
        error = silent.exception()
        assert isinstance(error, grpc.RpcError)
        assert error.code() is grpc.StatusCode.UNAVAILABLE
    for half in halves:
        assert reads_nothing(half)
        half.close()

    process, where = server_process()
    for _ in range(2):
        for n, encoding in enumerate(ENCODINGS, start=1):
            send_to(where, encoding, body(encoding, n))
    process.terminate()
    assert process.wait(timeout=60) == 0
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


def send_to(where: dict[str, str], encoding: str, content: bytes) -> None:
    if encoding == "grpc":
        with grpc.insecure_channel(where["grpc"]) as channel:
            assert channel.unary_unary(TRACE_EXPORT)(content, timeout=30) == b""
        return
    connection = http.client.HTTPConnection(where["http"], timeout=30)
    connection.request("POST", "/v1/traces", content, {"Content-Type": TYPES[encoding]})
    assert connection.getresponse().status == 200
    connection.close()
