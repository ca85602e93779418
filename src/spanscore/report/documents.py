"""JSON and CSV: exact for programs, and letters only for terminals."""

from __future__ import annotations

import base64
import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import IO, Any

from spanscore.report.rows import Row
from spanscore.report.terminal import safe_json, safe_text

# What a spreadsheet takes for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def print_json(document: object) -> None:
    """Print one JSON document, indented, on standard output."""
    sys.stdout.write(json_text(document))


def json_text(document: object) -> str:
    """One JSON document, indented, that no terminal obeys."""
    return safe_json(json.dumps(_json_value(document), ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def print_csv(rows: Sequence[Row], columns: Sequence[str], *, raw: bool) -> None:
    """Print the `columns` of `rows` as CSV on standard output, as `write_csv` does."""
    write_csv(sys.stdout, columns, ([row[column] for column in columns] for row in rows), raw=raw)


def write_csv(stream: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool) -> None:
    """Write a header line and one line per row; NULL is an empty cell.

    A text that a spreadsheet would run as a formula gets a leading apostrophe, unless `raw`.
    """
    writer = csv.writer(stream, lineterminator="\n")
    is_terminal = stream.isatty()
    for row in _chained(columns, rows):
        cells = [_csv_cell(value, raw=raw) for value in row]
        writer.writerow([safe_text(cell) for cell in cells] if is_terminal else cells)


def _chained(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    yield columns
    yield from rows


def _csv_cell(value: Any, *, raw: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) and not raw else value
    return as_text(value)


def as_text(value: Any) -> str:
    """A value of a query result as text: nested ones as JSON, booleans in lower case, bytes in base64."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | list | dict | bytes):
        plain = _json_value(value)
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return str(value)


def _json_value(value: Any) -> Any:
    """`value` as JSON can hold it: a number that is not finite becomes null, bytes base64, anything else its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {str(key): _json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value)
