"""`spanscore demo`: everything once, with traces that ship with the package."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import store_directory

DEMO_STORE = Path("spanscore-demo")


def demo(
    store: Annotated[
        Path,
        typer.Option(
            "--store",
            metavar="DIR",
            callback=store_directory,
            help="Directory for the demo's store; begun anew.",
            show_default=True,
        ),
    ] = DEMO_STORE,
) -> None:
    """Collect bundled traces of real agents and show what they tell.

    The captures of a dozen frameworks are sent to a collector over gRPC and HTTP, as their own exporters sent them.
    Takes a few seconds, needs no network beyond this machine, and leaves a store to play with.

    \b
    Examples:
      spanscore demo
      spanscore demo --store /tmp/demo
    """
    from spanscore.demo import run_demo
    from spanscore.evaluate import evaluate_store, find_evaluators, store_evaluation
    from spanscore.report.demo import print_demo, print_invented, print_queries
    from spanscore.report.scorecard import ReportScope, read_report
    from spanscore.report.scorecard.show import print_report
    from spanscore.store import read_session
    from spanscore.store.evaluation import Scope

    sent = run_demo(store)
    store_evaluation(store, evaluate_store(store, find_evaluators(store), scope=Scope()))
    with read_session(store) as session:
        print_demo(session, sent)
        print_invented(session)
    print_report(read_report(store, ReportScope(), now=datetime.now(UTC), folder=store), "table", group_by=["agent"])
    print_queries(store)
