"""A page of sentences and tables, and its forms. No text from a trace or a file is obeyed in any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from spanscore.experiments.figures import Bounds
from spanscore.report.documents import json_text, write_csv
from spanscore.report.evaluation import score
from spanscore.report.figures import UNKNOWN
from spanscore.report.scorecard.markdown import escape, escape_line, table_lines
from spanscore.report.scorecard.table import interval_text
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, cut, plain, shorten

# Names and sentences are cut beyond this [characters].
NAME_LIMIT = 40
TEXT_LIMIT = 400

_STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "undecidable": "bold yellow",
    "regression": "bold red",
    "worse": "bold red",
    "better": "bold green",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One table: a title, headings, and rows of texts. The columns in `right` hold numbers."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int] = frozenset()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a command says: a heading, what to know, tables; the same as one flat table, and as a document.

    Attributes:
        verdict: shown first and coloured; None = there is none.
        flat: headings and rows with exact numbers, for CSV.
        document: for JSON.
    """

    heading: str
    subtitle: str
    verdict: str | None = None
    findings: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    flat_columns: Sequence[str] = ()
    flat_rows: Sequence[Sequence[Any]] = ()
    document: dict[str, Any] = field(default_factory=dict)


def write_page(stream: IO[str], page: Page, form: str, *, csv_raw: bool = False) -> None:
    """Write a page as `table`, `json`, `markdown` or `csv`."""
    if form == "json":
        stream.write(json_text(page.document))
    elif form == "csv":
        rows = [[cut(cell, 500) if isinstance(cell, str) else cell for cell in row] for row in page.flat_rows]
        write_csv(stream, page.flat_columns, rows, raw=csv_raw)
    elif form == "markdown":
        stream.write("\n".join(_markdown(page)).rstrip() + "\n")
    else:
        _write_table(stream, page)


def _write_table(stream: IO[str], page: Page) -> None:
    out = console(stream)
    if page.verdict is not None:
        out.print(plain(page.verdict.upper(), _STYLES.get(page.verdict, "bold")))
    out.print(plain(shorten(page.heading, TEXT_LIMIT), "bold"), soft_wrap=True)
    if page.subtitle:
        out.print(plain(shorten(page.subtitle, TEXT_LIMIT), "dim"), soft_wrap=True)
    for finding in page.findings:
        out.print(plain(f" - {shorten(finding, TEXT_LIMIT)}"), soft_wrap=True)
    for sheet in page.sheets:
        if sheet.rows:
            out.print()
            out.print(plain(sheet.title, "bold"))
            rows = [dict(enumerate(row)) for row in sheet.rows]
            columns = [
                Column(shorten(heading, NAME_LIMIT), _cell(index), right=index in sheet.right)
                for index, heading in enumerate(sheet.headings)
            ]
            out.print(grid(rows, columns, width=out.width))
        for note in sheet.notes:
            out.print(plain(shorten(note, TEXT_LIMIT), "dim"), soft_wrap=True)


def _cell(index: int) -> Any:
    def cell(row: dict[int, str]) -> object:
        text = shorten(row[index], TEXT_LIMIT)
        return plain(text, _STYLES[text]) if text in _STYLES else text

    return cell


def _markdown(page: Page) -> Iterator[str]:
    verdict = "" if page.verdict is None else f"{page.verdict.upper()}: "
    yield f"# {escape(verdict + page.heading)}"
    yield ""
    if page.subtitle:
        yield escape(page.subtitle)
        yield ""
    for finding in page.findings:
        yield f"- {escape_line(shorten(finding, TEXT_LIMIT))}"
    if page.findings:
        yield ""
    for sheet in page.sheets:
        if sheet.rows:
            yield f"## {escape(sheet.title)}"
            yield ""
            yield from table_lines(sheet.headings, sheet.rows)
        for note in sheet.notes:
            yield escape_line(shorten(note, TEXT_LIMIT))
            yield ""


def name_of(value: str) -> str:
    """A name from a trace or file, short enough for a table."""
    return shorten(value, NAME_LIMIT)


def with_interval(value: float | None, interval: Bounds | None, unit: str) -> str:
    """A figure and its interval; a dash for none."""
    return UNKNOWN if value is None else f"{score(value, unit)} {interval_text(interval, unit)}".rstrip()


def difference_text(value: float | None, interval: Bounds | None, unit: str) -> str:
    """A difference with its sign, and its interval."""
    if value is None:
        return UNKNOWN
    ends = "" if interval is None else f" [{', '.join(_signed(end, unit) for end in interval)}]"
    return _signed(value, unit) + ends


def _signed(value: float | None, unit: str) -> str:
    if value is None:
        return "…"
    amount = score(abs(value), unit)
    # What rounds to zero has no sign: `-0.000` would claim a direction.
    sign = "" if not any(digit in amount for digit in "123456789") else "-" if value < 0 else "+"
    return f"{sign}{amount}"


def commit_text(commit: str | None) -> str:
    """The beginning of a commit."""
    return UNKNOWN if commit is None else commit[:10]
