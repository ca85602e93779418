"""Prints pages and gate reports, and writes the same report in other forms to files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import UsageError
from spanscore.report.comparison import gate as gates
from spanscore.report.comparison.page import write_page

if TYPE_CHECKING:
    from spanscore.experiments.gate import GateReport
    from spanscore.report.comparison.page import Page

_GATE_FORMS: dict[str, Callable[[GateReport], str]] = {"junit": gates.junit, "github": gates.github}
PAGE_FORMS = ("table", "json", "markdown", "csv")


def print_page(page: Page, form: str, *, csv_raw: bool = False) -> None:
    """Print a page as `table`, `json`, `markdown` or `csv`."""
    write_page(sys.stdout, page, form, csv_raw=csv_raw)


def print_gate(report: GateReport, form: str, *, csv_raw: bool = False, also: Sequence[tuple[str, Path]] = ()) -> None:
    """Print a gate's report in one form, and add it in others to the end of files.

    Args:
        report: what to print.
        form: as for pages, or `junit` or `github`.
        csv_raw: write CSV cells that begin like a formula as they are.
        also: forms and files. Markdown is added to the end of its file, as GitHub's step summaries are made.

    Raises:
        UsageError: a file cannot be written.
    """
    for other, path in also:
        text = _gate_text(report, other, csv_raw=csv_raw)
        try:
            with path.open("a" if other == "markdown" else "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise UsageError(f"`{path}` cannot be written: {error.strerror}.\n  Name another file.") from error
    if form in _GATE_FORMS:
        sys.stdout.write(_GATE_FORMS[form](report))
    else:
        write_page(sys.stdout, gates.page_of(report), form, csv_raw=csv_raw)


def _gate_text(report: GateReport, form: str, *, csv_raw: bool) -> str:
    if form in _GATE_FORMS:
        return _GATE_FORMS[form](report)
    stream = StringIO()
    write_page(stream, gates.page_of(report), form, csv_raw=csv_raw)
    return stream.getvalue()
