"""uvicorn's HTTP/1.1 protocol, made to hang up on connections that do not get to a request.

uvicorn itself has a timeout between requests only: a client that sends headers one byte at a time, or nothing at all,
would keep its connection for ever. What h11 cannot read is answered as OTLP asks, with a `google.rpc.Status`.
"""

import asyncio
import sys
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from spanscore.collector.records import Encoding
from spanscore.collector.wire import Refusal, Refused

HEADERS_WITHIN_S = 10.0
_LINGER_S = 2.0


class ReapingProtocol(H11Protocol):
    """Closes a connection that has no request under way `HEADERS_WITHIN_S` after it began to wait for one.

    Above `max_connections`, the one that has waited longest is closed at once: however many idle connections somebody
    opens, there is room for a client that has something to say.
    """

    max_connections: ClassVar[int]
    waiting: ClassVar[dict["ReapingProtocol", None]]

    _reaper: asyncio.TimerHandle | None = None
    _is_broken = False

    @classmethod
    def limited_to(cls, max_connections: int) -> type["ReapingProtocol"]:
        """The protocol of one server, with a limit of its own."""
        return type("LimitedProtocol", (cls,), {"max_connections": max_connections, "waiting": {}})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.max_connections and self.waiting:
            next(iter(self.waiting))._reap()

    def data_received(self, data: bytes) -> None:
        if self._is_broken:
            return
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answers what is no HTTP request, and reads on for a moment so that the answer is not lost with the rest."""
        del msg
        self._is_broken = True
        self._disconnect_cycle()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._send_refusal(*_refusal_of(sys.exception()))
        self._unwatch()
        self._reaper = self.loop.call_later(_LINGER_S, self.transport.close)

    def _send_refusal(self, status: int, refused: Refused) -> None:
        body = refused.status(Encoding.JSON)
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _disconnect_cycle(self) -> None:
        """Tells a request under way that no more of it will come."""
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def _watch(self) -> None:
        if self._is_broken or self.transport.is_closing():
            return
        if self._is_serving():
            self._unwatch()
        elif self._reaper is None:
            self.waiting.setdefault(self)
            self._reaper = self.loop.call_later(HEADERS_WITHIN_S, self._reap)

    def _unwatch(self) -> None:
        self.waiting.pop(self, None)
        if self._reaper is not None:
            self._reaper.cancel()
            self._reaper = None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Until more is sent, uvicorn's own timeout between requests counts.
        if not self._is_serving() and not self.transport.is_closing():
            self.waiting[self] = None

    def _reap(self) -> None:
        self._unwatch()
        if not self._is_serving() and not self.transport.is_closing():
            self.transport.close()

    def _is_serving(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete


def _refusal_of(error: BaseException | None) -> tuple[int, Refused]:
    """HTTP status and answer for what h11 could not read."""
    hint = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
    if hint == Refusal.TOO_MANY_HEADERS.http_status:
        return hint, Refused(Refusal.TOO_MANY_HEADERS, "The request's headers are too large.")
    return hint, Refused(Refusal.MALFORMED, f"The request is not valid HTTP: {error}.")
