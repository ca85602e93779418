"""Options that several commands take, in one wording."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_STORE = Path("spanscore-store")

DEFAULT_MAX_TEXT = 1 << 20

MaxTextOption = Annotated[
    int,
    typer.Option(
        "--max-text",
        metavar="BYTES",
        min=256,
        help="Keep only the beginning of names and values that are longer, with a note of their length and SHA-256.",
    ),
]

STORE_KEY = "spanscore.store"


def store_directory(context: typer.Context, store: Path) -> Path:
    """The directory of the store, noted where the end of every command finds it: an error deep inside does not know it.

    Raises:
        UsageError: it is a file.
    """
    if store.is_file():
        from spanscore.errors import UsageError
        from spanscore.store.directory import store_option

        beside = f" It lies in one:  {store_option(store.parent)}" if store.suffix == ".duckdb" else ""
        raise UsageError(
            f"`{store}` is a file, and --store names a directory.{beside}\n"
            "  Name a directory: that of a store, or a new one for a new store."
        )
    context.meta[STORE_KEY] = store
    return store


StoreOption = Annotated[
    Path,
    typer.Option(
        "--store",
        metavar="DIR",
        envvar="SPANSCORE_STORE",
        callback=store_directory,
        help="Directory of the store.",
        show_envvar=True,
    ),
]

SinceOption = Annotated[
    str | None,
    typer.Option(metavar="AGE|TIME", help="Runs that began within an age (90m, 24h, 7d) or since a UTC date or time."),
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="AGE|TIME", help="Runs that began before that age, UTC date or time.")
]
ExperimentOption = Annotated[str | None, typer.Option(metavar="ID", help="Runs of this experiment.")]
ServiceOption = Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this service.")]


class Output(StrEnum):
    """Output for a person or for a program."""

    TEXT = "text"
    JSON = "json"


class Listing(StrEnum):
    """Output of a list."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class Form(StrEnum):
    """Form of a report."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"


class Result(StrEnum):
    """Output of a query."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


OutputOption = Annotated[
    Output,
    typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output."),
]
ListingOption = Annotated[
    Listing,
    typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output."),
]
FormOption = Annotated[
    Form,
    typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output."),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="ID,…",
        help="Metrics: ids of evaluators, `cost`, `run_duration`; may be repeated.",
        show_default=False,
    ),
]
CsvRawOption = Annotated[
    bool,
    typer.Option(
        "--csv-raw", help="CSV: write cells that begin with = + - @ as they are (a spreadsheet would run them)."
    ),
]
