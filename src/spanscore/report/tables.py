"""Rows as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.terminal import console, plain, shorten

if TYPE_CHECKING:
    from rich.table import Table

# Between two columns, and what a flexible one is given at least [columns].
_GAP = 2
_LEAST_FLEXIBLE = 12
# What a column of words keeps when the table is too wide [columns].
_LEAST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading and how a cell is made from a row."""

    heading: str
    cell: Callable[[dict[str, Any]], object]
    style: str = ""
    right: bool = False
    # Left out where less room than this is [columns].
    from_width: int = 0
    # Takes the room that is left, and is cut with an ellipsis when there is too little.
    flexible: bool = False
    # Never cut while words can be: ids and intervals. So are all columns to the right, which hold figures.
    whole: bool = False
    limit: int | None = None


def grid(
    rows: Sequence[dict[Any, Any]],
    columns: Sequence[Column],
    *,
    title: str | None = None,
    width: int | None = None,
    folds: bool | None = None,
) -> Table:
    """`rows` under `columns`, without lines that cost room.

    On a terminal words are cut where the room ends. Elsewhere they are folded, and a table of ids and figures that need
    more room takes it: nobody can make a pipe wider to read what was cut.

    Args:
        rows: one per line.
        columns: from left to right; of these one may be flexible.
        title: stands above it.
        width: what the table may take [columns]; the flexible column gets what the others leave of it. None = as much
            as standard output has.
        folds: whether words are folded; None = where standard output is no terminal.
    """
    from rich.box import SIMPLE_HEAD

    from spanscore.report.wide import WideTable

    out = console()
    room = out.width if width is None else width
    folds = out.is_piped if folds is None else folds
    columns = [column for column in columns if room >= column.from_width]
    cells = [[_cell(column, row) for column in columns] for row in rows]
    headings = [plain(column.heading, "bold") for column in columns]
    widths = [
        max(text.cell_len for text in (headings[index], *(line[index] for line in cells)))
        for index in range(len(columns))
    ]
    # Ids and names stay whole, to be found in the output; sentences may be folded anywhere.
    least = [0] * len(columns)
    if folds:
        least = [
            _LEAST_FLEXIBLE if column.flexible else _longest_word([headings[index], *(line[index] for line in cells)])
            for index, column in enumerate(columns)
        ]
        # Whole, flexible or not: a service that runs checks takes a line that begins with `::` for a command.
        least[:1] = widths[:1]
    limits = _fitting(widths, columns, room, least)
    table = WideTable(
        needed=sum(limits) + _GAP * (len(limits) - 1) if folds else 0,
        title=None if title is None else plain(title, "bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column, heading, limit in zip(columns, headings, limits, strict=True):
        table.add_column(
            heading,
            justify="right" if column.right else "left",
            no_wrap=not folds,
            overflow="fold" if folds else "ellipsis",
            max_width=limit,
        )
    for line in cells:
        table.add_row(*line)
    return table


def _fitting(widths: Sequence[int], columns: Sequence[Column], room: int, least: Sequence[int]) -> list[int]:
    """The widths at which the columns fit into `room`, if words can make that much way; never below the `least`.

    A figure that is cut is another figure, and a duration without its unit too: only words are, the flexible ones first
    and then the longest.
    """
    limits = list(widths)
    excess = sum(limits) + _GAP * (len(limits) - 1) - room
    for index, column in enumerate(columns):
        if column.flexible:
            way = min(max(excess, 0), max(limits[index] - max(_LEAST_FLEXIBLE, least[index]), 0))
            limits[index] -= way
            excess -= way
    words = [index for index, column in enumerate(columns) if not column.right and not column.whole]
    while excess > 0:
        yielding = [index for index in words if limits[index] > max(_LEAST_WORDS, least[index])]
        if not yielding:
            break
        limits[max(yielding, key=lambda index: limits[index])] -= 1
        excess -= 1
    return limits


def _longest_word(texts: Iterable[Text]) -> int:
    return max((len(word) for text in texts for word in text.plain.split()), default=0)


def _cell(column: Column, row: dict[str, Any]) -> Text:
    value = column.cell(row)
    if isinstance(value, Text):
        return value
    if isinstance(value, str) and column.limit is not None:
        value = shorten(value, column.limit)
    return plain(value, column.style)


def named(key: str, heading: str | None = None, *, limit: int | None = None, style: str = "") -> Column:
    """A text column that shows the field `key`."""
    return Column(heading or key, lambda row: row[key], limit=limit, style=style)


def counted(key: str, heading: str | None = None, *, from_width: int = 0) -> Column:
    """A right-aligned column that shows the whole number in `key`, where there is room of `from_width` [columns]."""
    return Column(heading or key, lambda row: figures.count(row[key]), right=True, from_width=from_width)


def timed(key: str, heading: str) -> Column:
    """A right-aligned column that shows the duration in `key` [s]."""
    return Column(heading, lambda row: figures.duration(row[key]), right=True)
