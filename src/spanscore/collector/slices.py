"""What the loader takes from the spool at a time, and how it becomes one set of Arrow tables."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanscore.collector.decoding import DECODERS, Decoder, merge
from spanscore.collector.records import Encoding, Gap, Signal, SpoolRecord, read_segment
from spanscore.collector.spool import segment_paths
from spanscore.otlp import DecodeError, RawTables, SpanLimits
from spanscore.otlp.limits import DEFAULT_LIMITS

SLICE_BYTES = 16 << 20


@dataclass(slots=True)
class Slice:
    """Consecutive records of one segment.

    Attributes:
        end_offset: where the next slice begins [bytes].
        size: payload bytes in it.
    """

    segment: str
    start_offset: int
    end_offset: int
    records: list[SpoolRecord] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    size: int = 0


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A record that was accepted once and cannot be decoded now."""

    record: SpoolRecord
    reason: str


def waiting(
    directory: Path, *, loaded: Mapping[str, int], synced: Mapping[str, int], own_from: str | None = None
) -> Iterator[tuple[Path, int, int]]:
    """Segments with something left to load: path, offset to begin at, offset to end at [bytes]. See `read_slices`."""
    for path in segment_paths(directory):
        end = synced.get(path.name)
        if end is None:
            if own_from is not None and path.name >= own_from:
                continue
            try:
                end = path.stat().st_size
            except FileNotFoundError:
                continue
        start = loaded.get(path.name, 0)
        if start < end:
            yield path, start, end


def read_slices(
    directory: Path,
    *,
    loaded: Mapping[str, int],
    synced: Mapping[str, int],
    own_from: str | None = None,
    max_records: int | None = None,
) -> Iterator[Slice]:
    """Everything that is not loaded yet, oldest segment first.

    Args:
        loaded: how far each segment has been loaded.
        synced: how far the segments of this process may be read; the others are read to their end.
        own_from: names from here on are segments of this process, whether `synced` has them or not. One that was begun
            after `synced` was taken may hold half a record, and is not read.
        max_records: most records in a slice; None = as many as fit in `SLICE_BYTES`.
    """
    for path, start, _ in list(waiting(directory, loaded=loaded, synced=synced, own_from=own_from)):
        piece = Slice(path.name, start, start)
        for found in _records(path, start, synced.get(path.name)):
            piece.end_offset = found.end_offset
            if isinstance(found, Gap):
                piece.gaps.append(found)
                continue
            piece.records.append(found)
            piece.size += len(found.payload)
            if piece.size >= SLICE_BYTES or len(piece.records) == max_records:
                yield piece
                piece = Slice(path.name, piece.end_offset, piece.end_offset)
        if piece.records or piece.gaps:
            yield piece


def _records(path: Path, start: int, end: int | None) -> Iterator[SpoolRecord | Gap]:
    """What is in a segment; nothing where a collector has loaded and deleted it since it was listed."""
    with contextlib.suppress(FileNotFoundError):
        yield from read_segment(path, start=start, end=end)


def decode_records(
    records: Sequence[SpoolRecord], limits: SpanLimits | None = None
) -> tuple[RawTables, list[Undecodable]]:
    """One set of tables for all the records, and the records that could not be decoded."""
    parts: list[RawTables] = []
    bad: list[Undecodable] = []
    for signal in Signal:
        for encoding in Encoding:
            mine = [record for record in records if record.signal is signal and record.encoding is encoding]
            if mine:
                _decode(DECODERS[signal, encoding], limits or DEFAULT_LIMITS, mine, parts, bad)
    return merge(parts), bad


def _decode(
    decode: Decoder,
    limits: SpanLimits,
    records: Sequence[SpoolRecord],
    parts: list[RawTables],
    bad: list[Undecodable],
) -> None:
    try:
        parts.append(decode([record.payload for record in records], limits))
    except DecodeError as error:
        if len(records) == 1:
            bad.append(Undecodable(records[0], str(error)))
            return
        for record in records:
            _decode(decode, limits, [record], parts, bad)
