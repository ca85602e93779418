"""What a collector is told: where the store is, where to listen, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.collector.redaction.settings import Privacy
from spanscore.collector.security import Security, is_loopback
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from spanscore.otlp import SpanLimits

DEFAULT_GRPC = "127.0.0.1:4317"
DEFAULT_HTTP = "127.0.0.1:4318"
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorLimits:
    """Bounds of one collector.

    Attributes:
        max_request_bytes: largest request, after gunzip [bytes].
        max_elements: most short elements in a request: resources, scopes, spans, events, links, attributes [count].
        max_in_flight_bytes: requests held in memory at one time, all together [bytes]; as much again for decoding.
        max_memory_bytes: memory of the process, of which four fifths are used before requests are refused [bytes].
            None = all that the container or the machine has.
        max_connections: open HTTP connections above which those that wait for a request are closed [count].
        min_free_bytes: free disk space below which nothing more is accepted [bytes].
        max_waiting_bytes: size of the part of the spool not yet loaded above which nothing more is accepted [bytes].
        load_interval_s: pause between two loads [s].
        load_spans: a load begins early once so many spans wait [count].
        derive_interval_s: pause between two updates of the trajectory tables [s]. An update has a fixed cost, and a
            trace is derived again whenever new spans of it have come.
        store_memory: what DuckDB may use, unless `$SPANSCORE_MEMORY_LIMIT` says otherwise. Where it does not do, the
            next attempt may use as much as any other command.
        store_threads: of DuckDB, unless `$SPANSCORE_THREADS` says otherwise; one leaves the rest to the receivers.
        keep_s, keep_bytes: loaded segments are kept until they are older [s] or all together larger [bytes].
        span: bounds of one span or log record; None = the defaults.
        drain_s: how long a stopping receiver lets requests finish [s].
    """

    max_request_bytes: int = 64 * MIB
    max_elements: int = 1_000_000
    max_in_flight_bytes: int = 256 * MIB
    max_memory_bytes: int | None = None
    max_connections: int = 1000
    min_free_bytes: int = 512 * MIB
    max_waiting_bytes: int = 8192 * MIB
    load_interval_s: float = 2.0
    load_spans: int = 16384
    derive_interval_s: float = 5.0
    store_memory: str = "512MiB"
    store_threads: int = 1
    keep_s: float = 24 * 3600.0
    keep_bytes: int = 1024 * MIB
    span: SpanLimits | None = None
    drain_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorConfig:
    """Settings of one collector.

    Attributes:
        store: the store directory; the spool is `spool/` inside it.
        grpc, http: `HOST:PORT` to listen on, port 0 for any free one; None switches the receiver off.
        security: who may send, and over what.
        privacy: what is replaced or left out before anything is written to disk.
    """

    store: Path
    grpc: str | None = DEFAULT_GRPC
    http: str | None = DEFAULT_HTTP
    security: Security = field(default_factory=Security)
    privacy: Privacy = field(default_factory=Privacy)
    limits: CollectorLimits = CollectorLimits()

    def check(self) -> None:
        """Raises `UsageError` for settings that cannot be used."""
        if self.grpc is None and self.http is None:
            raise UsageError("Both receivers are switched off. Give an address to --grpc or to --http.")
        self.security.check()
        for option, address in self._listening():
            host, port = parse_address(address, option=option)
            self.security.check_address(option, address, host, port)

    def public_addresses(self) -> list[str]:
        """The addresses that other machines reach."""
        return [
            address for option, address in self._listening() if not is_loopback(*parse_address(address, option=option))
        ]

    def _listening(self) -> list[tuple[str, str]]:
        return [
            (option, address)
            for option, address in (("--grpc", self.grpc), ("--http", self.http))
            if address is not None
        ]


def parse_address(address: str, *, option: str) -> tuple[str, int]:
    """Host (without brackets) and port of `HOST:PORT`.

    Raises:
        UsageError: it is none.
    """
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{option} {address} is no address. Write HOST:PORT, for example {DEFAULT_GRPC}, or none.")
    return host, int(port)


def format_address(host: str, port: int) -> str:
    """`HOST:PORT`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
