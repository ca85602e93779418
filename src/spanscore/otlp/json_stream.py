"""Cuts JSON text of any size into pieces that fit in memory, without parsing it.

A piece is a small whole document, or part of a huge one: the header of a resource and a scope with the raw text of some
of its spans. Cutting finds only where values end; whether they are right is for the parser that gets the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from spanscore.errors import DecodeError
from spanscore.otlp.streams import ByteStream

PIECE_BYTES = 4 << 20
WHOLE_BYTES = 2 << 20
"""A document, or a resource in one, that is smaller than this is one piece."""

MAX_VALUE_BYTES = 256 << 20
"""A span or other value that cannot be cut may be this large."""

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_SPACE = re.compile(rb"[ \t\r\n]*")
_TEXT = re.compile(_STRING, re.DOTALL)
_WORD = re.compile(rb"[-+.0-9A-Za-z]++")
_BRACKET = re.compile(_STRING + rb'|[\[\]{}"]', re.DOTALL)
_OPEN = (b"{", b"[")
_CLOSE = (b"}", b"]")


def _nested(depth: int) -> bytes:
    pattern = rb"[^\[\]{}\"]*+"
    for _ in range(depth):
        pattern = rb'[\[{](?:[^\[\]{}"]++|' + _STRING + rb"|" + pattern + rb")*+[\]}]"
    return pattern


_CONTAINER = re.compile(_nested(9), re.DOTALL)
"""An object or array of at most 9 levels, in one step; deeper ones are counted bracket by bracket."""

ITEM_LISTS = {
    "resourceSpans": ("scopeSpans", "spans"),
    "resourceLogs": ("scopeLogs", "logRecords"),
    "batches": ("scopeSpans", "instrumentationLibrarySpans", "spans"),
}
"""Per list of resources that is worth cutting: the names of its lists of scopes, and last of the items in those."""


@dataclass(frozen=True)
class Piece:
    """A whole document, or part of the document that started at `line`.

    Attributes:
        line: line, from 1, where the document starts.
        values: raw text of the documents; of items, when `owner` is set.
        signal: key of the list of resources, such as `resourceSpans`; None for a whole document.
        owner: the resource's object without its scopes; None when `values` are whole elements of the signal's list.
        scope: the scope's object without its items.
    """

    line: int
    values: list[bytes]
    signal: str | None = None
    owner: dict[str, Any] | None = None
    scope: dict[str, Any] | None = None


class JsonCutter:
    """Cuts the JSON text of one stream."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def documents(self) -> Iterator[Piece]:
        """Pieces of all documents of the text, which may stand one after the other or in arrays.

        Raises:
            DecodeError: the text is malformed at this place; the rest is not read.
        """
        while self._peek():
            yield from self.document()

    def document(self) -> Iterator[Piece]:
        """Pieces of the next document."""
        first, line = self._peek(), self._stream.line()
        whole = self._whole(WHOLE_BYTES)
        if whole is not None:
            yield Piece(line, [whole])
        elif first == b"[":
            for _ in self._elements():
                yield from self.document()
        elif first == b"{":
            yield from self._huge_document(line)
        else:
            raise self._malformed("a document starts with { or [")

    def _huge_document(self, line: int) -> Iterator[Piece]:
        for key in self._keys():
            if key in ITEM_LISTS and self._peek() == b"[":
                yield from self._owners(key, line)
            elif key == "data" and self._peek() == b"[":
                for values in self._runs():
                    yield Piece(line, values, signal=key)
            else:
                self._value()

    def _owners(self, signal: str, line: int) -> Iterator[Piece]:
        for values in self._runs(descend=True):
            if values:
                yield Piece(line, values, signal=signal)
            else:
                yield from self._owner(signal, line)

    def _owner(self, signal: str, line: int) -> Iterator[Piece]:
        """Pieces of a resource too large for one. Items that come before their header wait for it, as raw text."""
        owner: dict[str, Any] = {}
        waiting: list[Piece] = []
        for key in self._keys():
            if key in ITEM_LISTS[signal][:-1] and self._peek() == b"[":
                for _ in self._elements():
                    for piece in self._scope(signal, owner, line):
                        if "resource" in owner:
                            yield piece
                        else:
                            waiting.append(piece)
            else:
                owner[key] = self._parsed()
        yield from waiting

    def _scope(self, signal: str, owner: dict[str, Any], line: int) -> Iterator[Piece]:
        scope: dict[str, Any] = {}
        waiting: list[Piece] = []
        for key in self._keys():
            if key == ITEM_LISTS[signal][-1] and self._peek() == b"[":
                for values in self._runs():
                    piece = Piece(line, values, signal, owner, scope)
                    if "scope" in scope or "instrumentationLibrary" in scope:
                        yield piece
                    else:
                        waiting.append(piece)
            else:
                scope[key] = self._parsed()
        yield from waiting

    def _keys(self) -> Iterator[str]:
        """Each key of the object at the position, standing before its value, which the caller has to read."""
        self._expect(b"{")
        if self._peek() == b"}":
            self._stream.take(1)
            return
        while True:
            if self._peek() != b'"':
                raise self._malformed("a key is a string")
            key = self._parsed()
            self._expect(b":")
            yield key
            if self._expect(b",", b"}") == b"}":
                return

    def _elements(self) -> Iterator[None]:
        """Stands before each element of the array at the position, which the caller has to read."""
        self._expect(b"[")
        if self._peek() == b"]":
            self._stream.take(1)
            return
        while True:
            yield None
            if self._expect(b",", b"]") == b"]":
                return

    def _runs(self, *, descend: bool = False) -> Iterator[list[bytes]]:
        """The array's elements, raw, in runs; with `descend` an empty run stands before an element the caller reads."""
        run: list[bytes] = []
        size = 0
        for _ in self._elements():
            value = self._whole(WHOLE_BYTES) if descend else self._value()
            if value is not None:
                run.append(value)
                size += len(value)
            if run and (value is None or size >= PIECE_BYTES):
                yield run
                run, size = [], 0
            if value is None:
                yield []
        if run:
            yield run

    def _parsed(self) -> Any:
        text = self._value()
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise self._malformed(str(error)) from None

    def _value(self) -> bytes:
        value = self._whole(MAX_VALUE_BYTES)
        if value is None:
            raise DecodeError("value_too_large", f"line {self._stream.line()}: over {MAX_VALUE_BYTES >> 20} MiB")
        return value

    def _whole(self, limit: int) -> bytes | None:
        """The value at the position, read; None, and nothing read, when it is larger than the limit."""
        first = self._peek()
        stream = self._stream
        if first not in (b"{", b"["):
            return self._scalar(first)
        container = _CONTAINER.match(stream.data, stream.position)
        length = container.end() - stream.position if container else self._length_by_brackets(limit)
        return stream.take(length) if length <= limit else None

    def _scalar(self, first: bytes) -> bytes:
        pattern = _TEXT if first == b'"' else _WORD
        while True:
            found = pattern.match(self._stream.data, self._stream.position)
            # a number at the end of what is buffered may go on
            if found and (found.end() < len(self._stream.data) or first == b'"' or not self._stream.grow()):
                return self._stream.take(found.end() - self._stream.position)
            if not found and (self._stream.unread() > MAX_VALUE_BYTES or not self._stream.grow()):
                raise self._malformed("a value is missing, or a string has no end")

    def _length_by_brackets(self, limit: int) -> int:
        """Length of the container at the position; more than the limit, however much, when it is larger than that."""
        stream = self._stream
        depth = seen = 0
        while seen <= limit:
            for token in _BRACKET.finditer(stream.data, stream.position + seen):
                bracket = token.group()
                if bracket == b'"':  # a string that is not all buffered
                    seen = token.start() - stream.position
                    break
                depth += (bracket in _OPEN) - (bracket in _CLOSE)
                if depth == 0 and bracket in _CLOSE:
                    return token.end() - stream.position
            else:
                seen = stream.unread()
            if stream.unread() > limit:
                break
            if not stream.grow():
                raise self._malformed("the text ends inside a value")
        return limit + 1

    def _peek(self) -> bytes:
        """The next byte that is not white space, not read; nothing at the end."""
        stream = self._stream
        while True:
            space = _SPACE.match(stream.data, stream.position)
            stream.position = space.end() if space else stream.position
            if stream.unread() or not stream.fill(1):
                return stream.data[stream.position : stream.position + 1]

    def _expect(self, *wanted: bytes) -> bytes:
        found = self._peek()
        if found not in wanted:
            raise self._malformed(f"expected {' or '.join(byte.decode() for byte in wanted)}")
        return self._stream.take(1)

    def _malformed(self, what: str) -> DecodeError:
        if self._stream.problem is not None:
            return self._stream.problem
        return DecodeError("malformed_json", f"line {self._stream.line()}: {what}")
