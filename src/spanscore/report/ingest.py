"""What `spanscore ingest` and `spanscore rebuild` say when they are done."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.terminal import console, error_console, plain, shorten

if TYPE_CHECKING:
    from spanscore.ingest import IngestSummary
    from spanscore.store import SignalCounts


def print_summary(summary: IngestSummary, form: str) -> None:
    """Print what became of the files as `text` or `json`; the places of unreadable records go to standard error."""
    if form == "json":
        print_json(summary.document())
        return
    out = console()
    unreadable = summary.unreadable
    # What could not be read may have held anything: it is no span to a person.
    spans = summary.counts.spans.received - unreadable.total()
    rejected = Counter(summary.counts.spans.rejected) - unreadable
    files = figures.counted(summary.files, "file")
    out.print(f"Read {files}: {_outcome('span', summary.counts.spans, spans, rejected)}.", soft_wrap=True)
    logs = summary.counts.log_records
    if logs.received:
        out.print(f"Also {_outcome('log record', logs, logs.received, Counter(logs.rejected))}.", soft_wrap=True)
    if unreadable:
        records = figures.counted(unreadable.total(), "record")
        out.print(f"{records} could not be read ({_reasons(unreadable)}).", soft_wrap=True)
    notes = error_console()
    if not summary.files:
        notes.print("! No file was found there: nothing was stored.", style="bold yellow", soft_wrap=True)
    for noun, reasons in (("span", rejected), ("log record", Counter(logs.rejected))):
        if reasons:
            were = f"{figures.counted(reasons.total(), noun)} {figures.agreeing(reasons.total(), 'was', 'were')}"
            notes.print(
                f"! {were} rejected, and the rest kept: {_reasons(reasons)}", style="bold yellow", soft_wrap=True
            )
    for path in summary.fruitless:
        place = Text("! ", style="bold yellow").append_text(plain(path))
        notes.print(place.append(": neither a span nor a log record is in it"), soft_wrap=True)
    for problem in summary.problems:
        place = Text("! ", style="bold yellow").append_text(plain(f"{problem.path}:{problem.number}"))
        detail = plain(shorten(problem.detail, 200))
        notes.print(place.append(f" {problem.reason}: ").append_text(detail), soft_wrap=True)
    more = unreadable.total() - len(summary.problems)
    if more > 0:
        notes.print(f"! … and {figures.count(more)} more that could not be read", style="bold yellow", soft_wrap=True)


def print_rebuilt(traces: int, form: str) -> None:
    """Print how many traces were derived anew."""
    if form == "json":
        print_json({"traces": traces})
    else:
        console().print(f"Derived the trajectories of {figures.counted(traces, 'trace')}.", soft_wrap=True)


def _outcome(noun: str, counts: SignalCounts, received: int, rejected: Counter[str]) -> str:
    parts = [f"{figures.count(counts.stored)} stored"]
    if counts.duplicate:
        parts.append(f"{figures.count(counts.duplicate)} already there")
    if counts.conflict:
        parts.append(f"{figures.count(counts.conflict)} with an id that another content has")
    if rejected:
        parts.append(f"{figures.count(rejected.total())} rejected ({_reasons(rejected)})")
    return f"{figures.counted(received, noun)} received, " + ", ".join(parts)


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{figures.count(n)} {reason}" for reason, n in sorted(counts.items()))
