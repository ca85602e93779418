"""How a store is: what came in and what became of it, what waits, and what to do about it."""

from __future__ import annotations

import shlex
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spanscore.report.rows import Row, read_rows
from spanscore.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SCHEMA_VERSION = "1.0"
SIGNALS = ("spans", "log_records")
# Beyond this the spans that wait are not counted one by one: reading them would take too long [bytes].
_COUNTED_BYTES = 256 << 20


def examine(
    directory: Path, *, verify: bool = False, on_bytes: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The JSON document of `spanscore doctor`: facts of the store in `directory`, and `advice`, empty when all is well.

    Args:
        directory: of the store.
        verify: whether to read every byte of the archive and compare its SHA-256; otherwise sizes are compared.
        on_bytes: told (bytes of the archive read, bytes in all).

    Raises:
        StoreMissing, StoreDamaged, …: the store cannot be read; the message says what to do.
    """
    from spanscore.collector.status import read_status
    from spanscore.errors import StoreDamaged
    from spanscore.repair import is_unfinished
    from spanscore.store import read_session
    from spanscore.store.archive.check import check_archive, describe_damage
    from spanscore.store.archive.files import foreign_files
    from spanscore.store.directory import store_option

    if is_unfinished(directory):
        raise StoreDamaged(
            f"A repair of `{directory}` was cut short: what is in its archive may be missing everywhere.\n"
            f"  Go on with it:  spanscore doctor --repair {store_option(directory)}"
        )
    with _telling_what_waits(directory):
        archive = check_archive(directory, is_whole=verify, on_bytes=on_bytes)
    if archive.damaged:
        # Nothing that reads spans would work either.
        raise StoreDamaged(describe_damage(directory, archive.damaged))
    with _telling_what_waits(directory), read_session(directory) as session:
        accounting = read_rows(session, "reports/accounting.sql")
        (contents,) = read_rows(session, "reports/contents.sql")
        versions = {row["key"]: row["value"] for row in read_rows(session, "reports/versions.sql")}
        findings = read_rows(session, "reports/findings.sql")
        loaded = {row["segment"]: row["end_offset"] for row in read_rows(session, "reports/spool_manifest.sql")}
        foreign = foreign_files(session.connection, directory)
        undelivered = {
            "scores": read_rows(session, "reports/outbox.sql"),
            "alerts": read_rows(session, "reports/alert_outbox.sql"),
        }
    collector = read_status(directory)
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "store": str(directory),
        "versions": versions,
        "contents": contents,
        "accounting": {signal: _balance(signal, accounting) for signal in SIGNALS},
        "spool": _spool(directory / "spool", loaded),
        "archive": {
            "files": archive.files,
            "bytes": archive.size,
            "verified": "sha256" if archive.is_whole else "size",
            "foreign_files": len(foreign),
        },
        "undelivered": undelivered,
        "collector": collector,
        "findings": findings,
    }
    document["advice"] = _advice(document)
    return document


@contextmanager
def _telling_what_waits(directory: Path) -> Iterator[None]:
    """While something holds the store, its collector knows what waits for it."""
    from spanscore.collector.status import read_status
    from spanscore.errors import StoreLocked

    try:
        yield
    except StoreLocked as error:
        status = read_status(directory)
        if status is None or not status["is_running"]:
            raise
        raise StoreLocked(
            f"{error}\n  The collector goes on: {counted(status['waiting_spans'], 'span')} "
            f"({counted(status['waiting_bytes'], 'byte')}) {agreeing(status['waiting_spans'], 'waits', 'wait')} "
            "in the spool, and none is lost."
        ) from error


def _balance(signal: str, accounting: list[Row]) -> dict[str, Any]:
    totals: dict[str, int] = defaultdict(int)
    rejected: dict[str, int] = {}
    for row in accounting:
        if row["signal"] != signal:
            continue
        totals[row["outcome"]] += row["n"]
        if row["outcome"] == "rejected":
            rejected[row["reason"] or "unknown"] = row["n"]
    explained = sum(totals[outcome] for outcome in ("stored", "duplicate", "conflict", "rejected"))
    return {
        **{outcome: totals[outcome] for outcome in ("received", "stored", "duplicate", "conflict", "purged")},
        "rejected": rejected,
        "unaccounted": totals["received"] - explained,
    }


def _spool(directory: Path, loaded: dict[str, int]) -> dict[str, int | None]:
    """What was acknowledged and is not in the store yet; `waiting_spans` is None where there is too much to count."""
    from spanscore.collector.slices import decode_records, read_slices, waiting
    from spanscore.collector.spool import damaged_stretches

    if not directory.is_dir():
        return {"waiting_bytes": 0, "waiting_spans": 0, "waiting_log_records": 0, "damaged_stretches": 0}
    damaged = len(damaged_stretches(directory))
    waiting_bytes = sum(end - start for _, start, end in waiting(directory, loaded=loaded, synced={}))
    if waiting_bytes > _COUNTED_BYTES:
        nothing: dict[str, int | None] = {"waiting_spans": None, "waiting_log_records": None}
        return {"waiting_bytes": waiting_bytes, **nothing, "damaged_stretches": damaged}
    spans = log_records = 0
    for piece in read_slices(directory, loaded=loaded, synced={}):
        tables, _ = decode_records(piece.records)
        spans += tables.spans.num_rows
        log_records += tables.log_records.num_rows
    return {
        "waiting_bytes": waiting_bytes,
        "waiting_spans": spans,
        "waiting_log_records": log_records,
        "damaged_stretches": damaged,
    }


def _advice(document: dict[str, Any]) -> list[str]:
    from spanscore.store.directory import store_option

    store = document["store"]
    collector = document["collector"]
    contents = document["contents"]
    advice = []
    if document["spool"]["waiting_bytes"]:
        if collector is None or not collector["is_running"]:
            advice.append(
                "Spans wait in the spool and no collector runs to load them. "
                f"Start one: spanscore collect {store_option(store)}"
            )
        elif collector["last_error"] is not None:
            advice.append(f"Spans wait in the spool. The collector last said: {collector['last_error']}")
    pending = contents["pending_traces"]
    if pending:
        advice.append(
            f"{counted(pending, 'trace')} {agreeing(pending, 'has', 'have')} rows that the trajectory does not "
            "know yet. "
            f"A running collector catches up by itself; otherwise: spanscore rebuild {store_option(store)}"
        )
    foreign, damaged = document["archive"]["foreign_files"], document["spool"]["damaged_stretches"]
    if foreign:
        advice.append(
            f"{counted(foreign, 'file')} in `{store}/archive` {agreeing(foreign, 'is', 'are')} of an earlier "
            "database of this directory. Nothing reads or deletes what is there: restore that database from a backup, "
            "or move it away."
        )
    if contents["compaction_due"]:
        advice.append(
            "Something was purged, and bytes of it may remain in the database file. "
            f"Write it anew: spanscore purge --compact {store_option(store)}"
        )
    advice += _advice_on_undelivered(document)
    advice += _advice_on_accounting(document)
    if document["accounting"]["spans"]["conflict"]:
        advice.append(
            "Spans came twice with different content; the first was kept, the others are in `span_conflicts`. "
            "Two emitters may share ids."
        )
    if damaged:
        advice.append(
            f"{counted(damaged, 'stretch', 'stretches')} of the spool could not be loaded: spans that were "
            f"acknowledged may be missing. Check the disk; copies of the bytes are in `{store}/spool/quarantine`, and "
            "deleting them ends this advice."
        )
    if contents["spans"] and not contents["runs"] and not contents["pending_traces"]:
        advice.append("There are spans and no agent runs: is the agent instrumented with one of the known conventions?")
    return advice


def _advice_on_undelivered(document: dict[str, Any]) -> list[str]:
    from spanscore.store.directory import store_option

    doctor = f"spanscore doctor {store_option(document['store'])}"
    advice = []
    for row in document["undelivered"]["scores"]:
        name = shlex.quote(row["destination"])
        advice.append(
            f"Scores of runs and sessions ({row['waiting']}) wait for `{row['destination']}` since "
            f"{row['oldest'][:19]}Z. The next `spanscore score --emit` to that address sends them. Where it is not "
            f"used any more:  {doctor} --readdress {name} NEW  or  {doctor} --discard {name}"
        )
    messages = document["undelivered"]["alerts"]
    if messages:
        advice.append(
            f"Messages about alerts ({sum(row['waiting'] for row in messages)}) wait for the webhook since "
            f"{messages[0]['oldest'][:19]}Z. The next `spanscore score` with a webhook in spanscore.toml sends them. "
            f"Where nobody has to be told any more:  {doctor} --discard webhook"
        )
    return advice


def _advice_on_accounting(document: dict[str, Any]) -> list[str]:
    contents = document["contents"]
    advice = []
    for signal in SIGNALS:
        balance = document["accounting"][signal]
        if balance["unaccounted"]:
            advice.append(f"{balance['unaccounted']} {signal} were received and nothing says what became of them.")
        if balance["stored"] - balance["purged"] != contents[signal]:
            purged = f" and {balance['purged']} of them purged" if balance["purged"] else ""
            advice.append(
                f"The accounting says {balance['stored']} {signal} were stored{purged}, "
                f"and the table holds {contents[signal]}. Something else has changed it."
            )
        if balance["rejected"]:
            reasons = ", ".join(f"{n} {reason}" for reason, n in balance["rejected"].items())
            noun = signal.replace("_", " ")
            records = " or records that could not be read" if signal == "spans" else ""
            advice.append(
                f"Some {noun}{records} were rejected and are not stored: {reasons}. Look at what their emitter sends."
            )
    return advice
