"""Where one protobuf request ends and the next begins, and which signal a request carries."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from spanscore.errors import DecodeError
from spanscore.otlp.streams import ZSTD_MAGIC, ByteStream

MAX_RECORD_BYTES = 256 << 20
SNIFF_BYTES = 64 << 10

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

SPAN_WIRE_TYPES = {
    **dict.fromkeys((1, 2, 3, 4, 5, 9, 11, 13, 15), LENGTH),
    **dict.fromkeys((6, 10, 12, 14), VARINT),
    **dict.fromkeys((7, 8), FIXED64),
    16: FIXED32,
}
LOG_WIRE_TYPES = {
    **dict.fromkeys((3, 5, 6, 9, 10, 12), LENGTH),
    **dict.fromkeys((2, 7), VARINT),
    **dict.fromkeys((1, 11), FIXED64),
    8: FIXED32,
}
METRIC_WIRE_TYPES = dict.fromkeys((1, 2, 3, 5, 7, 9, 10, 11, 12), LENGTH)


class Framing(Enum):
    """How requests follow each other in a file."""

    FIXED_LENGTH = "each after its length in 4 bytes, big-endian"
    VARINT_LENGTH = "each after its length as a varint"
    NONE = "one request with nothing before it"


class Kind(Enum):
    """What a request carries."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


WIRE_TYPES = {Kind.TRACES: SPAN_WIRE_TYPES, Kind.LOGS: LOG_WIRE_TYPES, Kind.METRICS: METRIC_WIRE_TYPES}
"""Per signal, the wire type of each field of its items."""


def framing_of(stream: ByteStream) -> Framing | None:
    """The framing under which the file starts with an OTLP request; None when there is none."""
    stream.fill(SNIFF_BYTES)
    head = stream.data[stream.position : stream.position + SNIFF_BYTES]
    for framing in Framing:
        start, length = _frame(head, framing)
        while length == 0 and start < len(head):  # an empty request says nothing
            skipped = start
            start, length = _frame(head[skipped:], framing)
            start += skipped
        record = head[0 if framing is Framing.NONE else start : start + length]
        if 0 < length <= MAX_RECORD_BYTES and (
            record.startswith(ZSTD_MAGIC) or _is_request(record, is_cut=start + length > len(head))
        ):
            return framing
    return None


def records(stream: ByteStream, framing: Framing) -> Iterator[bytes]:
    """The requests of the file. With no framing each resource of the request is one of its own, which is the same.

    Raises:
        DecodeError: a length makes no sense or the file ends inside a request; what follows cannot be read.
    """
    while stream.fill(1):
        stream.fill(16)
        start, length = _frame(stream.data[stream.position : stream.position + 16], framing)
        if length < 0 or length > MAX_RECORD_BYTES:
            raise DecodeError("malformed_framing", "the length before the record makes no sense; the rest is not read")
        if not stream.fill(start + length):
            raise DecodeError("truncated", "the file ends inside this record; what came before is kept")
        yield stream.take(start + length)[0 if framing is Framing.NONE else start :]


def _frame(head: bytes, framing: Framing) -> tuple[int, int]:
    """Where the first record starts and how long it is; a length of -1 when there is no record."""
    if framing is Framing.FIXED_LENGTH:
        return 4, int.from_bytes(head[:4], "big") if len(head) >= 4 else -1
    if framing is Framing.VARINT_LENGTH:
        length, start = _varint(head, 0)
        return start, length
    if not head.startswith(b"\x0a"):
        return 0, -1
    length, start = _varint(head, 1)
    return start, length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """The number at the position and where it ends; -1 when it is cut or longer than 64 bits."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    return -1, position


def _fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Number, wire type, start and end of each field; the last one may reach beyond the data, if `end` does.

    Raises:
        DecodeError: the bytes are no message.
    """
    position = start
    while position < min(end, len(data)):
        tag, content = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        length = {FIXED64: 8, FIXED32: 4}.get(wire_type, 0)
        if wire_type == VARINT:
            value, content = _varint(data, content)
            tag = min(tag, value)
        elif wire_type == LENGTH:
            length, content = _varint(data, content)
        if content >= len(data) and min(tag, length) < 0:
            return  # cut off
        if min(tag, length) < 0 or number == 0 or wire_type not in (VARINT, FIXED64, LENGTH, FIXED32):
            raise DecodeError("malformed_protobuf", f"no field starts at byte {position}")
        position = content + length
        if position > end:
            raise DecodeError("malformed_protobuf", f"a field runs beyond its message at byte {end}")
        yield number, wire_type, content, position


def _is_request(record: bytes, *, is_cut: bool) -> bool:
    """Whether the record has the outer shape of an export request; a cut one is judged by what is there."""
    end = MAX_RECORD_BYTES if is_cut else len(record)
    try:
        return record != b"" and all(
            number == 1
            and wire_type == LENGTH
            and all(inner <= 3 and kind == LENGTH for inner, kind, _, _ in _fields(record, start, stop))
            for number, wire_type, start, stop in _fields(record, 0, end)
        )
    except DecodeError:
        return False


def kind_of(record: bytes) -> Kind:
    """What the request carries, by the first of its items that leaves no doubt; traces when it has none.

    Traces, logs and metrics have the same outer shape, so the wire types of an item's fields have to tell.
    """
    try:
        for item_start, item_end in _items(record):
            kind = _kind_of_item(record, item_start, item_end)
            if kind is not None:
                return kind
    except DecodeError:
        return Kind.TRACES  # malformed: decoding it says what is wrong
    return Kind.TRACES


def _items(record: bytes) -> Iterator[tuple[int, int]]:
    for number, wire_type, start, end in _fields(record, 0, len(record)):
        if (number, wire_type) == (1, LENGTH):
            for owner_number, owner_type, owner_start, owner_end in _fields(record, start, end):
                if (owner_number, owner_type) == (2, LENGTH):
                    for scope_number, scope_type, item_start, item_end in _fields(record, owner_start, owner_end):
                        if (scope_number, scope_type) == (2, LENGTH):
                            yield item_start, item_end


def _kind_of_item(record: bytes, start: int, end: int) -> Kind | None:
    fields = {number: (wire_type, stop - begin) for number, wire_type, begin, stop in _fields(record, start, end)}
    if not fields:
        return None
    known_fields = {
        kind: len(fields.keys() & known)
        for kind, known in WIRE_TYPES.items()
        if all(known.get(number, wire_type) == wire_type for number, (wire_type, _) in fields.items())
    }
    possible = [kind for kind, count in known_fields.items() if count == max(known_fields.values())]
    if len(possible) == 1:
        return possible[0]
    if Kind.TRACES in possible and fields.get(1, (0, 0))[1] == 16 and fields.get(2, (0, 0))[1] == 8:
        return Kind.TRACES
    if Kind.LOGS in possible and 1 not in fields and 2 not in fields:
        return Kind.LOGS  # a span without ids would be invalid anyway
    return Kind.METRICS if Kind.METRICS in possible and 1 in fields else None
