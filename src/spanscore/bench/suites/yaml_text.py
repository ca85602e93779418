"""Reads YAML without its traps: whatever YAML readers disagree on is an error, and so is all that hides content.

No aliases, tags or merge keys, no key twice, and no unquoted word that one reader takes for text and another for a
number, a truth value or a moment: `no`, `1_000`, `12:30:45`, `1e3`, `2026-01-01`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from spanscore.bench.suites.document import DEEPEST, LONGEST_NUMBER, Document, Problem, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.bench.suites.document import Place

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What readers of YAML 1.1 and 1.2 agree on.
_NULLS = {"~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+][0-9]+)?")

# What one of them reads as something else than text.
_DISPUTED = re.compile(
    r"""
      yes | no | on | off                                             # truth values of YAML 1.1
    | [-+]? 0 [xob] [0-9a-f_]+                                        # hexadecimal, octal, binary
    | [-+]? (?: [0-9] [0-9_]* (?: \. [0-9_]* )? | \. [0-9] [0-9_]* ) (?: e [-+]? [0-9]+ )?
    | [-+]? [0-9] [0-9_]* (?: : [0-5]? [0-9] )+ (?: \. [0-9_]* )?     # base 60
    | [-+]? \. (?: inf | nan )
    | [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} (?: [Tt\s] .* )?             # a day or a moment
    | = | <<
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Disputed(ValueError):
    """An unquoted word that readers take for different things."""


def plain_value(word: str) -> str | int | float | bool | None:
    """What an unquoted word is.

    Raises:
        Disputed: it depends on who reads it.
    """
    if word in _NULLS:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if len(word) <= LONGEST_NUMBER:
        if _INTEGER.fullmatch(word):
            return int(word)
        if _FLOAT.fullmatch(word):
            number = float(word)
            if abs(number) != float("inf"):
                return number
            raise Disputed(word)
    elif word[:LONGEST_NUMBER].strip("+-.0123456789_eE") == "":
        raise Disputed(word)
    if word == "" or _DISPUTED.fullmatch(word):
        raise Disputed(word)
    return word


def read_yaml(text: str) -> Document:
    """The one document in `text`, and everything that is wrong with it."""
    document = Document()
    try:
        _Reader(document, text).read()
    except Unreadable as stop:
        document.problems.append(stop.problem)
    return document


class _Reader:
    """Builds the value from parser events with a stack of its own, so that no depth of nesting can exhaust Python's."""

    def __init__(self, document: Document, text: str) -> None:
        self._document = document
        self._text = text
        self._open: list[tuple[Any, Place]] = []
        self._key: dict[Place, str | None] = {}
        """Mapping -> the key whose value comes next; a mapping without an entry expects a key."""

    def read(self) -> None:
        documents = 0
        for event in self._events():
            line = 1 if event.start_mark is None else event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise Unreadable(line, "a second document begins here.\n  Keep one suite per file.")
            elif isinstance(event, yaml.AliasEvent):
                self._problem(line, f"`*{event.anchor}` is an alias.\n  Write the value out.")
                self._place(None, line, shown="alias")
            elif isinstance(event, yaml.ScalarEvent):
                self._refuse_marks(event, line)
                self._scalar(event, line)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._refuse_marks(event, line)
                self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], line)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._open.pop()

    def _events(self) -> Iterator[yaml.Event]:
        try:
            yield from yaml.parse(self._text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = None if mark is None else mark.line + 1
            raise Unreadable(line, f"this is no YAML: {error.problem or error.context}.") from error
        except yaml.reader.ReaderError as error:
            line = self._text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
            raise Unreadable(line, f"this is no YAML: {error.reason}.") from error
        except yaml.YAMLError as error:
            raise Unreadable(None, f"this is no YAML: {error}.") from error

    def _problem(self, line: int, text: str) -> None:
        self._document.problems.append(Problem(line, text))

    def _refuse_marks(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int) -> None:
        if event.anchor is not None:
            self._problem(line, f"`&{event.anchor}` is an anchor, and there are no aliases here.\n  Take it out.")
        if event.tag is not None:
            self._problem(line, f"`{event.tag}` is a tag.\n  Take it out; quotes make text.")

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if not event.implicit[0] or event.tag is not None:
            self._place(event.value, line, shown=event.value)
            return
        try:
            value = plain_value(event.value)
        except Disputed:
            self._place(event.value, line, shown=event.value)
            self._dispute(event.value, line)
            return
        self._place(value, line, shown=event.value)

    def _dispute(self, word: str, line: int) -> None:
        if word == "":
            self._problem(
                line, 'there is no value.\n  Write [] for an empty list and "" for empty text, or leave the key out.'
            )
            return
        self._problem(
            line,
            f"`{word}` without quotes is text to one YAML reader and something else to another.\n"
            f'  Write "{word}" for the text; else true or false, or a number in plain digits such as 1000 or 0.5.',
        )

    def _begin(self, container: dict[str, Any] | list[Any], line: int) -> None:
        if len(self._open) >= DEEPEST:
            raise Unreadable(line, f"it is nested more than {DEEPEST} deep.")
        place = self._place(container, line, shown=None)
        self._open.append((container, place))

    def _place(self, value: Any, line: int, *, shown: str | None) -> Place:
        """Puts a value where it belongs: as the document, the next of a list, or the next key or value of a mapping.

        Args:
            value: to put.
            line: where it stands.
            shown: how it is written; None = it is a container.
        """
        if not self._open:
            self._document.value = value
            self._document.lines[()] = line
            return ()
        container, place = self._open[-1]
        if isinstance(container, list):
            here: Place = (*place, len(container))
            container.append(value)
            self._document.lines[here] = line
            return here
        if place not in self._key:
            self._take_key(container, place, value, line, shown)
            return place
        key = self._key.pop(place)
        if key is None:
            # The value of a key that is refused: read on, but keep it out.
            return (*place, f"line {line}")
        container[key] = value
        return (*place, key)

    def _take_key(self, container: dict[str, Any], place: Place, key: Any, line: int, shown: str | None) -> None:
        self._key[place] = None
        if shown is None:
            raise Unreadable(line, "a list or mapping is used as a key.\n  Keys are text.")
        if not isinstance(key, str):
            self._problem(line, f"the key `{shown}` is not text.\n  Put it in quotes.")
        elif key in container:
            first = self._document.lines[*place, key]
            self._problem(line, f"the key `{key}` is given in line {first} already.\n  Keep one of them.")
        else:
            self._key[place] = key
            self._document.lines[*place, key] = line
            container[key] = None
