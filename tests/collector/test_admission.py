"""Every way of saying no while overloaded or broken makes the client keep its data."""

import errno
import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from spanscore.collector import Collector, CollectorConfig, Security, http_body, http_protocol, read_status
from spanscore.collector.collector import serve
from spanscore.errors import CollectorRunning, UsageError

TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
Stored = Callable[..., list[tuple[Any, ...]]]


def exhaust(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    assert collector._admission.take(collector.config.limits.max_in_flight_bytes)


def fill_disk(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real(path)._replace(free=1 << 20))
    collector._admission._next_disk_check = 0.0


def break_disk(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fdatasync", fail)


@pytest.mark.parametrize(("trouble", "seconds"), [(exhaust, 1), (fill_disk, 30), (break_disk, 30)])
def test_trouble_is_unavailable_and_says_when_to_come_back(
    collector: Collector, traces: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, trouble: Any, seconds: int
) -> None:
    """503 with Retry-After, and UNAVAILABLE with RetryInfo; never 500, after which a client drops its spans."""
    payload = traces(1).SerializeToString()
    trouble(collector, monkeypatch)
    connection = http.client.HTTPConnection(collector.http_address, timeout=10)
    connection.request("POST", "/v1/traces", payload, {"Content-Type": "application/x-protobuf"})
    answer = connection.getresponse()
    over_http = Status.FromString(answer.read())
    with grpc.insecure_channel(collector.grpc_address) as channel, pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary(TRACE_EXPORT)(payload, timeout=10)
    over_grpc = Status.FromString(dict(raised.value.trailing_metadata())["grpc-status-details-bin"])
    monkeypatch.undo()

    assert (answer.status, answer.getheader("Retry-After")) == (503, str(seconds))
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    for status in (over_http, over_grpc):
        retry = RetryInfo()
        assert status.code == grpc.StatusCode.UNAVAILABLE.value[0]
        assert status.details[0].Unpack(retry)
        assert retry.retry_delay.seconds == seconds
    assert collector.status()["refused_requests"] == {"unavailable": 2}


def test_requests_are_accepted_again_after_a_broken_disk(
    collector: Collector, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    with grpc.insecure_channel(collector.grpc_address) as channel:
        export = channel.unary_unary(TRACE_EXPORT)
        export(traces(1).SerializeToString(), timeout=10)
        break_disk(collector, monkeypatch)
        with pytest.raises(grpc.RpcError):
            export(traces(2).SerializeToString(), timeout=10)
        monkeypatch.undo()
        export(traces(3).SerializeToString(), timeout=10)

    assert stored(collector, "select attributes['number']::bigint from spans order by 1") == [(1,), (3,)]


def test_readiness_follows_admission(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    def status(path: str) -> int:
        connection = http.client.HTTPConnection(collector.http_address, timeout=10)
        connection.request("GET", path)
        return connection.getresponse().status

    before = status("/readyz")
    fill_disk(collector, monkeypatch)

    assert (before, status("/readyz"), status("/healthz")) == (200, 503, 200)


def test_bytes_in_flight_are_given_back(collector: Collector, traces: Callable[..., Any]) -> None:
    payload = traces(*range(200)).SerializeToString()
    for _ in range(3):
        connection = http.client.HTTPConnection(collector.http_address, timeout=10)
        for body in (payload, payload + b"\xff"):
            connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
            connection.getresponse().read()
        connection.close()

    assert collector._admission._in_flight == 0


def test_a_silent_connection_is_closed(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEADERS_WITHIN_S", 0.2)
    host, port = collector.http_address.split(":")
    started = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=10) as silent:
        silent.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n")

        assert silent.recv(100) == b""
    assert time.monotonic() - started < 5


def test_a_body_that_trickles_in_is_given_up(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 503: a client does not send again after 408."""
    monkeypatch.setattr(http_body, "BODY_WITHIN_S", 0.2)
    host, port = collector.http_address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n"
        slow.sendall(head + b"{")
        answer = slow.recv(10_000)

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1\r\n" in answer.lower()


def test_a_second_collector_on_the_store_is_refused(collector: Collector) -> None:
    with pytest.raises(CollectorRunning, match=f"PID {os.getpid()}"):
        Collector(collector.config.store).open()


def test_a_port_in_use_is_a_usage_error_and_gives_the_store_back(collector: Collector, tmp_path: Path) -> None:
    for option in ("grpc", "http"):
        address = getattr(collector, f"{option}_address")
        with pytest.raises(UsageError, match=f"Cannot listen on --{option} {address}"):
            Collector(tmp_path / "other", **{option: address}).open()
    with Collector(tmp_path / "other", grpc=None) as other:
        assert other.grpc_address is None


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:4317"])
def test_other_machines_are_let_in_only_on_request(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="--insecure") as raised:
        serve(CollectorConfig(store=tmp_path / "store", grpc=address))

    assert raised.value.exit_code == 2
    assert not (tmp_path / "store").exists()
    CollectorConfig(store=tmp_path, grpc=address, security=Security(insecure_no_auth=True)).check()


@pytest.mark.parametrize("address", ["localhost:0", "127.0.0.1:0", "127.8.8.8:0", "[::1]:0"])
def test_loopback_needs_no_permission(tmp_path: Path, address: str) -> None:
    CollectorConfig(store=tmp_path, grpc=address).check()


@pytest.mark.parametrize("address", ["", "4317", "localhost", ":4317", "::1:4317", "localhost:http", "localhost:70000"])
def test_an_address_that_is_none_is_a_usage_error(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        CollectorConfig(store=tmp_path, http=address).check()


def test_two_switched_off_receivers_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Both receivers"):
        CollectorConfig(store=tmp_path, grpc=None, http=None).check()


def test_the_status_file_counts_what_came(tmp_path: Path, traces: Callable[..., Any], logs: Callable[..., Any]) -> None:
    store = tmp_path / "store"
    request = traces(0, 1, 2)
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    with Collector(store) as collector, grpc.insecure_channel(collector.grpc_address) as channel:
        while_open = read_status(store)
        export = channel.unary_unary(TRACE_EXPORT)
        export(request.SerializeToString(), timeout=10)
        with pytest.raises(grpc.RpcError):
            export(b"\xff", timeout=10)
        method = TRACE_EXPORT.replace("trace.v1.Trace", "logs.v1.Logs")
        channel.unary_unary(method)(logs("a", "b").SerializeToString(), timeout=10)
    after = read_status(store)

    assert while_open is not None
    assert (while_open["is_running"], while_open["pid"]) == (True, os.getpid())
    assert after is not None
    assert after["accepted"] == {"requests": 2, "spans": 2, "log_records": 2}
    assert after["rejected"] == {"spans": {"invalid_trace_id": 1}, "log_records": {}}
    assert after["refused_requests"] == {"malformed": 1}
    assert (after["is_running"], after["waiting_bytes"], after["stored_spans"]) == (False, 0, 2)
    assert after["last_load_at"] is not None


def test_a_store_without_a_collector_has_no_status(tmp_path: Path) -> None:
    assert read_status(tmp_path) is None


def test_reading_the_status_loads_nothing_heavy() -> None:
    heavy = "{'grpc', 'uvicorn', 'pyarrow', 'duckdb', 'google.protobuf'}"
    code = f"import sys, spanscore.collector; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
