"""`spanscore export`: a copy for other tools."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import (
    DEFAULT_STORE,
    ExperimentOption,
    Output,
    OutputOption,
    SinceOption,
    StoreOption,
    UntilOption,
)
from spanscore.cli.traces import Source
from spanscore.errors import UsageError


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A new DuckDB file.", show_default=False)
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    parquet: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder, for a Parquet file of each table instead.")
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[Source | None, typer.Option(help="Benchmark runs carry a case id.")] = None,
    experiment: ExperimentOption = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="This trace or run; the beginning of its id is enough. May be repeated."),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Attributes as JSON, for tools that do not know DuckDB's VARIANT.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Copy the public tables, archived rows included, for other tools.

    A DuckDB file has the tables, types and comments of the store and needs nothing else. Parquet files, and a DuckDB
    file with --plain, have attributes as JSON. The copy is of one moment. With a filter it has the runs that pass,
    their traces whole, and their scores.

    \b
    Examples:
      spanscore export last-week.duckdb --since 7d
      spanscore export --parquet ./tables --experiment 3f2a
      spanscore export one.duckdb --trace 54611c32 --plain
    """
    from spanscore.report.progress import counting
    from spanscore.report.retention import print_exported
    from spanscore.report.runs import parse_since
    from spanscore.store.evaluation import Scope
    from spanscore.store.exporting import Selection, export_database, export_parquet

    now = datetime.now(UTC)
    scope = Scope(
        since=parse_since(since, now=now),
        until=parse_since(until, now=now, option="--until"),
        source=source,
        experiment=experiment,
    )
    selection = Selection(scope=scope, traces=tuple(trace or ()))
    with counting("copying tables") as done:
        if file is not None and parquet is None:
            tables = export_database(store, file, selection, is_plain=plain, replace=force, progress=done)
        elif file is None and parquet is not None:
            tables = export_parquet(store, parquet, selection, replace=force, progress=done)
        else:
            raise UsageError("Name one target: a DuckDB file, or a folder with --parquet DIR.")
    print_exported(file or parquet, tables, output)
