"""`spanscore evaluate`: scores for the runs of the store."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, ExperimentOption, ServiceOption, SinceOption, StoreOption, UntilOption
from spanscore.cli.traces import Source

EXIT_NOT_EVALUATED = 3


class Summary(StrEnum):
    """Form of the summary."""

    TABLE = "table"
    JSON = "json"


EvaluatorsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluators",
        metavar="ID|FOLDER",
        help="Only these: ids, questions (groundedness, outcome, tools, …), .sql files or folders of them. "
        "Several with commas, or by repeating the option.  [default: all that ship, ./evals, those of spanscore.toml]",
        show_default=False,
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="ID.NAME=VALUE",
        help="Value for a parameter of an evaluator, such as tool_error_rate.min_tool_calls=3. May be repeated.",
        show_default=False,
    ),
]


def evaluate(
    store: StoreOption = DEFAULT_STORE,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Runs of this suite: a file, whose cases are stored first, or the name of a suite stored before.",
        ),
    ] = None,
    experiment: ExperimentOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[Source | None, typer.Option(help="Benchmark runs carry a case id.")] = None,
    service: ServiceOption = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="This run; the beginning of its id is enough. May be repeated."),
    ] = None,
    evaluators: EvaluatorsOption = None,
    param: ParamOption = None,
    timeout: Annotated[float, typer.Option(min=0.001, metavar="S", help="Seconds that one evaluator may run.")] = 60.0,
    output: Annotated[
        Summary,
        typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output."),
    ] = Summary.TABLE,
) -> None:
    """Score the runs in the store with SQL evaluators, and keep the scores there.

    Scoring again replaces what has changed and leaves the rest. An evaluator that fails is shown with its error, stops
    no other, and makes the exit code 3. `spanscore evaluators list` names the evaluators.

    \b
    Examples:
      spanscore evaluate
      spanscore evaluate --suite suites/support.yaml --experiment 2026-11-29-a
      spanscore evaluate --since 24h --source production --evaluators groundedness,tool_error_rate
      spanscore evaluate --evaluators ./evals --param my_rate.min_calls=3 --format json
    """
    from spanscore.errors import UsageError
    from spanscore.evaluate import evaluate_store, find_evaluators, store_evaluation
    from spanscore.evaluate.params import read_params
    from spanscore.report.evaluation import no_attempts, print_evaluation
    from spanscore.report.progress import counting
    from spanscore.report.runs import parse_since
    from spanscore.store.evaluation import Scope

    now = datetime.now(UTC)
    catalogue = find_evaluators(Path.cwd(), selection=split_words(evaluators))
    params = read_params(param or [], catalogue)
    scope = Scope(
        since=parse_since(since, now=now),
        until=parse_since(until, now=now),
        source=source,
        suite=_suite_name(suite, store),
        experiment=experiment,
        service=service,
        runs=tuple(run or ()),
    )
    with counting("evaluating") as on_done:
        evaluation = evaluate_store(store, catalogue, scope=scope, params=params, timeout_s=timeout, on_done=on_done)
    if scope.suite is not None and evaluation.runs.num_rows == 0:
        raise UsageError(no_attempts(evaluation))
    counts = store_evaluation(store, evaluation)
    print_evaluation(evaluation, counts, output)
    if evaluation.failed:
        raise typer.Exit(EXIT_NOT_EVALUATED)


def split_words(values: list[str] | None) -> list[str]:
    """The words of an option that takes several with commas and may be repeated."""
    return [word.strip() for value in values or () for word in value.split(",") if word.strip()]


def _suite_name(suite: str | None, store: Path) -> str | None:
    from spanscore.errors import UsageError

    if suite is None:
        return None
    if not Path(suite).is_file():
        if suite.endswith((".yaml", ".yml", ".json")) or "/" in suite:
            raise UsageError(f"--suite `{suite}`: there is no such file.")
        return suite

    from spanscore.bench.suites import load_suite
    from spanscore.store import Store, require_store
    from spanscore.store.cases import store_suite

    loaded = load_suite(Path(suite))
    require_store(store)
    with Store.open(store) as opened:
        store_suite(opened, loaded)
    return loaded.name
