"""`spanscore compare`: two or more experiments, paired by case."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.evaluate import split_words
from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, Form, FormOption, MetricOption, StoreOption

BaselineFileOption = Annotated[
    Path,
    typer.Option("--baseline", metavar="FILE", help="File of the baseline."),
]


def compare(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="A B…",
            help="Experiments: ids, variants (the newest of that variant), `latest` or `baseline`. All are compared"
            " with the first.",
            show_default=False,
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    metric: MetricOption = None,
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this suite alone.")] = None,
    baseline: BaselineFileOption = Path("spanscore-baseline.json"),
    allow_different_suites: Annotated[
        bool,
        typer.Option("--allow-different-suites", help="Pair cases by id although suites or their versions differ."),
    ] = False,
    output: FormOption = Form.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """Compare experiments with the first one, paired by case: every metric, every category, cost, time, what is noise.

    Repeats of a case count as one. A metric is called better or worse only where a test says so after adjustment for
    all the metrics looked at; name the few that matter with --metric and more can be seen. Nothing is gated here: the
    exit code is 0 whatever comes out.

    \b
    Examples:
      spanscore compare gpt-4o gpt-4o-mini
      spanscore compare baseline latest --metric task_completed,cost
      spanscore compare 2026-11-28-a 2026-11-29-a --format markdown > comparison.md
    """
    from spanscore.experiments.work import Place, compare_named
    from spanscore.report.comparison.compare import page_of
    from spanscore.report.comparison.show import print_page

    found = compare_named(
        Place(store=store, folder=Path.cwd(), now=datetime.now(UTC)),
        experiments,
        baseline_file=baseline,
        suite=suite,
        metrics=split_words(metric),
        allow_different_suites=allow_different_suites,
    )
    print_page(page_of(found), output, csv_raw=csv_raw)
