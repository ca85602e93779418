"""Files of telemetry, in any of the formats it is found in, to chunks of RawTables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import zstandard

from spanscore.errors import DecodeError
from spanscore.otlp.concat import concat_raw_tables
from spanscore.otlp.decode import decode_logs, decode_traces, load_json, without_cycle_collection
from spanscore.otlp.framing import MAX_RECORD_BYTES, SNIFF_BYTES, Framing, Kind, framing_of, kind_of, records
from spanscore.otlp.jaeger import otlp_of_jaeger
from spanscore.otlp.json_batch import LOGS, TRACES, JsonBatch
from spanscore.otlp.json_stream import ITEM_LISTS, PIECE_BYTES, WHOLE_BYTES, JsonCutter, Piece
from spanscore.otlp.limits import DEFAULT_LIMITS, SpanLimits
from spanscore.otlp.paths import STDIN, InputFile, expand_paths
from spanscore.otlp.schema import RawTables
from spanscore.otlp.streams import ZSTD_MAGIC, ByteStream, Progress
from spanscore.otlp.tempo import otlp_of_tempo

CHUNK_BYTES = 8 << 20
CHUNK_ROWS = 20_000

NOT_OTLP = "not_otlp"
METRICS_UNSUPPORTED = "metrics_unsupported"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_JSON_START = re.compile(rb'\s*[{\[]\s*(?:[\[{}\]"]|$)')
_OTLP_KEY = re.compile(rb'"(?:resourceSpans|resourceLogs|resourceMetrics|batches|traceID)"\s*:')
_OTLP_LINE = re.compile(rb'\n\s*\{\s*"(?:resourceSpans|resourceLogs|resourceMetrics|batches|data)"\s*:')


@dataclass(frozen=True)
class LineProblem:
    """A line, record or file that could not be read.

    Attributes:
        path: the file, "-" for standard input.
        number: line or record in it, from 1; for a JSON document, the line where the document starts.
        reason: one word for counting.
        detail: what exactly.
    """

    path: str
    number: int
    reason: str
    detail: str


@dataclass(frozen=True)
class FileChunk:
    """What was read from a part of one file. Every file gives at least one chunk.

    Attributes:
        path: the file, "-" for standard input.
        tables: the rows, at most about 8 MiB of text or 20,000 of them, unless one record is larger.
        rejected_lines: what could not be read.
        bytes_read: bytes of the file read so far, as stored.
        bytes_total: size of the file, None when it is not known.
    """

    path: str
    tables: RawTables
    rejected_lines: list[LineProblem]
    bytes_read: int
    bytes_total: int | None


def read_paths(
    paths: Iterable[str | os.PathLike[str]], *, progress: Progress | None = None, limits: SpanLimits = DEFAULT_LIMITS
) -> Iterator[FileChunk]:
    """Chunks of all telemetry in the files, folders and globs; "-" is standard input.

    The content decides what a file is: OTLP/JSON (lines, documents, arrays), protobuf (length-prefixed or bare), Tempo
    or Jaeger JSON, each plain or compressed. Whatever is none of these is reported as `not_otlp`.

    Args:
        paths: what to read, in order.
        progress: called with the number of bytes just read, as stored.
        limits: of a span; what is over them is rejected or marked as truncated.

    Raises:
        InputError: a path does not exist or cannot be read; raised before anything is read.
    """
    return _read_files(expand_paths(paths), progress, limits)


def _read_files(files: list[InputFile], progress: Progress | None, limits: SpanLimits) -> Iterator[FileChunk]:
    for file in files:
        try:
            with _opened(file) as source:
                yield from _FileReader(file, ByteStream(source, progress), limits).chunks()
        except OSError as error:
            problem = LineProblem(file.path, 1, "unreadable", error.strerror or str(error))
            yield FileChunk(file.path, RawTables(), [problem], 0, file.size)


def _opened(file: InputFile) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file.path == STDIN else Path(file.path).open("rb")


@dataclass
class _FileReader:
    """Reads one file: gathers text and records, decodes them a megabyte at a time, and hands out chunks."""

    file: InputFile
    stream: ByteStream
    limits: SpanLimits
    pieces: list[Piece] = field(default_factory=list)
    requests: dict[Kind, list[tuple[int, bytes]]] = field(default_factory=lambda: {Kind.TRACES: [], Kind.LOGS: []})
    gathered_bytes: int = 0
    chunk_bytes: int = 0
    decoded: list[RawTables] = field(default_factory=list)
    problems: list[LineProblem] = field(default_factory=list)

    def chunks(self) -> Iterator[FileChunk]:
        """All chunks of the file, the last one perhaps empty."""
        for _ in self._gather():
            if self.gathered_bytes >= PIECE_BYTES:
                self._decode_gathered()
                if self.chunk_bytes >= CHUNK_BYTES or self._rows() >= CHUNK_ROWS:
                    yield self._chunk()
        self._decode_gathered()
        if self.stream.problem is not None:
            self._note(self.stream.line(), self.stream.problem)
        yield self._chunk()

    def _rows(self) -> int:
        return sum(len(tables.spans) + len(tables.log_records) for tables in self.decoded)

    def _chunk(self) -> FileChunk:
        tables = concat_raw_tables(self.decoded or [RawTables()])
        chunk = FileChunk(self.file.path, tables, self.problems, self.stream.bytes_read, self.file.size)
        self.decoded, self.problems, self.chunk_bytes = [], [], 0
        return chunk

    def _note(self, number: int, error: DecodeError) -> None:
        self.problems.append(LineProblem(self.file.path, number, error.reason, error.detail))

    def _gather(self) -> Iterator[None]:
        """Gathers the file's pieces or requests, stopping after each for the caller to decode them."""
        self.stream.fill(SNIFF_BYTES)
        if self.stream.data.startswith(_BYTE_ORDER_MARK):
            self.stream.take(len(_BYTE_ORDER_MARK))
        head = self.stream.data[self.stream.position :][:SNIFF_BYTES]
        if not head.strip() and len(head) < SNIFF_BYTES:
            return
        if _OTLP_LINE.search(head) or (_JSON_START.match(head) and _OTLP_KEY.search(head)):
            yield from self._gather_lines() if _is_lines(head) else self._gather_documents()
            return
        framing = None if _JSON_START.match(head) else framing_of(self.stream)
        if framing is None:
            self._note(1, DecodeError(NOT_OTLP, "neither OTLP, as JSON or protobuf, nor Tempo or Jaeger JSON"))
            return
        yield from self._gather_records(framing)

    def _gather_lines(self) -> Iterator[None]:
        stream, number = self.stream, 1
        while True:
            end = stream.data.find(b"\n", stream.position)
            if end < 0 and stream.unread() > WHOLE_BYTES:
                yield from self._gather_huge_line(number)
            elif end >= 0 or not stream.grow():
                text = stream.take((end + 1 if end >= 0 else len(stream.data)) - stream.position)
                if not text.isspace() and text:
                    self._add_piece(Piece(number, [text]))
                    yield
                if end < 0:
                    return
                number += 1

    def _gather_huge_line(self, number: int) -> Iterator[None]:
        try:
            for piece in JsonCutter(self.stream).document():
                self._add_piece(Piece(number, piece.values, piece.signal, piece.owner, piece.scope))
                yield
        except DecodeError as error:
            self._note(number, error)
            while (end := self.stream.data.find(b"\n", self.stream.position)) < 0:
                self.stream.position = len(self.stream.data)
                if not self.stream.grow():
                    return
            self.stream.position = end

    def _gather_documents(self) -> Iterator[None]:
        try:
            for piece in JsonCutter(self.stream).documents():
                self._add_piece(piece)
                yield
        except DecodeError as error:
            if error is not self.stream.problem:
                self._note(self.stream.line(), error)

    def _add_piece(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.gathered_bytes += sum(map(len, piece.values))

    def _gather_records(self, framing: Framing) -> Iterator[None]:
        number = 0
        try:
            for number, stored in enumerate(records(self.stream, framing), start=1):
                try:
                    self._add_record(number, _unpacked(stored))
                except DecodeError as error:
                    self._note(number, error)
                yield
        except DecodeError as error:
            if self.stream.problem is None:
                self._note(number + 1, error)

    def _add_record(self, number: int, record: bytes) -> None:
        if record.lstrip()[:1] in (b"{", b"["):
            self._add_piece(Piece(number, [record]))
            return
        kind = kind_of(record)
        if kind is Kind.METRICS:
            raise DecodeError(METRICS_UNSUPPORTED, "metrics are not stored")
        self.requests[kind].append((number, record))
        self.gathered_bytes += len(record)

    def _decode_gathered(self) -> None:
        with without_cycle_collection():
            self._decode_requests(Kind.TRACES, decode_traces)
            self._decode_requests(Kind.LOGS, decode_logs)
            self._decode_pieces()
        self.chunk_bytes += self.gathered_bytes
        self.gathered_bytes = 0

    def _decode_requests(self, kind: Kind, decode: Callable[[Sequence[bytes], SpanLimits], RawTables]) -> None:
        numbered, self.requests[kind] = self.requests[kind], []
        try:
            if numbered:
                self.decoded.append(decode([record for _, record in numbered], self.limits))
        except DecodeError:
            for number, record in numbered:
                try:
                    self.decoded.append(decode([record], self.limits))
                except DecodeError as error:
                    self._note(number, error)

    def _decode_pieces(self) -> None:
        batch = JsonBatch(limits=self.limits)
        pieces, self.pieces = self.pieces, []
        for piece in pieces:
            self._add_documents(piece, batch)
        if len(batch):
            self.decoded.append(batch.sound_tables())

    def _add_documents(self, piece: Piece, batch: JsonBatch) -> None:
        for document in self._documents(piece):
            try:
                _add_document(document, batch)
            except DecodeError as error:
                self._note(piece.line, error)

    def _documents(self, piece: Piece) -> Iterator[Any]:
        values = self._parsed(piece)
        if piece.signal is None:
            for value in values:
                yield from value if isinstance(value, list) else [value]
        elif piece.owner is None:
            yield {piece.signal: values}
        else:
            scopes, *_, items = ITEM_LISTS[piece.signal]
            yield {piece.signal: [{**piece.owner, scopes: [{**(piece.scope or {}), items: values}]}]}

    def _parsed(self, piece: Piece) -> list[Any]:
        if len(piece.values) > 1:
            try:
                return list(orjson.loads(b"[" + b",".join(piece.values) + b"]"))
            except orjson.JSONDecodeError:
                pass  # one by one, to keep the sound ones
        values = []
        for text in piece.values:
            try:
                values.append(load_json(text))
            except DecodeError as error:
                self._note(piece.line, error)
        return values


def _is_lines(head: bytes) -> bool:
    """Whether each line is a document of its own, by the first line or, when that one is damaged, by the next."""
    first, newline, _ = head.partition(b"\n")
    if not newline or (_OTLP_LINE.match(head, len(first)) and first.strip() != b"["):
        return True
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return not _JSON_START.match(head)
    return True


def _unpacked(record: bytes) -> bytes:
    """The record without the zstd the Collector's file exporter may have put each one in."""
    if not record.startswith(ZSTD_MAGIC):
        return record
    try:
        with zstandard.ZstdDecompressor().stream_reader(record) as reader:
            unpacked = reader.read(MAX_RECORD_BYTES + 1)
    except zstandard.ZstdError as error:
        raise DecodeError("corrupt_compression", f"zstd: {error}") from None
    if len(unpacked) > MAX_RECORD_BYTES:
        raise DecodeError("too_large", f"the record is over {MAX_RECORD_BYTES >> 20} MiB decompressed")
    return unpacked


def _add_document(document: Any, batch: JsonBatch) -> None:
    """Adds whatever signals the document carries.

    Raises:
        DecodeError: it carries none, or metrics, or is malformed.
    """
    if not isinstance(document, dict):
        raise DecodeError(NOT_OTLP, "a document must be an object")
    if "batches" in document:
        document = otlp_of_tempo(document)
    elif "data" in document:
        document = otlp_of_jaeger(document)
    for signal in (TRACES, LOGS):
        if signal.resources in document:
            batch.add_request(document, signal)
    if "resourceMetrics" in document:
        raise DecodeError(METRICS_UNSUPPORTED, "metrics are not stored")
    if document and TRACES.resources not in document and LOGS.resources not in document:
        raise DecodeError(NOT_OTLP, f"the document has none of OTLP's keys, but {', '.join(map(repr, document))[:200]}")
