"""Everything that is known about the runs of one trace, found by the beginning of an id."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.rows import Row, read_rows
from spanscore.report.terminal import console, safe_text, shorten
from spanscore.report.tree import BRIEF, FULL, render_run

if TYPE_CHECKING:
    from spanscore.report.rows import Reader

SCHEMA_VERSION = "1.0"
_CANDIDATES_SHOWN = 10
# Findings of a trace without runs.
_FINDINGS_SHOWN = 10
# Runs of one trace that are read at most; a trace with more is a batch job, listed by `spanscore traces` instead.
_MOST_RUNS = 1_000

# Columns of type JSON, read as text; those of messages are whatever the emitter wrote.
_JSON_COLUMNS = ("arguments", "documents")

# name in the document -> the query that fills it
_PARTS = {
    "agent_invocations": "reports/trace_agents.sql",
    "llm_calls": "reports/trace_llm_calls.sql",
    "tool_calls": "reports/trace_tool_calls.sql",
    "tool_requests": "reports/trace_tool_requests.sql",
    "handoffs": "reports/trace_handoffs.sql",
    "retrievals": "reports/trace_retrievals.sql",
    "messages": "reports/trace_messages.sql",
}
_NESTED_PARTS = tuple(part for part in _PARTS if part != "messages")


@dataclass(frozen=True, slots=True)
class RunTrace:
    """One run and the rows of its trajectory, each list in the order of time."""

    run: Row
    agent_invocations: list[Row]
    llm_calls: list[Row]
    tool_calls: list[Row]
    tool_requests: list[Row]
    handoffs: list[Row]
    retrievals: list[Row]
    messages: list[Row]
    findings: list[Row]


def read_trace(reader: Reader, prefix: str) -> list[RunTrace]:
    """The runs that `prefix` names: one run by its run id, or all runs of one trace by its trace id.

    Raises:
        UsageError: no run begins like that, or several traces do.
    """
    wanted = prefix.strip().lower()
    if not wanted:
        raise UsageError("The id is empty.\n  Copy one from the first column of `spanscore traces`.")
    candidates = read_rows(reader, "reports/trace_candidates.sql", {"prefix": wanted, "limit": _MOST_RUNS})
    if not candidates:
        raise UsageError(_unknown(reader, wanted))
    if len({row["trace_id"] for row in candidates}) > 1:
        raise UsageError(_ambiguous(wanted, candidates))
    return [_read_run(reader, row["run_id"], row["trace_id"]) for row in candidates]


def document(traces: list[RunTrace]) -> dict[str, Any]:
    """The JSON document of `spanscore trace --format json`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "trace_id": traces[0].run["trace_id"],
        "runs": [
            {
                "run": trace.run,
                **{part: [_nested(row) for row in getattr(trace, part)] for part in _NESTED_PARTS},
                "messages": trace.messages,
                "findings": trace.findings,
            }
            for trace in traces
        ],
    }


def _nested(row: Row) -> Row:
    """`row` with its JSON columns as what they hold, as `spanscore sql --format json` gives them."""
    return {
        column: json.loads(value) if column in _JSON_COLUMNS and isinstance(value, str) else value
        for column, value in row.items()
    }


def _read_run(reader: Reader, run_id: str, trace_id: str) -> RunTrace:
    only = {"run_id": run_id}
    (run,) = read_rows(reader, "reports/trace_run.sql", only)
    parts = {part: read_rows(reader, query, only) for part, query in _PARTS.items()}
    findings = read_rows(reader, "reports/trace_findings.sql", {**only, "trace_id": trace_id})
    return RunTrace(run=run, findings=findings, **parts)


def _unknown(reader: Reader, prefix: str) -> str:
    shown = safe_text(shorten(prefix, 80))
    spans = read_rows(reader, "reports/trace_spans.sql", {"prefix": prefix, "limit": 1})
    if not spans:
        return f"No run or trace begins with `{shown}`.\n  `spanscore traces` lists the runs of the store."
    found = spans[0]
    name = safe_text(shorten(found["first_span_name"] or "", 80))
    findings = read_rows(reader, "reports/trace_findings.sql", {"run_id": None, "trace_id": found["trace_id"]})
    told = "".join(f"\n  {row['kind']}: {safe_text(shorten(row['detail'], 300))}" for row in findings[:_FINDINGS_SHOWN])
    if len(findings) > _FINDINGS_SHOWN:
        told += f"\n  … and {len(findings) - _FINDINGS_SHOWN:,} more in the table `findings`"
    return (
        f"Trace `{found['trace_id']}` has {figures.counted(found['spans'], 'span')} (the first is `{name}`), "
        f"and no agent run in it.{told}\n"
        f"  Read them with: spanscore sql \"select * from spans where trace_id = '{found['trace_id']}'\""
    )


def _ambiguous(prefix: str, candidates: list[Row]) -> str:
    lines = [
        f"  {row['run_id']}  {figures.when(row['started_at'])}  "
        f"{safe_text(shorten(row['entry_agent'] or row['name'] or '-', 30))}  "
        f"{safe_text(shorten(row['question'] or '-', 60))}"
        for row in candidates[:_CANDIDATES_SHOWN]
    ]
    more = len(candidates) - _CANDIDATES_SHOWN
    if more > 0:
        lines.append(f"  … and {more:,} more")
    return "\n".join(
        [f"{figures.counted(len(candidates), 'run')} begin with `{safe_text(prefix)}`. Write more of the id:", *lines]
    )


def print_trace(traces: list[RunTrace], form: str, *, full: bool, messages: bool) -> None:
    """Print the runs of one trace as `text` or `json` on standard output."""
    if form == "json":
        print_json(document(traces))
        return
    detail = FULL if full else BRIEF
    if messages:
        detail = detail.with_messages()
    out = console()
    for number, trace in enumerate(traces):
        if number:
            out.print()
        for part in render_run(trace, detail):
            out.print(part)
