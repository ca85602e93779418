"""A file of YAML or JSON as plain values, with the line of each, and all that is wrong with its text."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spanscore.errors import SuiteInvalid

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 8 << 20
DEEPEST = 40
LONGEST_NUMBER = 100

_YAML_ENDINGS = (".yaml", ".yml")

Place = tuple[str | int, ...]
"""Keys and positions from the top of a document to a value in it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file. `line` counts from 1; None = the file as a whole."""

    line: int | None
    text: str


@dataclass(slots=True)
class Document:
    """A value, and where it stands in its file."""

    value: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    """Place of every value -> line of its key, or of itself in a list."""
    problems: list[Problem] = field(default_factory=list)

    def line_of(self, place: Place) -> int | None:
        """Line of what is at `place`, or of the nearest thing around it; steps that the file lacks are skipped."""
        reached: Place = ()
        for step in place:
            if (*reached, step) in self.lines:
                reached = (*reached, step)
        return self.lines.get(reached)


class Unreadable(Exception):
    """The text cannot be read on from here."""

    def __init__(self, line: int | None, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(line, text)


def read_document(path: Path) -> Document:
    """The content of a YAML or JSON file; its name tells which.

    Raises:
        SuiteInvalid: it is no regular file, too large, or no UTF-8. What is wrong with the text is in `problems`.
    """
    from spanscore.bench.suites.json_text import read_json
    from spanscore.bench.suites.yaml_text import read_yaml

    text = _text(path)
    ending = path.suffix.lower()
    if ending not in (*_YAML_ENDINGS, ".json"):
        raise SuiteInvalid([f"{path}: a suite is a YAML or JSON file.\n  Name it so that it ends in .yaml or .json."])
    return read_json(text) if ending == ".json" else read_yaml(text)


def _text(path: Path) -> str:
    try:
        # A pipe or a device may never end: look before opening.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SuiteInvalid([f"{path}: this is no regular file.\n  Name a YAML or JSON file."])
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise SuiteInvalid([f"{path}: it cannot be read: {reason}.\n  Name a YAML or JSON file."]) from error
    if len(content) > MOST_BYTES:
        raise SuiteInvalid([f"{path}: it is larger than {MOST_BYTES >> 20} MiB, the most a suite may be.\n  Split it."])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SuiteInvalid([f"{path}:{line}: this is no UTF-8.\n  Save the file as UTF-8."]) from error
