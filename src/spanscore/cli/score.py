"""`spanscore score`: scores production on a schedule."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanscore.cli.evaluate import EvaluatorsOption, ParamOption, Summary, split_words
from spanscore.cli.options import DEFAULT_STORE, ServiceOption, SinceOption, StoreOption

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.production.passes import Report
    from spanscore.production.schedule import Stop


class ScoredSource(StrEnum):
    """Whose runs are scored."""

    PRODUCTION = "production"
    BENCHMARK = "benchmark"
    ALL = "all"


def score(
    store: StoreOption = DEFAULT_STORE,
    every: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Go on, with a pass every so often: 30s, 5m, 1h.", show_default=False),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One pass, then end; this is what happens anyway.")] = False,
    source: Annotated[
        ScoredSource,
        typer.Option(help="Runs that are scored, and that alerts look at. Benchmark runs carry a case id."),
    ] = ScoredSource.PRODUCTION,
    service: ServiceOption = None,
    since: SinceOption = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="AGE|TIME", help="Runs that began before; alerts are then not judged (a backfill)."),
    ] = None,
    sample: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Share of traces to score, chosen by their ids: always the same ones."
        ),
    ] = 1.0,
    settle: Annotated[
        float,
        typer.Option(min=0, metavar="S", help="Seconds without news after which a run without an end is scored."),
    ] = 60.0,
    evaluators: EvaluatorsOption = None,
    param: ParamOption = None,
    batch: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Most runs evaluated at a time, of 40,000 spans at most; bounds the memory."
        ),
    ] = 5000,
    timeout: Annotated[
        float, typer.Option(min=0.001, metavar="S", help="Seconds that one evaluator may run over a batch.")
    ] = 60.0,
    emit: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="Send scores as gen_ai.evaluation.result log records: OTLP/HTTP endpoint, or file of OTLP/JSON lines.",
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, metavar="S", help="Seconds to wait for another process that scores this store.")
    ] = 0.0,
    output: Annotated[
        Summary,
        typer.Option("--format", help="`json` prints one JSON document per pass (a line each with --every)."),
    ] = Summary.TABLE,
) -> None:
    """Score the runs that have changed since they were last scored, judge the alerts, and tell others.

    A run is scored when it has ended, or when nothing of it has come for --settle seconds; spans that come later have
    it scored again. Alerts are the tables [[alerts]] of spanscore.toml (docs/production.md). A pass that is killed
    loses nothing and doubles nothing; one process scores a store at a time.

    Exit code 1: an alert fires, whatever else happened. 3: no alert fires, and an evaluator failed or something could
    not be delivered. The output names both. With --every the exit code is 0 when stopped by Ctrl-C or SIGTERM,
    after the batch in hand.

    \b
    Examples:
      spanscore score
      spanscore score --every 5m --emit http://127.0.0.1:4318
      spanscore score --sample 0.1 --evaluators groundedness,run_error --format json
      spanscore score --since 2026-11-01 --until 2026-11-08
    """
    import os
    from datetime import UTC, datetime

    from spanscore.errors import UsageError
    from spanscore.evaluate import find_evaluators
    from spanscore.evaluate.params import read_params
    from spanscore.production.durations import seconds
    from spanscore.production.events import Destination
    from spanscore.production.passes import run_pass
    from spanscore.production.rules import read_alerting, require_variables
    from spanscore.production.sampling import sample_below
    from spanscore.production.schedule import stop_on_signals
    from spanscore.production.scoring import Job, ScoringScope
    from spanscore.report.production import print_report
    from spanscore.report.progress import counting
    from spanscore.report.runs import parse_since
    from spanscore.settings import NAME
    from spanscore.store import require_store

    interval = None if every is None else seconds(every)
    if every is not None and (interval is None or interval < 1):
        raise UsageError(f"--every `{every}` is no time of a second or more.\n  Write it as 30s, 5m or 1h.")
    if every is not None and once:
        raise UsageError("--every and --once contradict each other.")
    require_store(store)
    everything = find_evaluators(Path.cwd())
    catalogue = find_evaluators(Path.cwd(), selection=split_words(evaluators)) if evaluators else everything
    alerting = read_alerting(Path.cwd() / NAME, everything)
    require_variables(alerting, os.environ)
    destination = None if emit is None else Destination(emit, os.environ)
    params = read_params(param or [], catalogue)

    def job() -> Job:
        now = datetime.now(UTC)
        return Job(
            store=store,
            catalogue=catalogue,
            params=params,
            scope=ScoringScope(
                source=None if source is ScoredSource.ALL else source.value,
                service=service,
                since=parse_since(since, now=now),
                until=parse_since(until, now=now),
                sample_below=sample_below(sample),
            ),
            batch=batch,
            settle_s=settle,
            timeout_s=timeout,
            destination=None if destination is None else destination.name,
        )

    with stop_on_signals() as stop:

        def one_pass() -> Report:
            with counting("scoring") as on_done:
                report = run_pass(
                    job(),
                    alerting=alerting,
                    destination=destination,
                    environ=os.environ,
                    wait_s=wait,
                    on_step=lambda _, done, total: on_done(done, total),
                    is_stopping=stop.is_asked,
                )
            print_report(report, output, store=store, as_line=every is not None)
            return report

        if interval is None:
            report = one_pass()
            raise typer.Exit(0 if stop.is_asked() else report.exit_code)
        _go_on(interval, one_pass, stop)


def _go_on(interval_s: float, one_pass: Callable[[], Report], stop: Stop) -> None:
    from spanscore.errors import ScoringRunning, StoreError
    from spanscore.production.schedule import every
    from spanscore.report.terminal import safe_text

    def work() -> None:
        try:
            one_pass()
        except (ScoringRunning, StoreError) as error:
            # Whoever holds the store lets go of it again: the next slot finds all that this one has not done.
            typer.echo(safe_text(f"spanscore: {error}", keep_lines=True), err=True)

    def missed(slots: int) -> None:
        typer.echo(f"The pass took longer than --every: {slots} left out.", err=True)

    every(interval_s, work, is_stopping=stop.is_asked, wait=stop.wait, on_missed=missed)
