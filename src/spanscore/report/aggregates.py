"""Tables over all runs: per agent, per model, per tool, handoffs, latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from spanscore.report import figures
from spanscore.report.rows import read_rows
from spanscore.report.tables import Column, counted, grid, named, timed

if TYPE_CHECKING:
    from rich.table import Table

    from spanscore.report.rows import Reader

# The nearest-rank 95th percentile of fewer values is the largest one.
_ENOUGH_FOR_P95 = 20
# Widths from which there is room for tokens, and for their kinds [columns].
_ROOM_FOR_TOKENS = 110
_ROOM_FOR_KINDS = 125

_COST = Column("cost", lambda row: figures.usd(row["cost_usd"], row.get("unpriced_llm_calls")), right=True)
_MEDIAN = timed("median_s", "median")
_P95 = timed("p95_s", "p95")


def per_agent(reader: Reader) -> Table:
    """Invocations, failures and own usage of each agent."""
    return grid(
        read_rows(reader, "reports/per_agent.sql"),
        [
            named("agent_name", "agent", limit=40),
            *(counted(key) for key in ("invocations", "runs", "errors")),
            counted("llm_calls", "llm"),
            counted("tool_calls", "tools"),
            counted("input_tokens", "tokens in", from_width=_ROOM_FOR_TOKENS),
            counted("output_tokens", "tokens out", from_width=_ROOM_FOR_TOKENS),
            _COST,
            _MEDIAN,
            _P95,
        ],
    )


def per_model(reader: Reader) -> Table:
    """Calls, usage and cost of each model."""
    return grid(
        read_rows(reader, "reports/per_model.sql"),
        [
            named("model", limit=40),
            named("provider"),
            counted("llm_calls", "calls"),
            counted("errors"),
            counted("input_tokens", "tokens in", from_width=_ROOM_FOR_TOKENS),
            counted("cache_read_tokens", "cached", from_width=_ROOM_FOR_KINDS),
            counted("output_tokens", "tokens out", from_width=_ROOM_FOR_TOKENS),
            counted("reasoning_tokens", "reasoning", from_width=_ROOM_FOR_KINDS),
            _COST,
            _MEDIAN,
            _P95,
        ],
    )


def per_tool(reader: Reader) -> Table:
    """Executions and failures of each tool."""
    return grid(
        read_rows(reader, "reports/per_tool.sql"),
        [
            named("tool_name", "tool", limit=40),
            counted("tool_calls", "calls"),
            counted("errors"),
            counted("runs"),
            _MEDIAN,
            _P95,
        ],
    )


def handoffs(reader: Reader) -> Table:
    """Who handed over to whom."""
    return grid(
        read_rows(reader, "reports/handoffs.sql"),
        [
            named("from_agent", "from", limit=40),
            named("to_agent", "to", limit=40),
            *(counted(key) for key in ("handoffs", "succeeded", "back", "bounced", "runs")),
        ],
    )


def latency_line(reader: Reader) -> Text:
    """How long the runs take, in one line that names its method."""
    (row,) = read_rows(reader, "reports/latency.sql")
    note = "" if row["n"] >= _ENOUGH_FOR_P95 else "; with fewer than 20 runs p95 is the slowest one"
    return Text(
        f"Time of {figures.counted(row['n'], 'run')}: median {figures.duration(row['median_s'])}, p95 "
        f"{figures.duration(row['p95_s'])}, "
        f"slowest {figures.duration(row['max_s'])} (median interpolated, p95 nearest rank{note})",
        style="dim",
    )
