"""Reads bytes in bounded blocks, whatever they are compressed with."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from spanscore.errors import DecodeError

BLOCK_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

ZSTD_INPUT_BYTES = 1 << 10
"""Four bytes of zstd can stand for 128 KiB and its decompressor takes no output limit, so it is fed in small pieces."""

Progress = Callable[[int], None]


class ByteStream:
    """A file's decompressed bytes with look-ahead, in a buffer that holds no more than was asked for.

    Attributes:
        data: the buffered bytes; those before `position` are read.
        position: where reading goes on.
        bytes_read: taken from the file so far, as stored.
        problem: why the bytes ended before the file said they would; None when they did not.
    """

    def __init__(self, file: BinaryIO, progress: Progress | None) -> None:
        self.data = b""
        self.position = 0
        self.bytes_read = 0
        self.problem: DecodeError | None = None
        self._lines_dropped = 0
        self._ended = False
        self._file = file
        self._progress = progress
        self._blocks = self._decompressed()

    def fill(self, wanted: int) -> bool:
        """Whether at least `wanted` unread bytes are buffered now."""
        missing = wanted - (len(self.data) - self.position)
        if missing <= 0:
            return True
        self._lines_dropped += self.data.count(b"\n", 0, self.position)
        blocks = [self.data[self.position :]]
        while missing > 0 and not self._ended:
            block = self._next_block()
            missing -= len(block)
            blocks.append(block)
        self.data, self.position = b"".join(blocks), 0
        return missing <= 0

    def grow(self) -> bool:
        """Whether more bytes could be buffered: at least a block, at most as many as there are unread ones."""
        unread = len(self.data) - self.position
        self.fill(unread + max(BLOCK_BYTES, unread))
        return len(self.data) - self.position > unread

    def take(self, count: int) -> bytes:
        """The next `count` bytes, which are buffered."""
        start, self.position = self.position, self.position + count
        return self.data[start : self.position]

    def unread(self) -> int:
        """How many bytes are buffered and not read."""
        return len(self.data) - self.position

    def line(self) -> int:
        """Number of the line, from 1, in which the position is."""
        return self._lines_dropped + self.data.count(b"\n", 0, self.position) + 1

    def _next_block(self) -> bytes:
        try:
            return next(self._blocks)
        except StopIteration:
            self._ended = True
        except DecodeError as error:
            self.problem, self._ended = error, True
        return b""

    def _decompressed(self) -> Iterator[bytes]:
        stored = self._stored()
        first = next(stored, b"")
        while len(first) < len(ZSTD_MAGIC) and (block := next(stored, b"")):
            first += block
        if first.startswith(GZIP_MAGIC):
            yield from _gunzipped(_chained(first, stored))
        elif first.startswith(ZSTD_MAGIC):
            yield from _unzstd(_chained(first, stored))
        else:
            yield from _chained(first, stored)

    def _stored(self) -> Iterator[bytes]:
        try:
            while block := self._file.read(BLOCK_BYTES):
                self.bytes_read += len(block)
                if self._progress is not None:
                    self._progress(len(block))
                yield block
        except OSError as error:
            raise DecodeError("unreadable", f"reading failed: {error.strerror or error}") from None


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _gunzipped(stored: Iterator[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    for block in stored:
        pending = block
        while pending:
            if member.eof:
                pending = pending.lstrip(b"\0")  # padding between or after members
                if not pending:
                    break
                member = zlib.decompressobj(wbits=31)
            try:
                yield member.decompress(pending, BLOCK_BYTES)
            except zlib.error as error:
                raise DecodeError("corrupt_compression", f"gzip: {error}") from None
            pending = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        yield member.flush()
        raise DecodeError("truncated", "the gzip data ends early; what came before is kept")


def _unzstd(stored: Iterator[bytes]) -> Iterator[bytes]:
    frame = zstandard.ZstdDecompressor().decompressobj()
    for block in stored:
        for start in range(0, len(block), ZSTD_INPUT_BYTES):
            pending = block[start : start + ZSTD_INPUT_BYTES]
            while pending:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                try:
                    yield frame.decompress(pending)
                except zstandard.ZstdError as error:
                    raise DecodeError("corrupt_compression", f"zstd: {error}") from None
                pending = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise DecodeError("truncated", "the zstd data ends early; what came before is kept")
