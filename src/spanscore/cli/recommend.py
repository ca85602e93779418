"""`spanscore recommend`: which variant to take."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Form, FormOption, StoreOption


class Profile(StrEnum):
    """What counts how much."""

    QUALITY_FIRST = "quality_first"
    BALANCED = "balanced"
    COST_FIRST = "cost_first"


def recommend(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT…]",
            help="Ids or variants.  [default: the newest of every variant]",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    profile: Annotated[Profile, typer.Option(help="What counts how much.")] = Profile.BALANCED,
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this suite alone.")] = None,
    accuracy: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Metric for tool accuracy.  [default: tool_set_match, else another that all have]",
            show_default=False,
        ),
    ] = None,
    output: FormOption = Form.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """Rank variants by a weighted score of completion, tool accuracy, time and cost; say whether the winner is noise.

    The Pareto front holds those that no other beats in everything. All figures are means over the cases that every
    variant has, failed runs included.

    \b
    Examples:
      spanscore recommend
      spanscore recommend gpt-4o gpt-4o-mini gpt-4.1-mini --profile quality_first
      spanscore recommend --profile cost_first --format json | jq .winner
    """
    from spanscore.experiments.work import Place, recommend_named
    from spanscore.report.comparison.recommend import page_of
    from spanscore.report.comparison.show import print_page

    place = Place(store=store, folder=Path.cwd(), now=datetime.now(UTC))
    found = recommend_named(place, experiments or [], profile=profile, suite=suite, accuracy=accuracy)
    print_page(page_of(found), output, csv_raw=csv_raw)
