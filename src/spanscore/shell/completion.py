"""What can be typed next: tables, their columns, macros, keywords, and what the commands of the shell take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prompt_toolkit.document import Document

_BEHIND_TABLE = re.compile(r"(\w+)\.(\w*)$")
_WORD = re.compile(r"\w+$")


@dataclass(frozen=True, slots=True)
class Words:
    """What is known of the store and of the language."""

    columns: Mapping[str, Sequence[str]]
    """Of each table."""
    macros: Sequence[str]
    keywords: Sequence[str]


class SqlCompleter(Completer):
    """Completes SQL, and the commands that begin with a dot."""

    def __init__(self, words: Words, commands: Mapping[str, Sequence[str]]) -> None:
        """`commands` are those of the shell, with what may stand behind each."""
        self._words = words
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What fits before the cursor."""
        text = document.text_before_cursor
        if text.startswith("."):
            yield from self._of_command(text)
            return
        behind = _BEHIND_TABLE.search(text)
        if behind is not None:
            yield from _beginning_with(behind[2], self._words.columns.get(behind[1].lower(), ()), "column")
            return
        word = _WORD.search(text)
        if word is None:
            return
        used = [table for table in self._words.columns if re.search(rf"\b{table}\b", document.text, re.IGNORECASE)]
        columns = dict.fromkeys(
            column for table in used or self._words.columns for column in self._words.columns[table]
        )
        yield from _beginning_with(word[0], list(columns), "column")
        yield from _beginning_with(word[0], list(self._words.columns), "table")
        yield from _beginning_with(word[0], self._words.macros, "macro")
        yield from _beginning_with(word[0], self._words.keywords, "keyword")

    def _of_command(self, text: str) -> Iterator[Completion]:
        command, space, rest = text.partition(" ")
        if space:
            yield from _beginning_with(rest, self._commands.get(command, ()), "")
        else:
            yield from _beginning_with(command, list(self._commands), "")


def _beginning_with(start: str, words: Iterable[str], kind: str) -> Iterator[Completion]:
    for word in words:
        if word.lower().startswith(start.lower()) and word != start:
            yield Completion(word, start_position=-len(start), display_meta=kind)
