"""Rows as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.terminal import plain, shorten

if TYPE_CHECKING:
    from rich.table import Table

# Between two columns, and what a flexible one is given at least [columns].
_GAP = 2
_LEAST_FLEXIBLE = 12


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
    limit: int | None = None


def grid(
    rows: Sequence[dict[Any, Any]], columns: Sequence[Column], *, title: str | None = None, width: int | None = None
) -> Table:
    """`rows` under `columns`, without lines that cost room.

    Args:
        rows: one per line.
        columns: from left to right; of these one may be flexible.
        title: stands above it.
        width: what the table may take [columns]; the flexible column gets what the others leave of it.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    cells = [[_cell(column, row) for column in columns] for row in rows]
    headings = [plain(column.heading, "bold") for column in columns]
    taken = sum(
        max(text.cell_len for text in (headings[index], *(line[index] for line in cells))) + _GAP
        for index, column in enumerate(columns)
        if not column.flexible
    )
    table = Table(
        title=None if title is None else plain(title, "bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column, heading in zip(columns, headings, strict=True):
        table.add_column(
            heading,
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=max(width - taken, _LEAST_FLEXIBLE) if column.flexible and width is not None else None,
        )
    for line in cells:
        table.add_row(*line)
    return table


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


def counted(key: str, heading: str | None = None) -> Column:
    """A right-aligned column that shows the whole number in `key`."""
    return Column(heading or key, lambda row: figures.count(row[key]), right=True)


def timed(key: str, heading: str) -> Column:
    """A right-aligned column that shows the duration in `key` [s]."""
    return Column(heading, lambda row: figures.duration(row[key]), right=True)
