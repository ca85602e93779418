"""Prints a report in the form that was asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from spanscore.report.documents import print_json, write_csv
from spanscore.report.scorecard.flat import COLUMNS, flat
from spanscore.report.scorecard.markdown import markdown
from spanscore.report.scorecard.table import print_table

if TYPE_CHECKING:
    from spanscore.report.scorecard.model import Report


def print_report(report: Report, form: str, *, group_by: list[str], csv_raw: bool = False) -> None:
    """Print a report as `table`, `json`, `markdown` or `csv`; `group_by` is for tables and Markdown."""
    if form == "json":
        print_json(report.as_json())
    elif form == "csv":
        write_csv(sys.stdout, COLUMNS, flat(report), raw=csv_raw)
    elif form == "markdown":
        sys.stdout.write(markdown(report, group_by))
    else:
        print_table(report, group_by)
