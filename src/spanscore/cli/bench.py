"""`spanscore bench`: runs suites against an agent."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanscore.cli.options import DEFAULT_STORE, StoreOption

if TYPE_CHECKING:
    from spanscore.bench.agents import Agent
    from spanscore.bench.run import Ran

app = typer.Typer(
    help="Benchmarks: run an agent on the cases of a suite, and score its runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EXIT_NOT_EVALUATED = 3


class Form(StrEnum):
    """Form of the output."""

    TABLE = "table"
    JSON = "json"


FormOption = Annotated[
    Form, typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output.")
]


@app.command()
def run(
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="Suite file, YAML or JSON.", show_default=False)],
    agent: Annotated[
        str | None, typer.Option(metavar="MODULE:CALLABLE", help="A Python callable, called in this process.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(metavar="'PROG {input}'", help="A command; {case_id}, {trial}, {variant}, {steps} work too."),
    ] = None,
    url: Annotated[str | None, typer.Option(metavar="URL", help='An endpoint that is posted {"input": …}.')] = None,
    store: StoreOption = DEFAULT_STORE,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Trials per case.")] = 1,
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="What the agent is told to be. Repeated: an experiment for each."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Trials at a time.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.001, metavar="S", help="Seconds that a trial may take.")] = 300.0,
    retries: Annotated[
        int, typer.Option(min=0, max=100, metavar="N", help="Further attempts when the agent cannot be reached.")
    ] = 2,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="steps=N,N…", help="What the agent is told it may spend; an experiment for each. Also cost_usd=X."
        ),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Id of the experiment; one that was stopped goes on.  [default: a new one]"),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OTLP/HTTP receiver that runs already.  [default: one is started]"),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the receiver that is started listens.  [default: any free port; for --url 127.0.0.1:4318]",
        ),
    ] = None,
    settle: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="S", help="Seconds to wait for missing spans.  [default: 10 for --url, else 0]"),
    ] = None,
    output: FormOption = Form.TABLE,
) -> None:
    """Run an agent on every case of a suite, score the runs, and report.

    Give one of --agent, --command and --url. Every trial becomes one trace: the harness opens a span around it and
    hands on trace context and baggage, so the agent's own spans belong to it. A failure to reach the agent (connection
    refused or lost, exit code 75, HTTP 429, 502, 503, 504) is tried again and never counts as the agent's; a timeout
    does count.

    Exit code 3 when trials could not be made or left nothing to score. `spanscore gate` judges the figures.

    \b
    Examples:
      spanscore bench run suites/support.yaml --agent my_package.agent:answer --repeats 3
      spanscore bench run suites/support.yaml --command 'python agent.py {input}' --variant gpt-4o --variant small
      spanscore bench run suites/support.yaml --url http://127.0.0.1:8000/ask --experiment 2026-11-29-a --format json
    """
    from spanscore.bench.harness import Limits
    from spanscore.bench.run import Settings, plan, run_suite
    from spanscore.bench.suites import load_suite
    from spanscore.bench.trial import read_budgets
    from spanscore.report.bench import print_experiments, say_where
    from spanscore.report.progress import counting

    asked = _agent(agent, command, url)
    settings = Settings(
        experiment=experiment,
        variants=tuple(variant or ()),
        budgets=tuple(read_budgets(budget or [])),
        limits=Limits(repeats=repeats, concurrency=concurrency, timeout_s=timeout, retries=retries),
        endpoint=endpoint,
        listen=listen or ("127.0.0.1:0" if url is None else "127.0.0.1:4318"),
        listen_grpc="127.0.0.1:4317" if url is not None and listen is None else None,
        settle_s=settle,
    )
    arms = plan(load_suite(suite), settings)
    ids = [arm.experiment_id for arm in arms]
    with counting("running trials") as on_done:
        ran = run_suite(
            store, arms, asked, settings, on_listening=lambda capture: say_where(capture.shown, ids), on_done=on_done
        )
    shown = [_scored(store, one, output) for one in ran]
    if output is Form.JSON:
        print_experiments([document for document, _ in shown])
    if not all(is_good for _, is_good in shown):
        raise typer.Exit(EXIT_NOT_EVALUATED)


@app.command("list")
def list_(store: StoreOption = DEFAULT_STORE, output: FormOption = Form.TABLE) -> None:
    """List the experiments that were run into the store, and how far each has come.

    \b
    spanscore bench list --format json | jq -r '.experiments[].experiment_id'
    """
    from spanscore.bench.journal import recorded
    from spanscore.report.bench import print_recorded

    print_recorded(list(recorded(store)), output)


def _scored(store: Path, ran: Ran, output: Form) -> tuple[dict[str, Any], bool]:
    """Scores one experiment and shows it; its part of the JSON document, and whether nothing is missing."""
    from spanscore.evaluate import evaluate_store, find_evaluators, store_evaluation
    from spanscore.report.bench import described, print_ran
    from spanscore.report.evaluation import print_evaluation
    from spanscore.report.progress import counting
    from spanscore.report.scorecard import ReportScope, read_report
    from spanscore.report.scorecard.show import print_report
    from spanscore.store.evaluation import Scope

    if output is Form.TABLE:
        print_ran(ran)
    if ran.traces is None:
        return described(ran, None, None, None), False
    experiment = ran.arm.experiment_id
    with counting("evaluating") as on_done:
        evaluation = evaluate_store(
            store, find_evaluators(Path.cwd()), scope=Scope(experiment=experiment), on_done=on_done
        )
    counts = store_evaluation(store, evaluation)
    report = read_report(store, ReportScope(experiment=experiment), now=datetime.now(UTC), folder=Path.cwd())
    if output is Form.TABLE:
        if evaluation.failed:
            print_evaluation(evaluation, counts, "table")
        if report.runs:
            print_report(report, "table", group_by=["category", "agent"])
    return described(ran, evaluation, counts, report), ran.is_complete and not evaluation.failed


def _agent(target: str | None, command: str | None, url: str | None) -> Agent:
    from spanscore.bench.agents import CallableAgent, CommandAgent, EndpointAgent
    from spanscore.errors import UsageError

    given = [one for one in (target, command, url) if one is not None]
    if len(given) != 1:
        raise UsageError("Give one of --agent package.module:callable, --command 'prog {input}' and --url URL.")
    if target is not None:
        return CallableAgent(target)
    return CommandAgent(command) if command is not None else EndpointAgent(given[0])
