"""Text from traces on a terminal. A trace is written by strangers: a name may hold an escape sequence that clears the
screen, writes to the clipboard or reverses what is read. Every such character is shown, never sent.
"""

import os
import re
import sys
from typing import IO, Any

from rich.console import Console
from rich.text import Text

# C0 and C1 controls and DEL; format characters that are not seen (soft hyphen, zero-width, bidirectional marks,
# embeddings, overrides and isolates, language tags, annotation marks); fillers that are blank by design; lone
# surrogates; line separators.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_UNSAFE_BUT_LINES = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# A pipe has no width; COLUMNS overrides it [columns].
WIDTH_WITHOUT_TERMINAL = 100
# Notes and errors, which programs search and users copy commands from, are lines of any length there [columns].
_WIDTH_OF_NOTES = 400


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def safe_text(value: str, *, keep_lines: bool = False) -> str:
    """`value` with every character that a terminal obeys, or a reader cannot see, written as `\\x1b`, `\\u202e`, ….

    Args:
        value: text from anywhere.
        keep_lines: leave newlines and tabs as they are (for text printed as a block).
    """
    return (_UNSAFE_BUT_LINES if keep_lines else _UNSAFE).sub(_escape, value)


def safe_json(document: str) -> str:
    """JSON text that means the same, with what a terminal obeys or a reader cannot see as JSON's own escapes."""
    return _UNSAFE_BUT_LINES.sub(_json_escape, document)


def _json_escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def shorten(value: str, limit: int) -> str:
    """At most `limit` characters of `value` on one line, ending in `…` when something was cut.

    White space is folded first, but only in the part that can be printed: a value may be megabytes long.
    """
    folded = " ".join(value[: 2 * limit + 64].split())
    if len(folded) <= limit and len(value) <= 2 * limit + 64:
        return folded
    return folded[: max(limit - 1, 0)].rstrip() + "…"


def cut(value: str, limit: int) -> str:
    """`value`, or its first `limit` characters and how many there are in all [characters]."""
    return value if len(value) <= limit else f"{value[:limit]}… ({len(value):,} characters)"


def plain(value: object, style: str = "", *, keep_lines: bool = False) -> Text:
    """`value` as rich Text: escaped, and never read as markup; None is shown as a dim dash."""
    if value is None:
        return Text("-", style="dim")
    return Text(safe_text(str(value), keep_lines=keep_lines), style=style)


class TextConsole(Console):
    """A console that, where it `is_piped`, neither breaks lines of text nor cuts tables that are wider than it.

    Whoever reads there copies commands and searches lines, or obeys them: a service that runs checks takes a line that
    begins with `::` for a command, and no name may come to begin one.
    """

    def __init__(self, *, is_piped: bool, **options: Any) -> None:
        super().__init__(**options)
        self.is_piped = is_piped

    def print(self, *objects: Any, **options: Any) -> None:
        """As of rich."""
        if self.is_piped:
            options.setdefault("crop", False)
            if all(isinstance(one, str | Text) for one in objects):
                options["soft_wrap"] = True
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Let the command line decide what a closed pipe means, instead of leaving with a gate's exit code."""
        raise BrokenPipeError


def console(stream: IO[str] | None = None) -> TextConsole:
    """A console on `stream` (standard output) that reads no markup and no emoji codes in what it prints.

    Where it is no terminal, tables have the room of `COLUMNS`, 100 without it.
    """
    target = sys.stdout if stream is None else stream
    return _console(target, is_piped=not target.isatty(), otherwise=WIDTH_WITHOUT_TERMINAL)


def error_console() -> TextConsole:
    """A console on standard error, for progress and notes; lines are left whole."""
    return _console(sys.stderr, is_piped=False, otherwise=_WIDTH_OF_NOTES)


def _console(target: IO[str], *, is_piped: bool, otherwise: int) -> TextConsole:
    width = None if target.isatty() or os.environ.get("COLUMNS") else otherwise
    return TextConsole(
        is_piped=is_piped, file=target, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False
    )
