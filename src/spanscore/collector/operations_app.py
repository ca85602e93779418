"""What operators ask a collector over HTTP: is it alive, is it ready, what has it done.

`/healthz` and `/readyz` are open to everybody, as probes carry no tokens, and say no more than a word to strangers.
`/metrics` wants a token where tokens are asked for.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from spanscore.collector.admission import Admission
from spanscore.collector.auth import Authenticator
from spanscore.collector.config import CollectorConfig, parse_address
from spanscore.collector.memory import resident_bytes
from spanscore.collector.metrics import CONTENT_TYPE, exposition
from spanscore.collector.security import is_loopback
from spanscore.collector.spool import segment_paths
from spanscore.collector.status import CollectorStatus
from spanscore.collector.wire import Refusal, Refused

PATHS = ("/healthz", "/readyz", "/metrics")
METHODS = ("GET", "HEAD")
_TEXT = b"text/plain; charset=utf-8"
FORBIDDEN = Refused(
    Refusal.FORBIDDEN, "The request names another host than this one, as a web page does that wants to be taken for it."
)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer for an operator."""

    status: int
    body: bytes
    content_type: bytes = _TEXT
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


class Operations:
    """Answers questions about one collector."""

    def __init__(
        self, config: CollectorConfig, admission: Admission, status: CollectorStatus, authenticator: Authenticator
    ) -> None:
        assert config.http is not None
        self._spool = config.store / "spool"
        self._admission = admission
        self._status = status
        self._authenticator = authenticator
        host, port = parse_address(config.http, option="--http")
        self._own_host = host.lower()
        self._guards_host = not authenticator.is_on and is_loopback(host, port)

    def is_own_host(self, host: str) -> bool:
        """Whether the `Host` of a request is one of this machine's own names.

        A web page can have its own name resolve to 127.0.0.1 and then reads what answers there, but it cannot change
        the `Host` that its browser sends. Where tokens are asked for, or other machines are meant to come, any will do.
        """
        if not self._guards_host or not host:
            return True
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        name = name.strip("[]").rstrip(".").lower()
        if name in ("localhost", self._own_host) or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def page(self, path: str, *, host: str, authorization: bytes | None) -> Page | Refused:
        """The answer to a GET of one of `PATHS`."""
        if not self.is_own_host(host):
            return FORBIDDEN
        is_known = self._authenticator.accepts(authorization)
        if path == "/healthz":
            return Page(200, b"ok\n")
        refused = self._admission.unreadiness()
        if path == "/readyz":
            if refused is None:
                return Page(200, b"ok\n")
            retry = [(b"retry-after", str(refused.retry_after_s).encode())]
            return Page(503, (refused.message if is_known else "not ready").encode() + b"\n", headers=retry)
        if not is_known:
            return Refused(Refusal.UNAUTHENTICATED, "Metrics need a token: send `Authorization: Bearer TOKEN`.")
        return Page(200, self._metrics(is_ready=refused is None), CONTENT_TYPE)

    def _metrics(self, *, is_ready: bool) -> bytes:
        return exposition(
            self._status.document(),
            self._status.acknowledgements,
            is_ready=is_ready,
            segments=len(segment_paths(self._spool)),
            resident_bytes=resident_bytes(),
        )
