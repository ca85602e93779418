"""`spanscore.toml`: every reader gets the file from here, and a word that is none of its settings is an error.

A misspelt table that is passed over in silence is an alert that never fires.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

NAME = "spanscore.toml"

TABLES: Mapping[str, tuple[str, ...] | None] = {
    "alerts": (
        "name",
        "metric",
        "window",
        "below",
        "above",
        "max_rise",
        "max_drop",
        "min_n",
        "by",
        "severity",
        "service",
        "repeat",
    ),
    "alerting": ("webhook", "webhook_env", "token_env", "timeout"),
    "evaluators": None,
    "prices": ("file",),
}
"""The tables and their keys; None where the keys are names that only the reader of the table knows."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file holds, and where.

    Attributes:
        path: of the file.
        tables: as TOML gives them; each is one of `TABLES` and holds no unknown key.
        lines: of the file.
    """

    path: Path
    tables: Mapping[str, Any]
    lines: tuple[str, ...] = ()

    def place(self, table: str, key: str | None = None, *, number: int = 0) -> str:
        """File and line of a key of the table that comes `number`-th of its name, else of the table."""
        header = re.compile(rf"^\s*\[+\s*{re.escape(table)}\s*\]+")
        starts = [line for line, text in enumerate(self.lines) if header.match(text)]
        if number >= len(starts):
            parent, _, name = table.rpartition(".")
            return self.place(parent, name) if parent else self._place_of_word(table)
        start = starts[number]
        for line in range(start + 1, len(self.lines)):
            if self.lines[line].lstrip().startswith("["):
                break
            if key is not None and re.match(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", self.lines[line]):
                return f"{self.path}:{line + 1}"
        return f"{self.path}:{start + 1}"

    def _place_of_word(self, word: str) -> str:
        pattern = re.compile(rf"^\s*\[*\s*[\"']?{re.escape(word)}(?![\w-])")
        return f"{self.path}:{next((line for line, text in enumerate(self.lines, 1) if pattern.match(text)), 1)}"


def read_settings(path: Path) -> Settings | None:
    """The settings in the file `path`, or None where there is no such file.

    Raises:
        UsageError: the file cannot be read, or holds a table or key that is none of `TABLES`; all of them are named.
    """
    if not path.is_file():
        return None
    try:
        text = path.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}\n  Mend it, or move it away.") from error
    settings = Settings(path, tables, tuple(text.splitlines()))
    problems = list(_unknown(settings))
    if problems:
        raise UsageError("\n".join(problems))
    return settings


def _unknown(settings: Settings) -> Iterator[str]:
    for name, content in settings.tables.items():
        if name not in TABLES:
            yield f"{settings.place(name)}: there is no table `{name}`.\n  {likely(name, TABLES)}"
            continue
        known = TABLES[name]
        if known is None:
            continue
        for number, table in enumerate(content if isinstance(content, list) else [content]):
            # Whether it should be a table or a list of them is for its reader to say.
            for key in table if isinstance(table, dict) else ():
                if key not in known:
                    place = settings.place(name, key, number=number)
                    yield f"{place}: `{key}` is no setting of `{name}`.\n  {likely(key, known)}"


def likely(word: str, known: Iterable[str], *, otherwise: str | None = None) -> str:
    """A sentence that names what was probably meant by a word that does not exist.

    Args:
        word: that does not exist.
        known: words that do.
        otherwise: what to say where nothing is like it; None = all that is known.
    """
    by_folded = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_folded, n=1)
    if close:
        return f"Did you mean `{by_folded[close[0]]}`?"
    return otherwise or f"There are {', '.join(f'`{name}`' for name in by_folded.values())}."
