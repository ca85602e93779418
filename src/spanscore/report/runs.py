"""The list of runs: filters, rows, and the table a person reads."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.report import figures
from spanscore.report.documents import print_csv, print_json
from spanscore.report.rows import Listing, Row, read_listing
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain, shorten

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from spanscore.report.rows import Reader

_SPAN_OF_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
# Widths from which the table has room for its less telling columns, and beyond which it does not grow [columns].
_ROOM_FOR_TIME = 75
_ROOM_FOR_TOKENS = 110
_WIDE_ENOUGH = 130
_WIDEST = 180
_QUESTION_LIMIT = 400

STATUS_STYLES = {
    "ok": "green",
    "error": "bold red",
    "truncated": "yellow",
    "incomplete": "yellow",
    "running": "cyan",
    "paused": "cyan",
    "cancelled": "yellow",
    "denied": "yellow",
    "not_executed": "yellow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """Which runs to list. None passes everything."""

    since: datetime | None = None
    status: str | None = None
    service: str | None = None
    agent: str | None = None
    source: str | None = None
    min_cost: float | None = None
    contains: str | None = None
    sort: str = "newest"
    limit: int = 50


def parse_since(text: str | None, *, now: datetime, option: str = "--since") -> datetime | None:
    """The moment that `text` means, UTC without zone: an age (`90m`, `24h`, `7d`, `2w`) or an ISO date or time.

    A time that names no zone is UTC.

    Raises:
        UsageError: it is neither.
    """
    if text is None:
        return None
    age = _SPAN_OF_TIME.fullmatch(text.strip())
    try:
        if age is not None:
            moment = now - timedelta(seconds=float(age[1]) * _SECONDS[age[2]])
        else:
            moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{option} `{text}` is neither an age nor a date.\n"
            "  Write an age such as `90m`, `24h`, `7d`, or a time such as `2026-11-29` or `2026-11-29T08:00:00Z`."
        ) from error
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)).replace(tzinfo=None)


def list_runs(reader: Reader, filters: RunFilters) -> Listing:
    """The runs that pass `filters`, as `queries/reports/traces.sql` gives them."""
    return read_listing(reader, "reports/traces.sql", asdict(filters))


def status_text(status: str | None) -> Text:
    """A status in its colour."""
    return plain(status, STATUS_STYLES.get(status or "", ""))


def runs_table(rows: list[Row], *, width: int) -> Table:
    """The runs as a table that fits `width` [columns]."""
    is_narrow = width < _WIDE_ENOUGH
    ids = figures.short_ids(row["run_id"] for row in rows)
    columns = [
        Column("run", lambda row: ids[row["run_id"]], style="cyan", whole=True),
        Column(
            "started (UTC)",
            lambda row: figures.when(row["started_at"])[5 if is_narrow else 0 : 16 if is_narrow else 19],
            from_width=_ROOM_FOR_TIME,
            whole=True,
        ),
        Column("agent", lambda row: row["entry_agent"] or row["name"], limit=16 if is_narrow else 24),
        Column("status", lambda row: status_text(row["status"])),
        Column("llm", lambda row: figures.count(row["llm_calls"]), right=True, from_width=_ROOM_FOR_TOKENS),
        Column("tools", _tools, right=True),
        Column("agents", lambda row: figures.count(row["agent_invocations"]), right=True, from_width=_WIDE_ENOUGH),
        Column("handoffs", lambda row: figures.count(row["handoffs"]), right=True, from_width=_WIDE_ENOUGH),
        Column("tokens in/out", _tokens, right=True, from_width=_ROOM_FOR_TOKENS),
        Column("cost", lambda row: figures.usd(row["cost_usd"], row["unpriced_llm_calls"]), right=True),
        Column("time", lambda row: figures.duration(row["duration_s"]), right=True),
        Column("question", _question, from_width=_WIDE_ENOUGH, flexible=True),
    ]
    return grid(rows, columns, width=min(width, _WIDEST))


def _tools(row: dict[str, Any]) -> str:
    errors = row["tool_errors"]
    return figures.count(row["tool_calls"]) + (f" ({errors} bad)" if errors else "")


def _tokens(row: dict[str, Any]) -> str:
    return f"{figures.count(row['input_tokens'])}/{figures.count(row['output_tokens'])}"


def print_runs(runs: Listing, form: str, *, limit: int, csv_raw: bool = False) -> None:
    """Print the list as `table`, `json` or `csv` on standard output."""
    if form == "json":
        print_json(runs.rows)
        return
    if form == "csv":
        print_csv(runs.rows, runs.columns, raw=csv_raw)
        return
    out = console()
    if not runs.rows:
        error_console().print(
            "No run passes. `spanscore doctor` tells what the store holds and what still waits to be derived.",
            style="yellow",
            soft_wrap=True,
        )
        return
    out.print(runs_table(runs.rows, width=out.width))
    if len(runs.rows) == limit:
        error_console().print(f"The list ends at --limit {limit}; there may be more.", style="dim")


def _question(row: dict[str, Any]) -> str | None:
    return None if row["question"] is None else shorten(row["question"], _QUESTION_LIMIT)
