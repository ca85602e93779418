"""What `spanscore ingest` and `spanscore rebuild` say when they are done."""

from __future__ import annotations

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
    files = f"{figures.count(summary.files)} file{'' if summary.files == 1 else 's'}"
    out.print(f"Read {files}: {_outcome('span', summary.counts.spans)}.", soft_wrap=True)
    if summary.counts.log_records.received:
        out.print(f"Also {_outcome('log record', summary.counts.log_records)}.", soft_wrap=True)
    notes = error_console()
    if not summary.files:
        notes.print("! No file was found there: nothing was stored.", style="bold yellow", soft_wrap=True)
    for problem in summary.problems:
        place = Text("! ", style="bold yellow").append_text(plain(f"{problem.path}:{problem.number}"))
        detail = plain(shorten(problem.detail, 200))
        notes.print(place.append(f" {problem.reason}: ").append_text(detail), soft_wrap=True)
    more = summary.unreadable - len(summary.problems)
    if more > 0:
        notes.print(f"! … and {figures.count(more)} more that could not be read", style="bold yellow", soft_wrap=True)


def print_rebuilt(traces: int, form: str) -> None:
    """Print how many traces were derived anew."""
    if form == "json":
        print_json({"traces": traces})
    else:
        console().print(f"Derived the trajectories of {figures.count(traces)} traces.", soft_wrap=True)


def _outcome(noun: str, counts: SignalCounts) -> str:
    parts = [f"{figures.count(counts.stored)} stored"]
    if counts.duplicate:
        parts.append(f"{figures.count(counts.duplicate)} already there")
    if counts.conflict:
        parts.append(f"{figures.count(counts.conflict)} with an id that another content has")
    rejected = sum(counts.rejected.values())
    if rejected:
        reasons = ", ".join(f"{figures.count(n)} {reason}" for reason, n in sorted(counts.rejected.items()))
        parts.append(f"{figures.count(rejected)} rejected ({reasons})")
    plural = "" if counts.received == 1 else "s"
    return f"{figures.count(counts.received)} {noun}{plural} received, " + ", ".join(parts)
