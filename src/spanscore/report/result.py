"""The result of a user's query: as a table, JSON, CSV or Parquet, on standard output or in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.report.documents import as_text, write_csv
from spanscore.report.json_rows import json_array
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain, safe_json, shorten

if TYPE_CHECKING:
    import pyarrow as pa

    from spanscore.store import QueryResult

_CELL_LIMIT = 120
_ROWS_AT_A_TIME = 1_000
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def write_result(
    result: QueryResult, form: str, *, timeout_s: float, output: Path | None = None, csv_raw: bool = False
) -> None:
    """Write the rows as `table`, `json` or `csv`; on standard error tell where the limit cut them.

    Args:
        result: rows are fetched as they are written.
        form: see above.
        timeout_s: how long fetching some rows may take [s]; whoever reads the output may take as long as he likes.
        output: a file; None = standard output.
        csv_raw: write texts that begin like a formula as they are.
    """
    names = [column.name for column in result.columns]
    rows = _fetched(result.rows, timeout_s)
    with _text_destination(output) as stream:
        if form == "json":
            for piece in json_array(names, [column.type for column in result.columns], rows):
                stream.write(safe_json(piece))
        elif form == "csv":
            write_csv(stream, names, rows, raw=csv_raw)
        else:
            _write_table(stream, result, rows)
    if result.is_truncated:
        error_console().print("There are more rows; --limit N gives more.", style="dim", soft_wrap=True)


def write_parquet(table: pa.Table, *, output: Path | None) -> None:
    """Write the rows as Parquet.

    Raises:
        UsageError: it would go to a terminal, or the file cannot be written.
    """
    import pyarrow.parquet as pq

    if output is None:
        if sys.stdout.isatty():
            raise UsageError("Parquet is not for terminals.\n  Name a file with --output FILE, or redirect the output.")
        pq.write_table(table, sys.stdout.buffer, compression="zstd")
        return
    with _replacing(output) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _fetched(rows: Iterator[tuple[Any, ...]], timeout_s: float) -> Iterator[tuple[Any, ...]]:
    from spanscore.store import contained

    while True:
        with contained(timeout_s):
            some = list(islice(rows, _ROWS_AT_A_TIME))
        if not some:
            return
        yield from some


@contextmanager
def _text_destination(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    with _replacing(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        yield stream


@contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """A file beside `output` that takes its place when all went well: a query that fails leaves nothing behind."""
    temporary = output.with_name(f".{output.name}.tmp")
    try:
        yield temporary
        temporary.replace(output)
    except OSError as error:
        raise UsageError(f"`{output}` cannot be written: {error.strerror}.\n  Name another --output FILE.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _write_table(stream: IO[str], result: QueryResult, fetched: Iterator[tuple[Any, ...]]) -> None:
    rows = [dict(enumerate(row)) for row in fetched]
    columns = [
        Column(column.name, _cell_of(index), right=column.type.removeprefix("U").startswith(_NUMBERS))
        for index, column in enumerate(result.columns)
    ]
    out = console(stream)
    out.print(grid(rows, columns))
    out.print(plain(f"{len(rows):,} row{'' if len(rows) == 1 else 's'}", "dim"))


def _cell_of(index: int) -> Any:
    def cell(row: dict[int, Any]) -> object:
        value = row[index]
        return None if value is None else shorten(as_text(value), _CELL_LIMIT)

    return cell
