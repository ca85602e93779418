"""Whether a request may hold a secret at all: one pass over its bytes, before anything is decoded.

The patterns are in the syntax that RE2 and the regular expressions of Rust share; both are linear in the request
whatever stands in it, and both come with libraries that are here anyway. pydantic keeps a compiled pattern of Rust's,
which reads some 400 MB/s; pyarrow compiles anew for every call and is ten times slower on requests of usual size, but
lets other threads work meanwhile, and says where it found something. Most requests end here: only what this finds is
decoded, looked at text by text, and written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import StringConstraints, TypeAdapter

from spanscore.collector.redaction import personal
from spanscore.collector.redaction.commands import COMMAND_HINT, NAMED_OPTION_HINT, STATEMENT_HINT
from spanscore.collector.redaction.names import NAME_HINT
from spanscore.collector.redaction.tokens import PEM_HINT, TOKEN_HINT

_HINTS = (
    TOKEN_HINT,
    PEM_HINT,
    r"(?i:bearer|basic|negotiate)(?:[ \t\r\n]|%20|\+|\\+[tn])+[0-9A-Za-z._~+/-]{8}",
    r":\\?/\\?/[^ \t\r\n/?#\"'<>\\|`]*@",
    NAME_HINT,
    STATEMENT_HINT,
    NAMED_OPTION_HINT,
)
# In JSON any character may be written as an escape, a slash even as `\/`; bytes are base64. Go writes `<`, `>` and `&`
# as escapes, PHP every slash: only escapes of letters, digits and the signs of a secret are worth a closer look.
_JSON_HIDDEN = r"\\u00(?:[2-7]0|2[1-5bdf]|3[0-9a]|3[dD]|[4-7][1-9a-fA-F])|\"bytesValue\"|\\/"

# Characters that Unicode says are never used in text, in pairs, to put around what RE2 found.
_MARKS = tuple((chr(code), chr(code + 1)) for code in range(0xFDD0, 0xFDF0, 2))
_LARGE_BYTES = 4 << 20


class Scan:
    """Tells requests and texts that need a closer look from those that do not."""

    def __init__(self, *, with_personal: bool, keys: Iterable[str] = ()) -> None:
        """`keys` are literal pieces of attribute keys whose values are to be replaced."""
        hints = [*_HINTS, *([personal.HINT] if with_personal else []), *(_literal(key) for key in keys)]
        self._places = "|".join(hints)
        self.has_command = _finder(COMMAND_HINT)
        """Whether a text may hold a command line with a password, which is no place but somewhere after a program."""
        self._text = "|".join([*hints, COMMAND_HINT])
        self._json = f"{self._text}|{_JSON_HIDDEN}"
        self._finds = _finder(self._text)
        self._finds_in_json = _finder(self._json)

    def needs_look(self, payload: bytes, *, is_json: bool) -> bool:
        """Whether a request may hold something to replace."""
        if len(payload) > _LARGE_BYTES:
            pattern = self._json if is_json else self._text
            found = pc.match_substring_regex(pa.array([payload], pa.large_binary()), pattern)
            return bool(found[0].as_py())
        # What is looked for is ASCII, so every byte may stand for a character.
        text = payload.decode("latin-1")
        return self._finds_in_json(text) if is_json else self._finds(text)

    def suspects(self, texts: Sequence[str]) -> list[int]:
        """Places of the texts that may hold something to replace."""
        return [place for place, text in enumerate(texts) if self._finds(text)]

    def marks(self, texts: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Place of every text that may hold something, and where in it: (start, end) [characters]."""
        places = self.suspects(texts)
        if not places:
            return
        suspects = [texts[place] for place in places]
        pair = next((pair for pair in _MARKS if not any(mark in text for mark in pair for text in suspects)), None)
        if pair is None:
            # Somebody writes them all: every character is a place to look at then.
            for place in places:
                yield place, [(at, at + 1) for at in range(len(texts[place]))]
            return
        opened, closed = pair
        found = pc.replace_substring_regex(pa.array(suspects, pa.large_string()), self._places, f"{opened}\\0{closed}")
        for place, text in zip(places, found.to_pylist(), strict=True):
            yield place, _spans(text, opened, closed)


def _finder(pattern: str) -> Callable[[str], bool]:
    adapter = TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    finds: Callable[[str], bool] = adapter.validator.isinstance_python
    return finds


def _spans(marked: str, opened: str, closed: str) -> list[tuple[int, int]]:
    spans = []
    pieces = marked.split(opened)
    start = len(pieces[0])
    for piece in pieces[1:]:
        length = piece.index(closed)
        spans.append((start, start + length))
        start += len(piece) - len(closed)
    return spans


def _literal(text: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else f"\\x{{{ord(c):x}}}" for c in text)
