"""`spanscore traces` and `spanscore trace`: the runs of the store, and one of them as a tree."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from spanscore.cli.options import (
    DEFAULT_STORE,
    CsvRawOption,
    Listing,
    ListingOption,
    Output,
    OutputOption,
    ServiceOption,
    SinceOption,
    StoreOption,
)


class Sort(StrEnum):
    """What the list is ordered by, largest first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    COST = "cost"
    DURATION = "duration"
    TOKENS = "tokens"
    ERRORS = "errors"


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"
    ERROR = "error"
    TRUNCATED = "truncated"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    RUNNING = "running"
    INCOMPLETE = "incomplete"


class Source(StrEnum):
    """Where a run came from."""

    BENCHMARK = "benchmark"
    PRODUCTION = "production"


def traces(
    store: StoreOption = DEFAULT_STORE,
    since: SinceOption = None,
    status: Annotated[Status | None, typer.Option(help="Runs that ended like this.")] = None,
    service: ServiceOption = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Runs in which this agent took part.")] = None,
    source: Annotated[Source | None, typer.Option(help="Benchmark runs carry a case id.")] = None,
    min_cost: Annotated[float | None, typer.Option(metavar="USD", help="Runs that cost at least this much.")] = None,
    contains: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Runs whose question contains this text.")
    ] = None,
    sort: Annotated[Sort, typer.Option(help="Order of the list.")] = Sort.NEWEST,
    limit: Annotated[int, typer.Option(min=1, help="Runs to list at most.")] = 50,
    output: ListingOption = Listing.TABLE,
    csv_raw: CsvRawOption = False,
) -> None:
    """List the runs in the store.

    A cost such as `$0.0120 +2?` is the cost of the priced calls; two more have no known price.

    \b
    Examples:
      spanscore traces --since 24h --status error
      spanscore traces --agent researcher --sort cost --limit 10
      spanscore traces --format json | jq '.[].run_id'
    """
    from spanscore.report.runs import RunFilters, list_runs, parse_since, print_runs
    from spanscore.store import read_session

    filters = RunFilters(
        since=parse_since(since, now=datetime.now(UTC)),
        status=status,
        service=service,
        agent=agent,
        source=source,
        min_cost=min_cost,
        contains=contains,
        sort=sort,
        limit=limit,
    )
    with read_session(store) as session:
        runs = list_runs(session, filters)
    print_runs(runs, output, limit=limit, csv_raw=csv_raw)


def trace(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A run id or a trace id, or any beginning of one that is unambiguous.")
    ],
    store: StoreOption = DEFAULT_STORE,
    full: Annotated[bool, typer.Option("--full", help="Show texts, arguments and results in full.")] = False,
    messages: Annotated[
        bool, typer.Option("--messages", help="Show the new messages of each LLM call below it.")
    ] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Show one run as a tree.

    Agents stand inside the agents that called them, with their LLM calls, tool calls and handoffs in the order of time.

    \b
    Examples:
      spanscore trace 54611c32
      spanscore trace 54611c32 --full --messages
      spanscore trace 54611c32 --format json | jq '.runs[0].tool_calls'
    """
    from spanscore.report.trace import print_trace, read_trace
    from spanscore.store import read_session

    with read_session(store) as session:
        runs = read_trace(session, identifier)
    print_trace(runs, output, full=full, messages=messages)
