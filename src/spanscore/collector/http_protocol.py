"""uvicorn's HTTP/1.1 protocol, made to hang up on connections that do not get to a request.

uvicorn itself has a timeout between requests only: a client that sends headers one byte at a time, or nothing at all,
would keep its connection for ever.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN_S = 10.0


class ReapingProtocol(H11Protocol):
    """Closes a connection that has no request under way `HEADERS_WITHIN_S` after it began to wait for one."""

    _reaper: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self._is_serving():
            self._unwatch()
        elif self._reaper is None:
            self._reaper = self.loop.call_later(HEADERS_WITHIN_S, self._reap)

    def _unwatch(self) -> None:
        if self._reaper is not None:
            self._reaper.cancel()
            self._reaper = None

    def _reap(self) -> None:
        self._reaper = None
        if not self._is_serving() and not self.transport.is_closing():
            self.transport.close()

    def _is_serving(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete
