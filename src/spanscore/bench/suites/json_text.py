"""Reads JSON with the line of every value. No key twice, no NaN, no number that a double cannot hold."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import TYPE_CHECKING, Any

from spanscore.bench.suites.document import DEEPEST, LONGEST_NUMBER, Document, Problem, Unreadable

if TYPE_CHECKING:
    from spanscore.bench.suites.document import Place

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z]+")


def read_json(text: str) -> Document:
    """The one value in `text`, and everything that is wrong with it."""
    document = Document()
    try:
        _Reader(document, text).read()
    except Unreadable as stop:
        document.problems.append(stop.problem)
    return document


class _Reader:
    def __init__(self, document: Document, text: str) -> None:
        self._document = document
        self._text = text
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read(self) -> None:
        start = self._after_space(0)
        self._document.lines[()] = self._line(start)
        self._document.value, end = self._value(start, ())
        end = self._after_space(end)
        if end != len(self._text):
            raise self._stop(end, "there is more after the end of the value")

    def _line(self, position: int) -> int:
        return bisect_right(self._line_starts, position)

    def _after_space(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return position if match is None else match.end()

    def _stop(self, position: int, text: str) -> Unreadable:
        return Unreadable(self._line(position), f"this is no JSON: {text}.")

    def _value(self, start: int, place: Place) -> tuple[Any, int]:
        first = self._text[start : start + 1]
        if first in ("{", "["):
            if len(place) >= DEEPEST:
                raise Unreadable(self._line(start), f"it is nested more than {DEEPEST} deep.")
            return self._object(start + 1, place) if first == "{" else self._array(start + 1, place)
        if first == '"':
            return self._string(start)
        number = _NUMBER.match(self._text, start)
        if number is not None:
            return self._number(number), number.end()
        word = _WORD.match(self._text, start)
        if word is not None and word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        if first == "":
            raise self._stop(start, "it ends before the value does")
        raise self._stop(start, f"`{word[0] if word else first}` is no value")

    def _string(self, start: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self._text, start + 1, True)
        except JSONDecodeError as error:
            raise self._stop(error.pos, error.msg) from error
        return text, end

    def _number(self, match: re.Match[str]) -> int | float:
        if len(match[0]) > LONGEST_NUMBER:
            raise self._stop(match.start(), f"a number of {len(match[0])} characters is too long")
        if match["fraction"] is None and match["exponent"] is None:
            return int(match[0])
        number = float(match[0])
        if not math.isfinite(number):
            raise self._stop(match.start(), f"`{match[0]}` is larger than a double can hold")
        return number

    def _array(self, start: int, place: Place) -> tuple[list[Any], int]:
        items: list[Any] = []
        position = self._after_space(start)
        if self._text[position : position + 1] == "]":
            return items, position + 1
        while True:
            here = (*place, len(items))
            self._document.lines[here] = self._line(position)
            value, position = self._value(position, here)
            items.append(value)
            position = self._after_space(position)
            mark = self._text[position : position + 1]
            if mark == "]":
                return items, position + 1
            if mark != ",":
                raise self._stop(position, "expected `,` or `]`")
            position = self._after_space(position + 1)

    def _object(self, start: int, place: Place) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        position = self._after_space(start)
        if self._text[position : position + 1] == "}":
            return members, position + 1
        while True:
            if self._text[position : position + 1] != '"':
                raise self._stop(position, "expected a key in double quotes")
            line = self._line(position)
            key, position = self._string(position)
            position = self._after_space(position)
            if self._text[position : position + 1] != ":":
                raise self._stop(position, "expected `:`")
            here = (*place, key)
            is_repeated = key in members
            if is_repeated:
                first = self._document.lines[here]
                text = f"the key `{key}` is given in line {first} already.\n  Keep one of them."
                self._document.problems.append(Problem(line, text))
            else:
                self._document.lines[here] = line
            value, position = self._value(self._after_space(position + 1), here)
            if not is_repeated:
                members[key] = value
            position = self._after_space(position)
            mark = self._text[position : position + 1]
            if mark == "}":
                return members, position + 1
            if mark != ",":
                raise self._stop(position, "expected `,` or `}`")
            position = self._after_space(position + 1)
