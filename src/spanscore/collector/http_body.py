"""Reads a request body: bounded in size, in time and by the bytes in flight."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from spanscore.collector.admission import Hold
from spanscore.collector.gunzip import too_large
from spanscore.collector.wire import Refusal, Refused

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

BODY_WITHIN_S = 15.0
SLOWEST_BYTES_PER_S = 64 << 10
_DISCARD_BYTES = 256 << 20
_DISCARD_WITHIN_S = 5.0


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


class RequestBody:
    """The body of one request.

    Attributes:
        is_awaited: the client waits with it until it is asked for, which the first `read` does.
    """

    __slots__ = ("_is_complete", "_receive", "is_awaited")

    def __init__(self, receive: Receive, *, is_awaited: bool) -> None:
        self._receive = receive
        self._is_complete = False
        self.is_awaited = is_awaited

    async def read(self, *, limit: int, held: Hold) -> bytes | Refused:
        """The whole body, or why it is not read further.

        Args:
            limit: most bytes to read.
            held: grows with every piece.

        Raises:
            ClientGone: there is nobody left to answer.
        """
        pieces: list[bytes] = []
        size = 0
        started = time.monotonic()
        while not self._is_complete:
            left = started + BODY_WITHIN_S + size / SLOWEST_BYTES_PER_S - time.monotonic()
            try:
                piece = await asyncio.wait_for(self._next(), max(0.0, left))
            except TimeoutError:
                return Refused(Refusal.UNAVAILABLE, "The request's body came too slowly.")
            size += len(piece)
            if size > limit:
                return too_large(limit)
            refused = held.grow(len(piece))
            if refused is not None:
                return refused
            pieces.append(piece)
        return b"".join(pieces)

    async def discard(self) -> None:
        """Reads on for a while and keeps nothing, so that a client still sending gets to read its answer."""
        left = _DISCARD_BYTES
        try:
            async with asyncio.timeout(_DISCARD_WITHIN_S):
                while left > 0 and not self._is_complete:
                    left -= len(await self._next())
        except (TimeoutError, ClientGone):
            return

    async def _next(self) -> bytes:
        self.is_awaited = False
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        self._is_complete = not message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        return piece
