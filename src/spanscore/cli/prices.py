"""`spanscore prices`: what models cost, and which models of the store have a price."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Listing, ListingOption, Output, OutputOption, StoreOption

app = typer.Typer(
    help="What models cost, and which models of the store have a price.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Your own prices as CSV; they win over the shipped list. "
        "Else $SPANSCORE_PRICES, else [prices] file of spanscore.toml.",
        show_default=False,
    ),
]
DayOption = Annotated[
    str | None,
    typer.Option("--date", metavar="DAY", help="Prices of this day (UTC), such as 2026-01-31; default: today."),
]


@app.command("list")
def list_(
    provider: Annotated[str | None, typer.Option(metavar="TEXT", help="Providers whose id contains this.")] = None,
    model: Annotated[str | None, typer.Option(metavar="TEXT", help="Models whose id contains this.")] = None,
    day: DayOption = None,
    prices: PricesOption = None,
    output: ListingOption = Listing.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """List models and their prices [USD per million tokens].

    A dash is no price of its own: cached tokens then cost as input, reasoning as output. `json` and `csv` have every
    price; service tiers, off-peak hours and history are in the store's table `model_prices`.

    \b
    spanscore prices list --model sonnet
    spanscore prices list --provider openai --date 2025-06-01 --format csv
    """
    from spanscore.report.prices import print_price_list
    from spanscore.store.prices import PRICE_LIST_COLUMNS, list_prices, price_session

    with price_session(_price_file(prices)) as con:
        rows = list_prices(con, provider=provider, model=model, day=_day(day))
    print_price_list(rows, output, columns=PRICE_LIST_COLUMNS, csv_raw=csv_raw)


@app.command()
def check(
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="A model name as in a trace; without it, those of the store."),
    ] = None,
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="The provider as in a trace.")] = None,
    service_tier: Annotated[
        str | None, typer.Option("--tier", metavar="NAME", help="Service tier: flex, priority, batch, fast.")
    ] = None,
    day: DayOption = None,
    prices: PricesOption = None,
    store: StoreOption = DEFAULT_STORE,
    output: OutputOption = Output.TEXT,
) -> None:
    """Tell how a model name is priced, or which models of the store are not and why.

    With MODEL the exit code is 1 when it has no price. Without it every LLM call of the store is priced anew with the
    prices of today's list and your file, at its own time; the store is not changed.

    \b
    spanscore prices check us.anthropic.claude-sonnet-4-5-20250929-v1:0 --provider aws.bedrock
    spanscore prices check --store ./my-store --prices my-prices.csv
    """
    from spanscore.report.prices import print_checked_model, print_checked_store
    from spanscore.store.prices import check_model, check_store, price_session

    with price_session(_price_file(prices)) as con:
        if model is None:
            from spanscore.store import read_session

            with read_session(store) as session:
                rows = check_store(con, session)
            print_checked_store(rows, output)
            return
        row = check_model(con, provider=provider, model=model, day=_day(day), service_tier=service_tier)
    print_checked_model(row, output, model=model)
    if row["unpriced_reason"] is not None:
        raise typer.Exit(1)


def _price_file(option: Path | None) -> Path | None:
    import os

    from spanscore.store.price_overrides import find_price_file

    return find_price_file(option, environ=os.environ, folder=Path.cwd())


def _day(text: str | None) -> date:
    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"`{text}` is no day; write it as 2026-01-31.", param_hint="--date") from error
