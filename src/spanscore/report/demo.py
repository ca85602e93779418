"""What the demo shows: the list of runs, one of them as a tree, tables per agent and model, and queries to try."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from spanscore.report import aggregates, figures
from spanscore.report.invented import invented_claims
from spanscore.report.runs import RunFilters, list_runs, runs_table
from spanscore.report.terminal import console, plain
from spanscore.report.trace import read_trace
from spanscore.report.tree import BRIEF, render_run

if TYPE_CHECKING:
    from rich.console import Console

    from spanscore.demo import Sent
    from spanscore.store import ReadSession

_QUERIES = {
    "Which tools fail": (
        "select tool_name, count(*) as calls, count(*) filter (where status = 'error') as failed\n"
        "from tool_calls where not is_handoff group by all order by failed desc, calls desc"
    ),
    "Tokens and cost of each step of the run with the most handoffs": (
        "select agent_name, finish_reason, input_tokens, output_tokens, cost_usd from llm_calls\n"
        "where run_id = (select run_id from runs order by handoffs desc limit 1) order by started_at"
    ),
    "The raw attributes behind it all": (
        "select name, scope_name, map_keys(attributes) as keys from spans\nwhere scope_name = 'ai' limit 5"
    ),
}


def print_demo(session: ReadSession, sent: Sent) -> None:
    """Print what was collected: the runs, one as a tree, and tables."""
    out = console()
    requests = f"{sent.grpc_requests} OTLP/gRPC and {sent.http_requests} OTLP/HTTP requests"
    out.print(
        f"Sent {figures.counted(sent.captures, 'capture')} as {requests} to a collector; stored in "
        f"{sent.seconds:.1f} s.",
        soft_wrap=True,
    )
    runs = list_runs(session, RunFilters(sort="oldest")).rows
    _heading(out, figures.counted(len(runs), "run"), "spanscore traces")
    out.print(runs_table(runs, width=out.width))

    shown = max(runs, key=lambda row: (row["handoffs"] or 0, row["agent_invocations"] or 0))
    short = figures.short_ids(row["run_id"] for row in runs)[shown["run_id"]]
    _heading(out, "The run with the most handoffs", f"spanscore trace {short}")
    for part in render_run(read_trace(session, shown["run_id"])[0], BRIEF):
        out.print(part)

    for title, table in (
        ("Per agent", aggregates.per_agent(session)),
        ("Per model", aggregates.per_model(session)),
        ("Per tool", aggregates.per_tool(session)),
        ("Handoffs", aggregates.handoffs(session)),
    ):
        _heading(out, title, None)
        out.print(table)
    out.print(aggregates.latency_line(session))


def print_invented(session: ReadSession) -> None:
    """Print the answers that state what no tool gave, with the place of each such claim."""
    out = console()
    _heading(out, "What no source gave", "spanscore evaluate, spanscore report")
    for text in invented_claims(session):
        out.print(text, soft_wrap=True)


def print_queries(directory: Path) -> None:
    """Print queries to try on the demo's store, and where it stays."""
    out = console()
    place = f"--store {shlex.quote(str(directory))}"
    program = "spanscore" if shutil.which("spanscore") else _beside_python()
    _heading(out, "Try", None)
    for question, query in _QUERIES.items():
        out.print(Text(f"# {question}", style="dim"))
        # Whole lines, to be copied: the quotation marks hold those of the query together.
        indented = query.replace("\n", "\n  ")
        out.print(Text(f'{program} sql {place} "\n  {indented}"'), no_wrap=True, overflow="ignore")
    out.print(Text(f"\nThe store stays in {plain(directory)}. Look at it with:"), soft_wrap=True)
    out.print(Text(f"{program} doctor {place}"), no_wrap=True, overflow="ignore")


def _beside_python() -> str:
    """The program in a virtual environment that is not active, to be called from here."""
    program = Path(sys.executable).with_name("spanscore")
    return shlex.quote(os.path.relpath(program)) if program.exists() else "spanscore"


def _heading(out: Console, title: str, command: str | None) -> None:
    out.print()
    out.print(Text(title, style="bold").append("" if command is None else f"   ({command})", style="dim"))
