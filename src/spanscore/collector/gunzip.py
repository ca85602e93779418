"""Bounded gunzip: never makes more than the limit, whatever the bytes promise."""

import zlib
from collections.abc import Callable

from spanscore.collector.wire import Refusal, Refused

_STEP_BYTES = 1 << 20
_MOST_GROWTH = 1032  # of deflate


def gunzip(content: bytes, *, limit: int, grow: Callable[[int], Refused | None]) -> bytes | Refused:
    """The bytes of a gzip body, all members of it one after the other.

    Args:
        limit: most that may come out [bytes].
        grow: told of every piece that came out [bytes]; its refusal ends the work.
    """
    if limit < int.from_bytes(content[-4:], "little") <= _MOST_GROWTH * len(content):
        # The size that an honest bomb states of itself: nothing needs to be unpacked to refuse it.
        return too_large(limit)
    pieces: list[bytes] = []
    size = 0
    rest = content
    while rest:
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        while not member.eof:
            try:
                piece = member.decompress(rest, _STEP_BYTES)
            except zlib.error as error:
                return Refused(Refusal.MALFORMED, f"The body is not valid gzip: {error}.")
            rest = member.unconsumed_tail
            size += len(piece)
            if size > limit:
                return too_large(limit)
            refused = grow(len(piece))
            if refused is not None:
                return refused
            pieces.append(piece)
            if not piece and not rest and not member.eof:
                return Refused(Refusal.MALFORMED, "The gzip body is cut short.")
        rest = member.unused_data
    if not content:
        return Refused(Refusal.MALFORMED, "The body is empty, which is not valid gzip.")
    return b"".join(pieces)


def too_large(limit: int) -> Refused:
    """The answer to a request over the limit."""
    return Refused(Refusal.TOO_LARGE, f"The request is larger than {limit} bytes. Send smaller batches.")
