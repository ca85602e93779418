"""Connections made to confuse, flood or tie up a collector: whoever has something to say is answered all the same."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from hostile_requests import PLAIN
from otlp_clients import CollectorProcess, Server, call, post

from spanscore.collector import Collector, http_body, http_protocol
from spanscore.collector.http_receiver import HttpReceiver

HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(PLAIN)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNK = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PLAIN), PLAIN)

HEADS = {
    "I19 a negative length": (HEAD + b"Content-Length: -1\r\n\r\n" + PLAIN, 400),
    "I19 a length of 1e30": (HEAD + b"Content-Length: 1e30\r\n\r\n" + PLAIN, 400),
    "I19 a length of 30 digits": (HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + PLAIN, 400),
    "I19 a length of 19 digits": (HEAD + b"Content-Length: " + b"9" * 19 + b"\r\n\r\n", 413),
    "I19 a signed length": (HEAD + b"Content-Length: +5\r\n\r\n" + PLAIN, 400),
    "I19 a hexadecimal length": (HEAD + b"Content-Length: 0x5\r\n\r\n" + PLAIN, 400),
    "I19 an empty length": (HEAD + b"Content-Length: \r\n\r\n" + PLAIN, 400),
    "I19 two different lengths": (HEAD + b"Content-Length: 5\r\n" + LENGTH + b"\r\n" + PLAIN, 400),
    "I19 two different lengths in one": (HEAD + b"Content-Length: 5, 6\r\n\r\n" + PLAIN, 400),
    "I19 length and chunks": (HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNK, 400),
    "I19 chunks and length": (HEAD + CHUNKED + LENGTH + b"\r\n" + CHUNK, 400),
    "I19 chunked twice": (HEAD + CHUNKED + CHUNKED + b"\r\n" + CHUNK, 501),
    "I19 another transfer encoding": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNK, 501),
    "I19 nearly chunked": (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNK, 501),
    "I19 a chunk size that is none": (HEAD + CHUNKED + b"\r\nxyz\r\n", 400),
    "I19 a negative chunk size": (HEAD + CHUNKED + b"\r\n-5\r\nhello\r\n", 400),
    "I19 a chunk size of 30 digits": (HEAD + CHUNKED + b"\r\n" + b"f" * 30 + b"\r\n", 400),
    "I19 a chunk longer than its size": (HEAD + CHUNKED + b"\r\n3\r\nhello\r\n", 400),
    "I19 a space before the colon": (HEAD + b"Content-Length : 5\r\n\r\n" + PLAIN, 400),
    "I19 a header without a name": (HEAD + b": x\r\n\r\n", 400),
    "I19 a NUL in a header": (HEAD + b"X: a\x00b\r\n\r\n", 400),
    "I19 a bare CR in a header": (HEAD + b"X: a\rb\r\n\r\n", 400),
    "I19 no host": (b"POST /v1/traces HTTP/1.1\r\n" + LENGTH + b"\r\n" + PLAIN, 400),
    "I19 two hosts": (HEAD + b"Host: y\r\n" + LENGTH + b"\r\n" + PLAIN, 400),
    "I19 HTTP/2 without being asked": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404),
    "I19 TLS without being asked": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "I19 HTTP/9.9": (b"POST /v1/traces HTTP/9.9\r\nHost: x\r\n\r\n", 415),
    "I19 no version": (b"POST /v1/traces\r\n\r\n", 400),
    "I19 a method of 10,000 letters": (b"A" * 10_000 + HEAD[4:] + b"\r\n", 405),
    "I19 a path outside": (b"POST /../../v1/traces HTTP/1.1\r\nHost: x\r\n" + LENGTH + b"\r\n" + PLAIN, 404),
    "I19 a path in disguise": (b"POST /v1%2ftraces HTTP/1.1\r\nHost: x\r\n" + LENGTH + b"\r\n" + PLAIN, 415),
    "I20 a header of 1 MB": (HEAD + b"X: " + b"y" * 1_000_000 + b"\r\n\r\n", 431),
    "I20 a path of 1 MB": (b"POST /" + b"y" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    "I20 a header name of 1 MB": (HEAD + b"X" * 1_000_000 + b": y\r\n\r\n", 431),
    "I20 5,000 headers": (HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(5000)) + b"\r\n", 431),
    "I20 101 headers": (HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(101)) + LENGTH + b"\r\n" + PLAIN, 431),
    "I20 a head that never ends": (HEAD + b"X: y\r\n" * 20_000, 431),
}


def where(server: Server) -> tuple[str, int]:
    host, port = str(server.http_address).split(":")
    return host, int(port)


def first_status(connection: socket.socket) -> int:
    """Status of the first answer, 0 where there is none."""
    try:
        head = connection.recv(65536)
    except ConnectionResetError:
        return 0
    return int(head.split(b" ")[1]) if head.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.parametrize("name", HEADS)
def test_hostile_head(victim: CollectorProcess, name: str) -> None:
    """Refused with the right status, and nothing after it is taken for another request."""
    sent, status = HEADS[name]
    with socket.create_connection(where(victim), timeout=20) as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(sent + (b"" if status in (413, 431) else HEAD + LENGTH + b"\r\n" + PLAIN))
        found = first_status(connection)

    assert found == status
    assert post(victim, PLAIN).is_full_success


def test_i03_a_long_body_is_refused_before_it_comes(victim: CollectorProcess) -> None:
    with socket.create_connection(where(victim), timeout=20) as connection:
        connection.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n")
        started = time.monotonic()

        assert first_status(connection) == 413
        assert time.monotonic() - started < 5


def test_i04_chunks_are_refused_at_the_limit(victim: CollectorProcess) -> None:
    """Not after all 200 MB; the client gets to read the answer."""
    piece = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    with socket.create_connection(where(victim), timeout=20) as connection:
        connection.sendall(HEAD + CHUNKED + b"\r\n")
        sent = 0
        connection.setblocking(True)
        while sent < 200:
            try:
                connection.sendall(piece)
            except (ConnectionResetError, BrokenPipeError):
                break
            sent += 1

        assert first_status(connection) == 413
    assert post(victim, PLAIN).is_full_success


@pytest.fixture
def impatient(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Collector:
    """A collector that waits for nobody for longer than 0.5 s."""
    monkeypatch.setattr(http_protocol, "HEADERS_WITHIN_S", 0.5)
    monkeypatch.setattr(http_body, "BODY_WITHIN_S", 0.5)
    return collector


SLOW = {
    "I21 nothing at all": (b"", b"", 0),
    "I21 half a request line": (b"POST /v1", b"", 0),
    "I21 a header at a time": (HEAD, b"X: y\r\n", 0),
    "I21 a byte of a header at a time": (HEAD + b"X: ", b"y", 0),
    "I21 a body that does not come": (HEAD + LENGTH + b"\r\n", b"", 503),
    "I21 a byte of the body at a time": (HEAD + b"Content-Length: 100000\r\n\r\n", b"x", 503),
    "I21 a chunk at a time": (HEAD + CHUNKED + b"\r\n", b"1\r\nx\r\n", 503),
    "I21 empty lines": (b"", b"\r\n", 0),
}


@pytest.mark.parametrize("name", SLOW)
def test_slow_client(impatient: Collector, name: str) -> None:
    """It is hung up on in time, or answered that it may come again, and nobody else has to wait."""
    start, drip, status = SLOW[name]
    with socket.create_connection(where(impatient), timeout=0.05) as slow:
        slow.sendall(start)
        started = time.monotonic()
        answer = b""
        while time.monotonic() - started < 10:
            try:
                piece = slow.recv(65536)
            except TimeoutError:
                if drip:
                    slow.sendall(drip)
                continue
            except ConnectionResetError:
                break
            answer += piece
            if not piece or b"\r\n\r\n" in answer:
                break
        took_s = time.monotonic() - started

    assert took_s < 8
    assert (int(answer.split(b" ")[1]) if answer else 0) in ({status, 400} if name == "I21 empty lines" else {status})
    assert post(impatient, PLAIN).is_full_success


@contextmanager
def idle_connections(address: str, count: int) -> Iterator[list[socket.socket]]:
    host, port = address.split(":")
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection((host, int(port)), timeout=20)) for _ in range(count)]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_i22_two_thousand_idle_connections(victim: CollectorProcess, protocol: str) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 4500:
        pytest.skip("this process may not open so many files")
    with idle_connections(str(getattr(victim, f"{protocol}_address")), 2000):
        started = time.monotonic()
        assert call(victim, PLAIN).is_full_success
        assert post(victim, PLAIN).is_full_success
        took_s = time.monotonic() - started

    assert took_s < 10


def test_i22_the_oldest_idle_connection_makes_room_for_a_new_one(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    (http,) = [receiver for receiver in collector._receivers if isinstance(receiver, HttpReceiver)]
    monkeypatch.setattr(http._server.config.http_protocol_class, "max_connections", 3)
    with idle_connections(str(collector.http_address), 3) as idle:
        time.sleep(0.2)
        assert post(collector, PLAIN).is_full_success
        assert idle[0].recv(10) == b""
        idle[1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            idle[1].recv(10)
