"""`spanscore baseline`: the experiments that others are judged by, in a file for version control."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.evaluate import split_words
from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Form, FormOption, StoreOption

app = typer.Typer(
    help="The baseline of a suite: at least three experiments that others are judged by.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FileOption = Annotated[Path, typer.Option("--file", metavar="FILE", help="The file, to be kept in version control.")]
DEFAULT_FILE = Path("spanscore-baseline.json")


@app.command("set")
def set_(
    experiments: Annotated[
        list[str],
        typer.Argument(metavar="EXPERIMENT…", help="Ids of experiments, at least three.", show_default=False),
    ],
    store: StoreOption = DEFAULT_STORE,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,…",
            help="Metrics that `spanscore gate` judges; may be repeated. The fewer, the fewer false alarms.  [default:"
            " the usual ones]",
            show_default=False,
        ),
    ] = None,
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this suite alone.")] = None,
    file: FileOption = DEFAULT_FILE,
    output: FormOption = Form.TABLE,
) -> None:
    """Make experiments of one suite the baseline: their figures and scores by case go into a file.

    Fewer than three can be written, but the gate is undecidable until there are three, and ten make it far less prone
    to false alarms.

    \b
    Examples:
      spanscore baseline set 2026-11-27-a 2026-11-28-a 2026-11-29-a
      spanscore baseline set a b c --gate task_completed,numbers_grounded --gate cost
    """
    from spanscore.experiments.work import Place, set_baseline
    from spanscore.report.comparison.gate import baseline_page
    from spanscore.report.comparison.show import print_page

    place = Place(store=store, folder=Path.cwd(), now=datetime.now(UTC))
    made = set_baseline(place, experiments, file=file, suite=suite, gated=split_words(gate))
    print_page(baseline_page(made), output)


@app.command()
def show(file: FileOption = DEFAULT_FILE, output: FormOption = Form.TABLE, csv_raw: CsvRawOption = False) -> None:
    """Show the baseline: its experiments, mean and deviation of every metric, and what a gate lets pass.

    \b
    spanscore baseline show
    """
    from spanscore.experiments.baseline import read_baseline
    from spanscore.report.comparison.gate import baseline_page
    from spanscore.report.comparison.show import print_page

    print_page(baseline_page(read_baseline(file)), output, csv_raw=csv_raw)
