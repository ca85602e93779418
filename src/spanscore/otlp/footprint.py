"""How much a request grows while it is decoded, judged from its bytes before anything is parsed.

An empty element takes 2 bytes on the wire and over 100 in memory, so the length of a request says little about what
reading it costs. Elements are counted at 1.5 ns a byte, without reading the message: two bytes that look like the start
of a short element count as one, wherever they are. Text has no such bytes, as lengths below 9 are control characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

UNCOUNTED_BYTES = 64 << 10
"""Requests up to this size are not looked into."""

GROWTH = 8
"""Bytes of memory per byte of a request without short elements. Measured: 3 for long texts, 11 for short attributes."""

ELEMENT_BYTES = 100
"""Memory of one short element [bytes]. Measured: 50 to 142, by kind."""

JSON_OBJECT_BYTES = 250
JSON_STRING_BYTES = 60

_OBJECTS_PER_ELEMENT = 2  # an attribute and its value
_STRINGS_PER_ELEMENT = 5  # `key`, the key, `value`, `stringValue`, the text
_DOUBTFUL = 500_000
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)

_SHORT = 9
_TAGS = bytes(number << 3 | 2 for number in (1, 2, 3, 5, 6, 7, 9, 11, 13, 15))
_CLASSES = bytes(1 if byte in _TAGS else 2 if byte < _SHORT else 0 for byte in range(256))
_SHORT_ELEMENT = b"\x01\x02"


@dataclass(frozen=True, slots=True)
class Footprint:
    """What decoding a request will take.

    Attributes:
        elements: short elements in it, 0 where it is too small to matter [count].
        memory: needed while it is decoded [bytes].
    """

    elements: int
    memory: int


def protobuf_footprint(payload: bytes) -> Footprint:
    """The footprint of a serialised request."""
    if len(payload) <= UNCOUNTED_BYTES:
        return Footprint(0, GROWTH * len(payload))
    elements = payload.translate(_CLASSES).count(_SHORT_ELEMENT)
    return Footprint(elements, GROWTH * len(payload) + ELEMENT_BYTES * elements)


def json_footprint(payload: bytes) -> Footprint:
    """The footprint of a request in OTLP/JSON."""
    if len(payload) <= UNCOUNTED_BYTES:
        return Footprint(0, GROWTH * len(payload))
    strings = (payload.count(b'"') - payload.count(b'\\"')) // 2
    # Brackets and commas of a text count as well at first: few, unless it is a table.
    footprint = _json_footprint(payload, strings, size=len(payload))
    if footprint.elements > _DOUBTFUL and strings <= _STRINGS_PER_ELEMENT * _DOUBTFUL:
        return _json_footprint(_STRING.sub(b"", payload), strings, size=len(payload))
    return footprint


def _json_footprint(text: bytes, strings: int, *, size: int) -> Footprint:
    objects = text.count(b"{") - text.count(b"{\\") + text.count(b"[") - text.count(b"[\\")
    # Numbers in a list cost what a short string does, and are only told by their commas.
    values = max(strings, text.count(b","))
    elements = max(objects // _OBJECTS_PER_ELEMENT, values // _STRINGS_PER_ELEMENT)
    return Footprint(elements, GROWTH * size // 2 + JSON_OBJECT_BYTES * objects + JSON_STRING_BYTES * values)
