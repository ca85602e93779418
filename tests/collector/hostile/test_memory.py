"""Many clients at once, each as costly as is allowed: the collector stays within its memory and answers a good one."""

import contextlib
import gzip
import re
import socket
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hostile_parts import MIB, attribute, field, keys, span
from hostile_requests import PLAIN
from otlp_clients import TYPES, Answer, CollectorProcess, call, collector_process, own_channel, post

FLOODS: dict[str, tuple[str, Callable[[], bytes], int]] = {
    "empty resources": ("protobuf", lambda: b"\x0a\x00" * 900_000, 700),
    "empty objects": ("json", lambda: b'{"resourceSpans":[' + b"{}," * 400_000 + b"{}]}", 900),
    "attributes": ("protobuf", lambda: span(keys(100_000)), 900),
    "4 MB texts": ("grpc", lambda: span(b"".join(attribute(field(1, b"x" * MIB), b"%d" % n) for n in range(4))), 700),
    "60 MB of unknown fields": ("protobuf", lambda: field(15, bytes(60 * MIB)), 900),
}
CLIENTS = 16


def peak_mib(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) // 1024


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOODS)
def test_flood(tmp_path: Path, name: str) -> None:
    kind, make, most_mib = FLOODS[name]
    with collector_process(tmp_path / "store") as server:
        body = make()
        packed = gzip.compress(body, 1)

        def send(_: int) -> Answer:
            return call(server, body) if kind == "grpc" else post(server, packed, TYPES[kind], Content_Encoding="gzip")

        with ThreadPoolExecutor(CLIENTS + 1) as clients:
            flood = [clients.submit(send, n) for n in range(2 * CLIENTS)]
            time.sleep(0.5)
            started = time.monotonic()
            good = post(server, PLAIN)
            good_s = time.monotonic() - started
            answers = Counter(answer.result().code for answer in flood)
        peak = peak_mib(server.process.pid)
        print(f"\n{name}: {dict(answers)}, peak {peak} MiB, good client {good_s:.2f} s")

        assert set(answers) <= {"OK", "UNAVAILABLE"}
        assert good.code in ("OK", "UNAVAILABLE")
        assert peak < most_mib
        assert post(server, PLAIN).is_full_success


@pytest.mark.slow
def test_slow_and_idle_clients_by_the_hundred(victim: CollectorProcess) -> None:
    """500 with half a head and 500 with half a body: a good client's requests go through."""
    host, port = str(victim.http_address).split(":")
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
    half = [socket.create_connection((host, int(port)), timeout=60) for _ in range(1000)]
    for n, connection in enumerate(half):
        connection.sendall(head + (b"Content-Length: 1000\r\n\r\nx" if n % 2 else b"X: "))
    took = []
    with own_channel(victim) as channel:
        for n in range(100):
            started = time.monotonic()
            answer = call(victim, PLAIN, channel=channel) if n % 2 else post(victim, PLAIN)
            took.append(time.monotonic() - started)
            assert answer.is_full_success
    took.sort()
    print(f"\nbeside 1,000 slow clients: median {took[50]:.3f} s, p99 {took[98]:.3f} s")
    reaped = time.monotonic()
    for connection in half:
        # One that is closed before all that it sent was read is reset.
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(65536):
                pass
        connection.close()
    print(f"all reaped after another {time.monotonic() - reaped:.1f} s")

    assert took[98] < 2
    assert time.monotonic() - reaped < 40
