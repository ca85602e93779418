"""What a pass of `spanscore score` says when it is done."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from spanscore.production.alerts import Verdict
from spanscore.production.notify import described
from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.evaluation import score
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain, safe_json
from spanscore.store.directory import store_option

if TYPE_CHECKING:
    from pathlib import Path

    from spanscore.production.alerts import Judgement
    from spanscore.production.passes import Report
    from spanscore.production.scoring import Scored

SCHEMA_VERSION = "1.0"
_STYLES = {Verdict.FIRING: "bold red", Verdict.OK: "green", Verdict.UNDECIDABLE: "yellow"}


def print_report(report: Report, form: str, *, store: Path, as_line: bool) -> None:
    """Print what a pass did.

    Args:
        report: of the pass.
        form: `table` or `json`.
        store: its directory.
        as_line: JSON on one line, for passes that follow each other.
    """
    if form == "json":
        if as_line:
            sys.stdout.write(safe_json(json.dumps(document(report), ensure_ascii=False, allow_nan=False)) + "\n")
            sys.stdout.flush()
        else:
            print_json(document(report))
        return
    out = console()
    out.print(_summary(report), soft_wrap=True)
    if report.judgements:
        out.print(grid([{"one": one} for one in report.judgements], _COLUMNS, width=out.width))
        for one in report.judgements:
            # Below the table, where a narrow terminal cuts nothing off.
            if one.verdict is not Verdict.OK:
                name = one.rule.name if one.rule.by is None else f"{one.rule.name} of {one.series}"
                out.print(plain(f"{name}: {one.reason}.", _STYLES[one.verdict]), soft_wrap=True)
    notes = error_console()
    for evaluator, error in sorted(report.scored.errors.items()):
        notes.print(plain(f"! {evaluator} failed: {error}", "red", keep_lines=True), soft_wrap=True)
    for failure in report.failures:
        notes.print(plain(f"! {failure} It is kept, and sent again by the next pass.", "red"), soft_wrap=True)
    for note in _kept(report, store):
        notes.print(plain(f"! {note}", "yellow"), soft_wrap=True)
    if report.rejected:
        notes.print(
            plain(f"! The receiver rejected {figures.counted(report.rejected, 'score')} for good.", "red"),
            soft_wrap=True,
        )
    (code, *others), reasons = _by_code(report)
    if others and not as_line:
        # The code can name one of them alone.
        hidden = "; ".join(f"it hides {other}: {', '.join(reasons[other])}" for other in others)
        notes.print(plain(f"! Exit code {code}: {', '.join(reasons[code])}; {hidden}.", "red"), soft_wrap=True)


def document(report: Report) -> dict[str, Any]:
    """The JSON document of a pass."""
    scored = report.scored
    verdicts = [str(one.verdict) for one in report.judgements]
    return {
        "schema_version": SCHEMA_VERSION,
        "started_at": f"{report.started_at.isoformat()}Z",
        "duration_s": round(report.duration_s, 3),
        "runs": _counts(scored, "run"),
        "sessions": _counts(scored, "session"),
        "left": scored.left,
        "stopped": scored.skipped,
        "removed_runs": scored.removed_runs,
        "scores": {"written": scored.written, "unchanged": scored.unchanged},
        "failed_evaluators": [
            {"evaluator": evaluator, "error": error} for evaluator, error in sorted(scored.errors.items())
        ],
        "lag_s": report.lag_s,
        "emitted": {
            "sent": report.emitted,
            "rejected": report.rejected,
            "waiting": report.emit_waiting,
            "elsewhere": [
                {
                    "destination": one.name,
                    "waiting": one.waiting,
                    "oldest": f"{one.oldest.isoformat()}Z",
                    "last_error": one.last_error,
                }
                for one in report.elsewhere
            ],
        },
        "alerts": {
            "firing": len(report.firing),
            "undecidable": verdicts.count("undecidable"),
            "judged": [{**described(one), "is_firing": one in report.firing} for one in report.judgements],
            "messages_sent": report.sent,
            "messages_waiting": report.messages_waiting,
        },
        "delivery_failures": list(report.failures),
        "exit_code": report.exit_code,
        "exit_reasons": [{"exit_code": code, "reason": reason} for code, reason in report.exit_reasons],
    }


def _kept(report: Report, store: Path) -> list[str]:
    """What waits for others than this pass was told to tell."""
    doctor = f"spanscore doctor {store_option(store)}"
    notes = [
        f"Scores of runs and sessions ({figures.count(one.waiting)}) wait for `{one.name}` since "
        f"{figures.when(one.oldest.isoformat())}, and this pass was not told to send there. "
        f"How to send them elsewhere or drop them:  {doctor}"
        for one in report.elsewhere
    ]
    if report.messages_waiting and not report.has_webhook:
        notes.append(
            f"Messages about alerts wait for a webhook ({figures.count(report.messages_waiting)}), and spanscore.toml "
            f"names none. How to drop them:  {doctor}"
        )
    return notes


def _by_code(report: Report) -> tuple[list[int], dict[int, list[str]]]:
    """The exit codes that something asks for, the one that wins first, and what asks for each; 0 alone for nothing."""
    reasons: dict[int, list[str]] = {}
    for code, reason in report.exit_reasons:
        reasons.setdefault(code, []).append(reason)
    return list(reasons) or [0], reasons


def _counts(scored: Scored, kind: str) -> dict[str, int]:
    tally = scored.plan.runs if kind == "run" else scored.plan.sessions
    return {
        "considered": tally.considered,
        "scored": scored.scored[kind],
        "rescored": scored.rescored[kind],
        "unchanged": tally.unchanged,
        "waiting": tally.waiting,
        "sampled_out": tally.sampled_out,
    }


def _summary(report: Report) -> str:
    scored, runs = report.scored, _counts(report.scored, "run")
    parts = [
        (
            f"{figures.counted(runs['considered'], 'run')} considered:"
            f" {figures.count(runs['scored'])} scored, {figures.count(runs['rescored'])} scored again,"
            f" {figures.count(runs['unchanged'])} unchanged, {figures.count(runs['waiting'])} waiting for their end,"
            f" {figures.count(runs['sampled_out'])} sampled out"
        )
    ]
    sessions = scored.scored["session"] + scored.rescored["session"]
    if scored.plan.sessions.considered:
        parts.append(
            f"{figures.count(sessions)} of {figures.counted(scored.plan.sessions.considered, 'session')} scored"
        )
    for n, text in (
        (scored.left, "changed meanwhile: the next pass takes them"),
        (scored.skipped, "left because the process was asked to stop"),
        (scored.removed_runs, "are parts of other runs now: their scores are gone"),
    ):
        if n:
            parts.append(f"{figures.count(n)} {text}")
    parts.append(f"{figures.counted(scored.written, 'score')} written, {figures.count(scored.unchanged)} as before")
    if report.emitted or report.emit_waiting:
        waiting = f", {figures.counted(report.emit_waiting, 'run')} to go" if report.emit_waiting else ""
        parts.append(f"{figures.counted(report.emitted, 'score')} sent{waiting}")
    if report.sent:
        parts.append(f"{figures.counted(report.sent, 'message')} sent")
    return f"{'; '.join(parts)} ({figures.duration(report.duration_s)})."


def _value(judgement: Judgement) -> object:
    return None if judgement.value is None else score(judgement.value, judgement.rule.unit)


def _interval(judgement: Judgement) -> object:
    if judgement.interval is None:
        return None
    ends = [
        "open" if end is None else score(end, judgement.rule.unit)
        for end in (judgement.interval.low, judgement.interval.high)
    ]
    return " to ".join(ends)


_COLUMNS = (
    Column("alert", lambda row: row["one"].rule.name, style="cyan", flexible=True),
    Column("series", lambda row: row["one"].series),
    Column("state", lambda row: plain(str(row["one"].verdict), _STYLES[row["one"].verdict])),
    Column("metric", lambda row: row["one"].rule.metric),
    Column("value", lambda row: _value(row["one"]), right=True),
    Column("95% interval", lambda row: _interval(row["one"]), right=True),
    Column("n", lambda row: figures.count(row["one"].n), right=True),
)
