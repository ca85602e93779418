"""`spanscore history`: the figures of a suite over time, in a file for version control."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.evaluate import split_words
from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Form, FormOption, MetricOption, StoreOption


def history(
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[
        Path, typer.Option("--file", metavar="FILE", help="The history, to be kept in version control.")
    ] = Path("spanscore-history.json"),
    add: Annotated[
        str | None,
        typer.Option(
            metavar="EXPERIMENT", help="Add this experiment first: an id, a variant or `latest`.", show_default=False
        ),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(metavar="NAME", help="This suite.  [default: that of the latest]")
    ] = None,
    metric: MetricOption = None,
    last: Annotated[int, typer.Option(min=1, metavar="N", help="Experiments to list.")] = 20,
    output: FormOption = Form.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """Show where every metric of a suite goes: latest value, change, curve, and an alert where the trend is bad.

    Adding an experiment again replaces it. Values of another version of the suite or of an evaluator are never mixed
    with the latest ones. The store is read only for --add.

    \b
    Examples:
      spanscore history --add latest
      spanscore history --metric task_completed,cost
      spanscore history --format json | jq .alerts
    """
    from spanscore.experiments.work import Place, look_back
    from spanscore.report.comparison.history import page_of
    from spanscore.report.comparison.show import print_page

    shown, entries = look_back(
        Place(store=store, folder=Path.cwd(), now=datetime.now(UTC)),
        file=file,
        add=add,
        suite=suite,
        metrics=split_words(metric),
        last=last,
    )
    print_page(page_of(shown, entries=len(entries)), output, csv_raw=csv_raw)
