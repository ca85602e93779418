"""`spanscore report`: what the scores of the store say, with their uncertainty."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import (
    DEFAULT_STORE,
    CsvRawOption,
    ExperimentOption,
    ServiceOption,
    SinceOption,
    StoreOption,
    UntilOption,
)
from spanscore.cli.traces import Source


class Form(StrEnum):
    """Form of the report."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"


class GroupBy(StrEnum):
    """What runs are grouped by."""

    CATEGORY = "category"
    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    VARIANT = "variant"
    DAY = "day"


def report(
    store: StoreOption = DEFAULT_STORE,
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this suite.")] = None,
    experiment: ExperimentOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[
        Source | None, typer.Option(help="Benchmark runs carry a case id; without this both are shown, apart.")
    ] = None,
    service: ServiceOption = None,
    group_by: Annotated[
        list[GroupBy] | None,
        typer.Option(
            help="Break the figures of a table or Markdown down by this; may be repeated. JSON and CSV have them all.  "
            "[default: category, agent]",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Form, typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output.")
    ] = Form.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """Report on the runs in the store: findings, metrics with intervals, time, cost, agents, handoffs, worst runs.

    Every figure says how many values it rests on, of how many, and how its 95% interval was made. Benchmark and
    production runs are never mixed in one figure. `spanscore evaluate` makes the scores.

    \b
    Examples:
      spanscore report
      spanscore report --suite support --group-by category --group-by tool
      spanscore report --since 24h --source production --format json | jq .findings
      spanscore report --experiment 2026-11-29-a --format markdown > report.md
    """
    from spanscore.report.runs import parse_since
    from spanscore.report.scorecard import ReportScope, read_report
    from spanscore.report.scorecard.show import print_report

    now = datetime.now(UTC)
    scope = ReportScope(
        since=parse_since(since, now=now),
        until=parse_since(until, now=now),
        source=source,
        suite=suite,
        experiment=experiment,
        service=service,
    )
    found = read_report(store, scope, now=now, folder=Path.cwd())
    groups = [str(group) for group in group_by or (GroupBy.CATEGORY, GroupBy.AGENT)]
    print_report(found, output, group_by=groups, csv_raw=csv_raw)
