"""`spanscore sql`: any question, read only."""

import sys
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
    example: Annotated[str | None, typer.Option(metavar="NAME", help="Run a saved query.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the saved queries and what they answer.")] = False,
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

    Without a query: a shell with history and completion on a terminal; elsewhere the query is read from standard input.

    The SQL is that of DuckDB; one SELECT reads the store and reaches no file, network or setting. It may call the
    macros of evaluators, such as safe_ratio.

    JSON is one array of row objects: integers and decimals are exact, moments are ISO 8601 in UTC, nested and JSON
    columns are nested, and a number that is not finite is null.

    \b
    Examples:
      spanscore sql
      spanscore sql "select status, count(*) from runs group by all"
      spanscore sql "describe runs"
      spanscore sql --example slowest_tools
      spanscore sql -f question.sql --format csv --output answer.csv
      spanscore sql "from llm_calls" --format parquet --output llm_calls.parquet
    """
    if list_:
        from spanscore.report.examples import print_examples

        print_examples(output_format)
        return

    from spanscore.store.contained.process import Worker

    given = [word for word in (query, file, example) if word is not None]
    if len(given) > 1:
        raise UsageError("Give one query: as an argument, in a file with -f FILE, or a saved one with --example NAME.")
    with Worker() as worker:
        # While it starts, this process imports the rest.
        worker.start()
        if not given and sys.stdin.isatty() and sys.stdout.isatty():
            from spanscore.shell.shell import FORMS, Shell

            Shell(store, worker, timeout_s=timeout, form=output_format if output_format in FORMS else "table").run()
            return

        from spanscore.evaluate.macros import macros_used
        from spanscore.report.result import write_parquet, write_result
        from spanscore.store.contained.query import contained_arrow_query, contained_query

        text = _query_text(query, file, example)
        if limit is None and output_format is Result.TABLE:
            limit = _TABLE_LIMIT
        macros = macros_used(text)
        if output_format is Result.PARQUET:
            arrow = contained_arrow_query(worker, store, text, timeout_s=timeout, limit=limit, macros=macros)
            write_parquet(arrow, output=output)
            return
        result = contained_query(worker, store, text, timeout_s=timeout, limit=limit, macros=macros)
        write_result(result, output_format, output=output, csv_raw=csv_raw)


def _query_text(query: str | None, file: Path | None, example: str | None) -> str:
    if query is not None:
        return query
    if example is not None:
        from spanscore.store.examples import example as saved

        return saved(example).sql
    try:
        if file is None or str(file) == "-":
            return typer.get_text_stream("stdin").read()
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{file or '-'}` is not UTF-8: {error.reason} at byte {error.start}.") from error
