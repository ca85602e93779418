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

_CELL_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading and how a cell is made from a row."""

    heading: str
    cell: Callable[[dict[str, Any]], object]
    style: str = ""
    right: bool = False
    # Left out where the terminal is narrow.
    wide: bool = False
    # Takes the room that is left, and is cut with an ellipsis when there is too little.
    flexible: bool = False
    limit: int | None = None


def grid(rows: Sequence[dict[str, Any]], columns: Sequence[Column], *, title: str | None = None) -> Table:
    """`rows` under `columns`, without lines that cost room."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD,
        title=None if title is None else plain(title, "bold"),
        title_justify="left",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1),
    )
    for column in columns:
        table.add_column(
            plain(column.heading, "bold"),
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if column.flexible else None,
        )
    for row in rows:
        table.add_row(*(_cell(column, row) for column in columns))
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


def result_table(names: Sequence[str], rows: Sequence[dict[str, Any]], *, numeric: frozenset[str]) -> Table:
    """The result of any query: every value as text, long ones cut, numbers to the right."""
    return grid(
        rows,
        [Column(name, _field(name), right=name in numeric) for name in (str(name) for name in names)],
    )


def _field(name: str) -> Callable[[dict[str, Any]], object]:
    def cell(row: dict[str, Any]) -> object:
        value = row[name]
        return value if value is None else shorten(str(value), _CELL_LIMIT)

    return cell
