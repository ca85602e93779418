"""`spanscore sql`: any question, read only."""

from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Result, StoreOption
from spanscore.errors import UsageError

_TABLE_LIMIT = 200


def sql(
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="One SELECT.", show_default=False)] = None,
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[
        Path | None,
        typer.Option("-f", "--file", metavar="FILE", help="Read the query from a file; - is standard input."),
    ] = None,
    output_format: Annotated[Result, typer.Option("--format", help="Form of the rows.")] = Result.TABLE,
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write to a file.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Rows to give at most.  [default: 200 for a table, else all]"),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.001, metavar="S", help="Seconds that the query may run.")] = 60.0,
    csv_raw: CsvRawOption = False,
) -> None:
    """Ask the store anything in SQL, read only.

    The SQL is that of DuckDB; one SELECT reads the store and reaches no file, network or setting. It may call the
    macros of evaluators, such as safe_ratio.

    JSON is one array of row objects: integers and decimals are exact, moments are ISO 8601 in UTC, nested and JSON
    columns are nested, and a number that is not finite is null.

    \b
    Examples:
      spanscore sql "select status, count(*) from runs group by all"
      spanscore sql "describe runs"
      spanscore sql -f question.sql --format csv --output answer.csv
      spanscore sql "from llm_calls" --format parquet --output llm_calls.parquet
    """
    from spanscore.store.contained.process import Worker

    text = _query_text(query, file)
    with Worker() as worker:
        # While it starts, this process imports the rest.
        worker.start()

        from spanscore.evaluate.macros import macros_used
        from spanscore.report.result import write_parquet, write_result
        from spanscore.store.contained.query import contained_arrow_query, contained_query

        if limit is None and output_format is Result.TABLE:
            limit = _TABLE_LIMIT
        macros = macros_used(text)
        if output_format is Result.PARQUET:
            arrow = contained_arrow_query(worker, store, text, timeout_s=timeout, limit=limit, macros=macros)
            write_parquet(arrow, output=output)
            return
        result = contained_query(worker, store, text, timeout_s=timeout, limit=limit, macros=macros)
        write_result(result, output_format, output=output, csv_raw=csv_raw)


def _query_text(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise UsageError("Give one query: as an argument, or in a file with -f FILE.")
    if query is not None:
        return query
    assert file is not None
    try:
        return typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` cannot be read: {error}") from error
