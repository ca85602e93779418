"""The answer of `spanscore stats` for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.tables import Column, counted, grid, named
from spanscore.report.terminal import console, plain

if TYPE_CHECKING:
    from collections.abc import Callable


def print_usage(document: dict[str, Any], form: str, *, limit: int) -> None:
    """Print the room that a store takes as `text` or `json`; `text` has the `limit` largest tables and last days."""
    if form == "json":
        print_json(document)
        return
    out = console()
    database, archive, spool = document["database"], document["archive"], document["spool"]
    facts = {
        "store": document["store"],
        "database": _sentence(
            f"{figures.size(database['bytes'])}, {figures.size(database['free_bytes'])} of it free, ",
            f"log {figures.size(database['wal_bytes'])}; {figures.counted(database['spans'], 'span')}, ",
            f"{_bytes(database['raw_bytes_per_span'])} each and {_bytes(database['bytes_per_span'])} with all tables",
        ),
        "archive": _sentence(
            f"{figures.size(archive['bytes'])} in {figures.counted(archive['files'], 'file')}; ",
            f"{figures.counted(archive['spans'], 'span')}, {_bytes(archive['bytes_per_span'])} each",
        ),
        "spool": _sentence(
            f"{figures.size(spool['waiting_bytes'])} wait, ",
            f"{figures.size(spool['kept_bytes'])} are kept after loading, ",
            f"{figures.size(spool['quarantine_bytes'])} could not be read",
        ),
    }
    for label, value in facts.items():
        out.print(Text(f"{label:<10}", style="bold").append_text(plain(value)), soft_wrap=True)
    per_row = Column("per row", lambda row: _bytes(row["bytes_per_row"]), right=True)
    out.print()
    tables = [row for row in database["tables"] if row["bytes"]][:limit]
    out.print(grid(tables, [named("table"), counted("rows"), _sized("bytes", "size"), per_row]))
    for rows, columns in (
        (
            document["days"][-limit:],
            [named("day"), counted("traces"), counted("spans"), counted("archived_spans", "archived")],
        ),
        (
            document["largest_traces"],
            [named("trace_id", "largest traces"), counted("spans"), named("service_name", "service")],
        ),
        (
            document["services"],
            [named("service_name", "service"), counted("traces"), counted("spans")],
        ),
        (
            document["attributes"],
            [named("key", "attribute"), counted("values"), _sized("bytes", "size in the sample")],
        ),
    ):
        if rows:
            out.print()
            out.print(grid(rows, columns))


def _sentence(*parts: str) -> str:
    return "".join(parts)


def _sized(key: str, heading: str) -> Column:
    value: Callable[[dict[str, Any]], str] = lambda row: figures.size(row[key])  # noqa: E731 - a column takes a function
    return Column(heading, value, right=True)


def _bytes(amount: float | None) -> str:
    return figures.UNKNOWN if amount is None else f"{amount:,.0f} B"
