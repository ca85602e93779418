"""`spanscore prices`: the price list, and how models are priced."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanscore.report import figures
from spanscore.report.documents import print_json, write_csv
from spanscore.report.tables import Column, counted, grid, named
from spanscore.report.terminal import console, error_console, safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.report.rows import Row

_ADVICE = {
    "no_model": "the call names no model",
    "unknown_model": "no price list holds it: give it a price in your own file (--prices)",
    "self_hosted": "a server of one's own has no list price: give it one in your own file (--prices), 0 if you like",
    "no_price": "listed without a price",
    "no_time": "the call has no start time",
    "no_usage": "input or output tokens were not reported, or not as a count that can be",
    "inconsistent_usage": "a part of the tokens is more than the whole",
    "audio_cache_overlap": "how much of the cached input was audio is not known",
    "no_token_price": "tokens of a kind the model has no price for",
}
_RATES = (
    ("input_mtok", "input"),
    ("output_mtok", "output"),
    ("cache_read_mtok", "cache read"),
    ("cache_write_mtok", "cache write"),
    ("cache_write_1h_mtok", "cache write 1h"),
    ("output_reasoning_mtok", "reasoning"),
    ("input_audio_mtok", "audio in"),
    ("output_audio_mtok", "audio out"),
)
# Columns of a terminal from which on the list has room for more than models and their rates.
_ROOM_FOR_TIERS = 130


def print_price_list(rows: Sequence[Row], form: str, *, columns: Sequence[str], csv_raw: bool) -> None:
    """Print the price list as `table`, `json` or `csv`."""
    if form == "json":
        print_json(rows)
        return
    if form == "csv":
        write_csv(sys.stdout, columns, ([row[name] for name in columns] for row in rows), raw=csv_raw)
        return
    if not rows:
        error_console().print("No listed model passes.", style="yellow")
        return
    out = console()
    rates = [Column(heading, _rate(key), right=True) for key, heading in _RATES[:4]]
    out.print(
        grid(
            rows,
            [
                Column("provider", lambda row: row["provider_id"] or "any", style="cyan"),
                replace(named("model_id", "model", limit=30), whole=True),
                *rates,
                Column(
                    "dearer above",
                    lambda row: figures.count(row["tier_above_tokens"]),
                    right=True,
                    from_width=_ROOM_FOR_TIERS,
                ),
                Column("since", lambda row: str(row["valid_from"] or "-"), from_width=_ROOM_FOR_TIERS),
                Column("source", lambda row: row["source"], from_width=_ROOM_FOR_TIERS),
            ],
            title="USD per million tokens",
        )
    )


def print_checked_model(row: Row, form: str, *, model: str) -> None:
    """Print how one model is priced, as `text` or `json`."""
    if form == "json":
        print_json({"model": model, **row})
        return
    out = console()
    reason = row["unpriced_reason"]
    if reason is not None:
        out.print(f"{safe_text(model)}: not priced ({reason}): {_ADVICE[reason]}", markup=False, soft_wrap=True)
        return
    entry = f"{row['price_provider_id'] or 'any provider'} / {row['price_model_id']}"
    since = f", since {row['price_valid_from']}" if row["price_valid_from"] else ""
    lines = [f"{model}: {entry} (found by {row['price_matched_by']}{since})"]
    if row["is_free"]:
        lines.append("  free")
    lines += [f"  {heading:<15} {_usd(row[key])} per million tokens" for key, heading in _RATES if row[key] is not None]
    if row["requests_kcount"] is not None:
        lines.append(f"  {'request':<15} {_usd(row['requests_kcount'])} per thousand")
    if row["tier_above_tokens"] is not None:
        lines.append(f"  calls of more than {row['tier_above_tokens']:,} input tokens have other prices")
    for line in lines:
        out.print(safe_text(line), markup=False, highlight=False, soft_wrap=True)


def print_checked_store(rows: Sequence[Row], form: str) -> None:
    """Print which models of a store are priced and why others are not, as `text` or `json`."""
    if form == "json":
        print_json(rows)
        return
    if not rows:
        error_console().print("The store holds no LLM calls.", style="yellow")
        return
    out = console()
    out.print(
        grid(
            rows,
            [
                Column("provider", lambda row: row["provider"] or "-", limit=24),
                Column("model", lambda row: row["response_model"] or row["request_model"] or "-", limit=40),
                counted("llm_calls", "calls"),
                counted("tokens"),
                Column("cost", lambda row: figures.usd(row["cost_usd"]), right=True),
                Column("priced as", _priced_as, limit=48),
                Column("found by", lambda row: row["price_matched_by"] or "-"),
                Column("not priced", lambda row: row["unpriced_reason"] or "-", style="yellow"),
            ],
        )
    )
    for reason in dict.fromkeys(row["unpriced_reason"] for row in rows):
        if reason is not None:
            error_console().print(f"{reason}: {_ADVICE[reason]}", style="dim", markup=False, soft_wrap=True)


def _priced_as(row: dict[str, Any]) -> str:
    if row["price_model_id"] is None:
        return "-"
    return f"{row['price_provider_id'] or 'any'} / {row['price_model_id']}"


def _rate(key: str) -> Any:
    return lambda row: _usd(row[key])


def _usd(price: float | None) -> str:
    """A price [USD] with all its digits, at least two of them decimals."""
    if price is None:
        return "-"
    digits = f"{price:.6f}".rstrip("0")
    return "$" + digits + "0" * (2 - len(digits.partition(".")[2]))
