"""`spanscore gate`: may this be released? The exit code says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanscore.cli.evaluate import split_words
from spanscore.cli.options import DEFAULT_STORE, CsvRawOption, MetricOption, StoreOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.experiments.gate import Bound

EXIT_OF_VERDICT = {"pass": 0, "fail": 1, "undecidable": 3}


class GateForm(StrEnum):
    """Form of a gate's report."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    CSV = "csv"
    JUNIT = "junit"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one metric from the command line."""

    min: float | None = None
    max: float | None = None


def gate(
    candidate: Annotated[
        str, typer.Argument(metavar="[EXPERIMENT]", help="Id or variant of what is judged; `latest` is the newest.")
    ] = "latest",
    store: StoreOption = DEFAULT_STORE,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Baseline to judge by.  [default: ./spanscore-baseline.json where there is one]",
            show_default=False,
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Suite: a file, whose thresholds are judged too, or a name."),
    ] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge the trend too, by the experiments in this history.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add the experiment and the verdict to this history.")
    ] = None,
    metric: MetricOption = None,
    minimum: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="ID=VALUE", help="Least value of a metric that passes; may be repeated."),
    ] = None,
    maximum: Annotated[
        list[str] | None,
        typer.Option("--max", metavar="ID=VALUE", help="Greatest value of a metric that passes; may be repeated."),
    ] = None,
    deviations: Annotated[
        float, typer.Option(min=0, metavar="N", help="Standard deviations from the baseline's mean that pass.")
    ] = 2.0,
    output: Annotated[
        GateForm, typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output.")
    ] = GateForm.TABLE,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORM=FILE",
            help="Write the report in this form to a file as well; may be repeated. Markdown is added to its end.",
        ),
    ] = None,
    csv_raw: CsvRawOption = False,
) -> None:
    """Judge an experiment by the baseline (mean -/+ 2 std of at least 3 experiments), by thresholds, and by its trend.

    Exit code 0: every check passed. 1: one failed. 3: none failed, but one could not be decided: not knowing is no
    permission. Metrics are those that the baseline gates, unless --metric names others. `spanscore baseline show` says
    how often a gate fails although nothing has changed.

    \b
    Examples:
      spanscore gate
      spanscore gate latest --suite suites/support.yaml --history history.json --record history.json
      spanscore gate pr-42 --min task_completed=0.9 --max cost=0.02
      spanscore gate --format github --also junit=gate.xml --also markdown=$GITHUB_STEP_SUMMARY
    """
    from spanscore.experiments.work import Place, judge
    from spanscore.report.comparison.show import print_gate

    files = [_form_and_file(word) for word in also or ()]
    name, thresholds = _suite(suite)
    report = judge(
        Place(store=store, folder=Path.cwd(), now=datetime.now(UTC)),
        candidate,
        baseline_file=baseline,
        suite=name,
        thresholds={**thresholds, **_limits(minimum or [], maximum or [])},
        history_file=history,
        record_file=record,
        metrics=split_words(metric),
        deviations=deviations,
    )
    print_gate(report, output, csv_raw=csv_raw, also=files)
    raise typer.Exit(EXIT_OF_VERDICT[report.verdict])


def _suite(suite: str | None) -> tuple[str | None, Mapping[str, Bound]]:
    from spanscore.bench.suites import load_suite
    from spanscore.errors import UsageError

    if suite is None:
        return None, {}
    if not Path(suite).is_file():
        if suite.endswith((".yaml", ".yml", ".json")) or "/" in suite:
            raise UsageError(f"--suite `{suite}`: there is no such file.")
        return suite, {}
    loaded = load_suite(Path(suite))
    return loaded.name, loaded.thresholds


def _limits(minimum: list[str], maximum: list[str]) -> dict[str, Limits]:
    least = dict(_bound("--min", word) for word in minimum)
    most = dict(_bound("--max", word) for word in maximum)
    return {name: Limits(least.get(name), most.get(name)) for name in dict.fromkeys([*least, *most])}


def _bound(option: str, word: str) -> tuple[str, float]:
    from math import isfinite

    from spanscore.errors import UsageError

    name, _, value = word.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not name or not isfinite(number):
        raise UsageError(f"{option} `{word}`: write the id of a metric, `=` and a number, as in task_completed=0.9.")
    return name, number


def _form_and_file(word: str) -> tuple[str, Path]:
    from spanscore.errors import UsageError

    form, _, file = word.partition("=")
    if form not in list(GateForm) or not file:
        raise UsageError(f"--also `{word}`: write a form ({', '.join(GateForm)}), `=` and a file.")
    return form, Path(file)
