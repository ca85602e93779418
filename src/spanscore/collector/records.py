"""The spool's record: a fixed header with a checksum, then the request's bytes as the client sent them, un-gzipped.

| offset | bytes | field |
|---|---|---|
| 0 | 4 | magic `SPLR` |
| 4 | 1 | version of this layout |
| 5 | 1 | signal |
| 6 | 1 | encoding |
| 7 | 1 | zero |
| 8 | 4 | payload length [bytes] |
| 12 | 4 | crc32 of the header without this field, then the payload |
| 16 | 8 | time of receipt [ns since 1970, UTC] |
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

MAGIC = b"SPLR"
VERSION = 1
MAX_PAYLOAD_BYTES = 1 << 28

_BEFORE_CRC = struct.Struct("<4sBBBBI")
_CRC = struct.Struct("<I")
_AFTER_CRC = struct.Struct("<Q")
HEADER_BYTES = _BEFORE_CRC.size + _CRC.size + _AFTER_CRC.size


class Signal(IntEnum):
    """What a request carries."""

    TRACES = 1
    LOGS = 2


class Encoding(IntEnum):
    """How a request is written."""

    PROTOBUF = 1
    JSON = 2


@dataclass(frozen=True, slots=True)
class SpoolRecord:
    """One request as it lies in the spool.

    Attributes:
        received_ns: time of receipt [ns since 1970, UTC].
        end_offset: where the record ends in its segment [bytes]; 0 before it is written.
    """

    signal: Signal
    encoding: Encoding
    received_ns: int
    payload: bytes
    end_offset: int = 0

    def header(self) -> bytes:
        """The bytes that stand before the payload."""
        start = _BEFORE_CRC.pack(MAGIC, VERSION, self.signal, self.encoding, 0, len(self.payload))
        end = _AFTER_CRC.pack(self.received_ns)
        return start + _CRC.pack(_checksum(start, end, self.payload)) + end


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes of a segment that are no record.

    Attributes:
        start_offset: first byte that could not be read.
        end_offset: where reading goes on, or the end of what was to be read.
        is_torn_tail: the segment stops in the middle of a record, as it does when a collector is killed while writing.
            Such a record was never acknowledged. Anything else is damage, a whole record with a wrong header included.
        reason: what is wrong with the first bad record.
        content: the bytes themselves.
    """

    start_offset: int
    end_offset: int
    is_torn_tail: bool
    reason: str
    content: bytes


def read_segment(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[SpoolRecord | Gap]:
    """The records of a segment, and a `Gap` wherever there is none to be read.

    Args:
        start: offset of the first record to read [bytes].
        end: offset up to which the segment is known to be synced; None reads to the end of the file, where a torn
            record may be.
    """
    size = path.stat().st_size
    limit = size if end is None else end
    position = start
    with path.open("rb") as file:
        while position < limit:
            file.seek(position)
            found = _read_record(file.read(HEADER_BYTES), position, min(limit, size), file.read)
            if isinstance(found, SpoolRecord):
                position = found.end_offset
                yield found
                continue
            file.seek(position)
            rest = file.read(min(limit, size) - position)
            skipped = _distance_to_next_record(rest)
            stop = limit if skipped is None else position + skipped
            content = rest if skipped is None else rest[:skipped]
            if found.is_incomplete and _is_whole_but_for_its_header(content):
                found = _Unreadable("the record's header is damaged", is_incomplete=False)
            is_torn = skipped is None and end is None and found.is_incomplete
            yield Gap(position, stop, is_torn, found.reason, content)
            position = stop


@dataclass(frozen=True, slots=True)
class _Unreadable:
    reason: str
    is_incomplete: bool


def _read_record(header: bytes, position: int, limit: int, read: Callable[[int], bytes]) -> SpoolRecord | _Unreadable:
    if position + HEADER_BYTES > limit or len(header) < HEADER_BYTES:
        return _Unreadable("the record's header is cut short", is_incomplete=True)
    start, end = header[: _BEFORE_CRC.size], header[-_AFTER_CRC.size :]
    magic, version, signal, encoding, _, length = _BEFORE_CRC.unpack(start)
    if magic != MAGIC:
        return _Unreadable("no record starts here", is_incomplete=True)
    if version != VERSION or length > MAX_PAYLOAD_BYTES:
        return _Unreadable(f"a header of version {version} over {length} bytes makes no sense", is_incomplete=False)
    if position + HEADER_BYTES + length > limit:
        return _Unreadable("the record is cut short", is_incomplete=True)
    payload = read(length)
    (crc,) = _CRC.unpack(header[_BEFORE_CRC.size : -_AFTER_CRC.size])
    if crc != _checksum(start, end, payload):
        return _Unreadable("the record's checksum does not match its bytes", is_incomplete=False)
    (received_ns,) = _AFTER_CRC.unpack(end)
    try:
        kinds = Signal(signal), Encoding(encoding)
    except ValueError:
        return _Unreadable(f"signal {signal} in encoding {encoding} is not known", is_incomplete=False)
    return SpoolRecord(*kinds, received_ns, payload, position + HEADER_BYTES + length)


def _is_whole_but_for_its_header(content: bytes) -> bool:
    """Whether bytes are one record whose mark or length has changed: its checksum tells what they were."""
    if len(content) < HEADER_BYTES:
        return False
    header, payload = content[:HEADER_BYTES], content[HEADER_BYTES:]
    start, end = header[: _BEFORE_CRC.size], header[-_AFTER_CRC.size :]
    (crc,) = _CRC.unpack(header[_BEFORE_CRC.size : -_AFTER_CRC.size])
    _, version, signal, encoding, zero, _ = _BEFORE_CRC.unpack(start)
    as_written = _BEFORE_CRC.pack(MAGIC, version, signal, encoding, zero, len(payload))
    return bool(crc == _checksum(as_written, end, payload))


def _distance_to_next_record(content: bytes) -> int | None:
    """Offset of the next good record after the first byte of `content`; None when there is none."""
    view = memoryview(content)
    at = content.find(MAGIC, 1)
    while at != -1:
        body_at = at + HEADER_BYTES

        def read(length: int, body_at: int = body_at) -> bytes:
            return bytes(view[body_at : body_at + length])

        if isinstance(_read_record(content[at:body_at], at, len(content), read), SpoolRecord):
            return at
        at = content.find(MAGIC, at + 1)
    return None


def _checksum(start: bytes, end: bytes, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(end, zlib.crc32(start)))
