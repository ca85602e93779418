"""The demo: traces of real agent frameworks, sent to a real collector over the network, and what can be read from them.

What is sent are the OTLP export requests that the frameworks' own exporters produced, as they were captured, over gRPC
and HTTP. Building the spans anew for an exporter in this process would show what it writes, not what theirs wrote.
"""

from __future__ import annotations

import gzip
import re
import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spanscore.errors import UsageError
from spanscore.store.directory import make_directory

_CAPTURES = Path(__file__).with_name("demo_data")
_CAPTURE_NAME = re.compile(r"(?P<name>[a-z0-9-]+)\.(?P<signal>traces|logs)\.(?P<encoding>jsonl|pb)\.gz")
# Written into the directory that the demo makes, so that it never clears one that it did not make.
_MARK = ".made-by-spanscore-demo"
_SEND_TIMEOUT_S = 10.0
_GRPC_METHODS = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}


@dataclass(frozen=True, slots=True)
class Capture:
    """One bundled file: export requests of one signal in one encoding."""

    name: str
    signal: str
    encoding: str
    path: Path

    def requests(self) -> Iterator[bytes]:
        """The export requests, in the order in which they were sent."""
        content = gzip.decompress(self.path.read_bytes())
        if self.encoding == "jsonl":
            yield from content.splitlines()
            return
        position = 0
        while position < len(content):
            length, position = _varint(content, position)
            yield content[position : position + length]
            position += length


@dataclass(frozen=True, slots=True)
class Sent:
    """What the demo sent: captures [count], requests per protocol [count], and how long it took [s]."""

    captures: int
    grpc_requests: int
    http_requests: int
    seconds: float


def captures() -> list[Capture]:
    """The captures that ship with the package."""
    found = ((path, _CAPTURE_NAME.fullmatch(path.name)) for path in sorted(_CAPTURES.iterdir()))
    return [
        Capture(match["name"], match["signal"], match["encoding"], path) for path, match in found if match is not None
    ]


def run_demo(directory: Path, *, on_sent: Callable[[str], None] | None = None) -> Sent:
    """Make a new store in `directory`, start a collector on it, send it every capture, return once all is stored.

    Args:
        directory: made, or emptied when an earlier demo made it.
        on_sent: told the name of each capture that has been sent.

    Raises:
        UsageError: the directory holds something that no demo made.
    """
    from spanscore.collector import Collector

    _make_room(directory)
    started = time.monotonic()
    grpc_requests = http_requests = 0
    bundled = captures()
    with Collector(directory) as collector:
        assert collector.grpc_address is not None
        assert collector.http_address is not None
        with _grpc_sender(collector.grpc_address) as send_grpc:
            for capture in bundled:
                for request in capture.requests():
                    if capture.encoding == "pb":
                        send_grpc(capture.signal, request)
                        grpc_requests += 1
                    else:
                        _send_http(collector.http_address, capture.signal, request)
                        http_requests += 1
                if on_sent is not None:
                    on_sent(capture.name)
        collector.drain()
    names = {capture.name for capture in bundled}
    return Sent(len(names), grpc_requests, http_requests, time.monotonic() - started)


def _make_room(directory: Path) -> None:
    if directory.exists():
        if not directory.is_dir() or (not (directory / _MARK).exists() and any(directory.iterdir())):
            raise UsageError(
                f"`{directory}` holds something that no demo made, and the demo begins with an empty store.\n"
                "  Name another directory with --store."
            )
        for path in directory.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    make_directory(directory)
    (directory / _MARK).touch()


@contextmanager
def _grpc_sender(address: str) -> Iterator[Callable[[str, bytes], None]]:
    """Yields what sends the bytes of one export request of one signal; they are protobuf already."""
    import grpc

    with grpc.insecure_channel(address) as channel:
        exports = {signal: channel.unary_unary(method) for signal, method in _GRPC_METHODS.items()}

        def send(signal: str, request: bytes) -> None:
            exports[signal](request, timeout=_SEND_TIMEOUT_S)

        yield send


def _send_http(address: str, signal: str, request: bytes) -> None:
    posted = urllib.request.Request(
        f"http://{address}/v1/{signal}",
        data=gzip.compress(request),
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
        method="POST",
    )
    # A proxy named in the environment must not see what goes to this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(posted, timeout=_SEND_TIMEOUT_S) as answer:
        answer.read()


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """The number that begins at `position`, and where it ends."""
    number = shift = 0
    while True:
        byte = content[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
