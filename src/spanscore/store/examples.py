"""Questions worth asking: the files of `queries/examples`, each a SELECT under a comment that says what it answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spanscore.errors import UsageError
from spanscore.store.queries import queries_root

_COLUMNS = "Columns:"


@dataclass(frozen=True, slots=True)
class Example:
    """A saved query."""

    name: str
    question: str
    """In one sentence."""
    columns: str
    """What they are, in words, with their units."""
    sql: str


def examples() -> list[Example]:
    """All of them, by name."""
    return [_example(path.stem, path.read_text(encoding="utf-8")) for path in sorted(_folder().glob("*.sql"))]


def example(name: str) -> Example:
    """The one of this name.

    Raises:
        UsageError: there is none.
    """
    path = _folder() / f"{name}.sql"
    if re.fullmatch(r"\w+", name) is None or not path.is_file():
        known = ", ".join(path.stem for path in sorted(_folder().glob("*.sql")))
        raise UsageError(f"There is no saved query `{name}`.\n  There are: {known}.")
    return _example(name, path.read_text(encoding="utf-8"))


def _folder() -> Path:
    return queries_root() / "examples"


def _example(name: str, sql: str) -> Example:
    comment = re.match(r"(--[^\n]*\n)+", sql)
    lines = [line[2:].strip() for line in (comment[0] if comment else "").splitlines()]
    paragraphs = [" ".join(paragraph.split()) for paragraph in "\n".join(lines).split("\n\n")]
    columns = next((text for text in paragraphs if text.startswith(_COLUMNS)), "")
    return Example(name, paragraphs[0], columns.removeprefix(_COLUMNS).strip(), sql)
