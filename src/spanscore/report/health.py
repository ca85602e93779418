"""The answer of `spanscore doctor` for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.tables import Column, counted, grid, named
from spanscore.report.terminal import console, plain, shorten

if TYPE_CHECKING:
    from rich.console import Console


def print_health(document: dict[str, Any], form: str) -> None:
    """Print the examination as `text` or `json` on standard output."""
    if form == "json":
        print_json(document)
        return
    out = console()
    contents = document["contents"]
    versions = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in document["versions"].items())
    _line(out, "store", document["store"])
    _line(out, "versions", versions or None)
    _line(
        out,
        "holds",
        f"{figures.counted(contents['spans'], 'span')} of {figures.counted(contents['traces'], 'trace')}, "
        f"{figures.counted(contents['log_records'], 'log record')}, {figures.counted(contents['runs'], 'run')}",
    )
    archive = document["archive"]
    if archive["files"]:
        compared = "every byte" if archive["verified"] == "sha256" else "sizes"
        held = f"{figures.counted(archive['files'], 'file')} ({figures.size(archive['bytes'])})"
        _line(out, "archive", f"{held}, {compared} as written")
    _line(out, "last received", figures.when(contents["last_received_at"]))
    _line(out, "collector", _collector(document["collector"]))
    _line(out, "waiting", _waiting(document))
    out.print()
    rows = [{"signal": signal.replace("_", " "), **balance} for signal, balance in document["accounting"].items()]
    outcomes = [counted(key) for key in ("received", "stored", "duplicate", "conflict", "purged")]
    rejected = Column("rejected", lambda row: sum(row["rejected"].values()), right=True)
    out.print(grid(rows, [named("signal"), *outcomes, rejected, Column("why", _reasons)]))
    out.print()
    if document["findings"]:
        columns = [named("kind", "finding"), counted("n"), counted("traces"), Column("look at", _example)]
        out.print(grid(document["findings"], columns))
        out.print()
    waiting = [{"name": row["destination"], **row} for row in document["undelivered"]["scores"]]
    waiting += [{"name": f"webhook, about {row['alert']}", **row} for row in document["undelivered"]["alerts"]]
    if waiting:
        columns = [
            named("name", "undelivered to"),
            counted("waiting"),
            Column("since", lambda row: figures.when(row["oldest"])),
            Column("passes failed", lambda row: figures.count(row["failed_passes"] or 0), right=True),
            Column("last error", lambda row: row["last_error"]),
        ]
        out.print(grid(waiting, columns))
        out.print()
    for advice in document["advice"]:
        out.print(Text("! ", style="bold yellow").append_text(plain(advice)), soft_wrap=True)
    if not document["advice"]:
        out.print(Text("The store is in order.", style="green").append(" (`--repair` reads every row.)", style="dim"))


def print_repair(document: dict[str, Any], form: str) -> None:
    """Print what a repair did as `text` or `json` on standard output."""
    if form == "json":
        print_json(document)
        return
    out = console()
    _line(out, "store", document["store"])
    if document["damage"] is None:
        out.print(Text("Every row can be read. Nothing was changed.", style="green"))
        return
    _line(out, "damage", document["damage"])
    _line(out, "old files", document["moved_to"] or "there were none")
    from_spool = figures.counted(document["from_spool"], "span or log record", "spans and log records")
    _line(out, "from the spool", from_spool)
    if document["salvaged"]:
        out.print()
        columns = [named("table"), counted("rows"), counted("copied"), counted("unreadable")]
        out.print(grid(document["salvaged"], columns))
    out.print()
    for note in document["notes"]:
        out.print(Text("! ", style="bold yellow").append_text(plain(note)), soft_wrap=True)
    if not document["notes"]:
        out.print(Text("Everything is in the new store.", style="green"))


def print_undelivered(document: dict[str, Any], form: str) -> None:
    """Print what became of what waited for a destination, as `text` or `json` on standard output."""
    if form == "json":
        print_json(document)
        return
    if "discarded" in document:
        text = f"Dropped what waited for `{document['destination']}`: {figures.count(document['discarded'])}."
    else:
        text = (
            f"What waited for `{document['destination']}` ({figures.count(document['readdressed'])}) waits for "
            f"`{document['new_destination']}` now: the next `spanscore score --emit` to it sends it."
        )
    console().print(plain(text), soft_wrap=True)


def _line(out: Console, label: str, value: str | None) -> None:
    out.print(Text(f"{label:<15} ", style="bold").append_text(plain(value)), soft_wrap=True)


def _collector(status: dict[str, Any] | None) -> str:
    if status is None:
        return "none has run on this store"
    if not status["is_running"]:
        return f"not running (stopped, last seen {figures.when(status['updated_at'])})"
    places = [f"{kind} {status[kind]}" for kind in ("grpc", "http") if status[kind]]
    return f"running, PID {status['pid']}, {', '.join(places)}"


def _waiting(document: dict[str, Any]) -> str:
    spool = document["spool"]
    n = spool["waiting_spans"]
    spans = "many spans" if n is None else figures.counted(n, "span")
    return (
        f"{spans} in the spool ({figures.size(spool['waiting_bytes'])}), "
        f"{figures.counted(document['contents']['pending_traces'], 'trace')} to derive"
    )


def _example(row: dict[str, Any]) -> object:
    """The run to open, or the trace where the finding is about one without a run."""
    return row["example_run_id"] or row["example_trace_id"]


def _reasons(row: dict[str, Any]) -> str:
    return shorten(", ".join(f"{n} {reason}" for reason, n in row["rejected"].items()), 100)
