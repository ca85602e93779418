"""The result of a user's query: as a table, JSON, CSV or Parquet, on standard output or in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.report.documents import as_text, write_csv
from spanscore.report.json_rows import json_array
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain, safe_json, shorten
from spanscore.wording import counted

if TYPE_CHECKING:
    from spanscore.store.result import ArrowResult, QueryResult

_CELL_LIMIT = 120
# Of a Parquet row group.
_GROUP_ROWS = 120_000
_GROUP_BYTES = 64 << 20
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def write_result(
    result: QueryResult, form: str, *, output: Path | None = None, csv_raw: bool = False, more: str = "--limit N"
) -> None:
    """Write the rows as `table`, `json` or `csv`; on standard error tell where the limit cut them.

    Args:
        result: rows are fetched as they are written.
        form: see above.
        output: a file; None = standard output.
        csv_raw: write texts that begin like a formula as they are.
        more: what gives the rows that the limit cut.
    """
    names = [column.name for column in result.columns]
    rows = result.rows
    with _text_destination(output) as stream:
        if form == "json":
            for piece in json_array(names, [column.type for column in result.columns], rows):
                stream.write(safe_json(piece))
        elif form == "csv":
            write_csv(stream, names, rows, raw=csv_raw)
        else:
            _write_table(stream, result, rows)
    if result.is_truncated:
        error_console().print(plain(f"There are more rows; {more} gives more."), style="dim", soft_wrap=True)


def write_parquet(result: ArrowResult, *, output: Path | None) -> None:
    """Write the rows as Parquet, as they come.

    Raises:
        UsageError: it would go to a terminal, or the file cannot be written.
    """
    if output is None:
        if sys.stdout.isatty():
            raise UsageError("Parquet is not for terminals.\n  Name a file with --output FILE, or redirect the output.")
        # A reader of the pipe could not tell half a file from a whole one.
        with TemporaryFile() as whole:
            _write_batches(result, whole)
            whole.seek(0)
            copyfileobj(whole, sys.stdout.buffer)
        return
    with _replacing(output) as temporary:
        _write_batches(result, temporary)


def _write_batches(result: ArrowResult, destination: Path | IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(destination, result.schema, compression="zstd") as writer:
        group: list[pa.RecordBatch] = []
        for batch in result.batches:
            group.append(batch)
            if sum(one.num_rows for one in group) >= _GROUP_ROWS or sum(one.nbytes for one in group) >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(group))
                group = []
        if group:
            writer.write_table(pa.Table.from_batches(group))


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
    out.print(grid(rows, columns, width=out.width, folds=out.is_piped))
    out.print(plain(counted(len(rows), "row"), "dim"))


def _cell_of(index: int) -> Any:
    def cell(row: dict[int, Any]) -> object:
        value = row[index]
        return None if value is None else shorten(as_text(value), _CELL_LIMIT)

    return cell
