"""What travels between a process and its worker: frames of JSON and of Arrow, over two pipes."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

HEADER = struct.Struct(">cQ")
"""Kind of a frame and length of what follows [bytes]."""

JSON = b"j"
ARROW = b"a"

LARGEST_FRAME = 512 << 20
"""The most that one frame may hold [bytes]."""


class FrameTooLarge(Exception):
    """More than one frame may hold."""


def json_frame(document: object) -> bytes:
    """A frame with a JSON document."""
    return _frame(JSON, json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def arrow_frame(rows: pa.Table | pa.RecordBatch) -> bytes:
    """A frame with rows and their schema.

    Raises:
        FrameTooLarge: they are too many for one frame.
    """
    import pyarrow as pa

    if rows.nbytes > LARGEST_FRAME:
        raise FrameTooLarge
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    return _frame(ARROW, sink.getvalue().to_pybytes())


def _frame(kind: bytes, content: bytes) -> bytes:
    if len(content) > LARGEST_FRAME:
        raise FrameTooLarge
    return HEADER.pack(kind, len(content)) + content


def read_frame(read: Callable[[int], bytes]) -> dict[str, Any] | pa.Table:
    """The next frame: a JSON object, or rows.

    Args:
        read: gives exactly as many bytes as it is asked for.

    Raises:
        FrameTooLarge: what comes is no frame of ours.
    """
    kind, length = HEADER.unpack(read(HEADER.size))
    if length > LARGEST_FRAME or kind not in (JSON, ARROW):
        raise FrameTooLarge
    content = read(length)
    if kind == JSON:
        document: dict[str, Any] = json.loads(content.decode("utf-8", "surrogatepass"))
        return document
    import pyarrow as pa

    table: pa.Table = pa.ipc.open_stream(content).read_all()
    return table


def write_all(descriptor: int, frames: Sequence[bytes]) -> None:
    """Writes whole frames to a pipe, waiting for its reader."""
    for frame in frames:
        view = memoryview(frame)
        while view:
            view = view[os.write(descriptor, view) :]


def read_exactly(descriptor: int, size: int) -> bytes:
    """As many bytes as asked for, waiting for them.

    Raises:
        EOFError: the other end was closed.
    """
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(descriptor, min(size - len(pieces), 1 << 20))
        if not piece:
            raise EOFError
        pieces += piece
    return bytes(pieces)
