"""JSON and CSV on standard output."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from typing import Any

from spanscore.report.rows import Row

# What a spreadsheet takes for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def print_json(document: object) -> None:
    """Print one JSON document, indented; a number that is not finite becomes null."""
    import orjson

    text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    sys.stdout.write(text.decode("utf-8"))


def print_csv(rows: Sequence[Row], columns: Sequence[str], *, raw: bool) -> None:
    """Print `rows` as CSV with a header line.

    A text cell that a spreadsheet would run as a formula gets a leading apostrophe, unless `raw`.
    """
    writer = csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([row[column] if raw else inert_cell(row[column]) for column in columns])


def inert_cell(value: Any) -> Any:
    """`value`, or for text that begins like a formula the same text behind an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
