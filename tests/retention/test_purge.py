"""A purge leaves no byte of what it deletes in the store, and everything else as it was."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typer.testing import CliRunner

from spanscore.cli import app
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.spool import QUARANTINE, Spool
from spanscore.doctor import examine
from spanscore.errors import CollectorRunning, UsageError
from spanscore.retention.archive import archive_store
from spanscore.retention.purge import finish_purge, plan_purge, purge_store
from spanscore.store import Store, read_session
from spanscore.store.purge import Purgeable

day = dt.datetime.fromisoformat
LATER = day("2100-01-01")
START = int(day("2026-01-01T12:00:00+00:00").timestamp()) * 10**9
DAY_NS = 86_400 * 10**9
TABLES = ("spans", "span_events", "log_records", "runs", "llm_calls", "messages", "resources", "span_conflicts")


def trace_id(number: int) -> str:
    """Not found in a file by chance, in any encoding."""
    return random.Random(number).randbytes(16).hex()


def marker(number: int) -> str:
    return f"marker-{random.Random(100 + number).randbytes(12).hex()}"


def trace_request(number: int, *, span: int = 1, note: str = "first") -> bytes:
    """A run of one LLM call whose every text holds the marker of its trace; traces 1 and 2 are one session."""
    text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": f"say {marker(number)}"}]}])
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    for key, value in (("service.name", "agent"), ("host.name", f"host of {marker(number)}")):
        resource.resource.attributes.add(key=key).value.string_value = value
    one = resource.scope_spans.add().spans.add(
        trace_id=bytes.fromhex(trace_id(number)),
        span_id=span.to_bytes(8, "big"),
        name=f"chat {marker(number)}",
        start_time_unix_nano=START + number * DAY_NS,
        end_time_unix_nano=START + number * DAY_NS + 10**9,
    )
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": f"session-{(number + 1) // 2}",
        "gen_ai.input.messages": text,
        "note": note,
    }
    for key, value in attributes.items():
        one.attributes.add(key=key).value.string_value = value
    one.events.add(name=f"event {marker(number)}")
    return request.SerializeToString()


def json_request(number: int) -> bytes:
    span = {
        "traceId": trace_id(number).upper(),
        "spanId": "00000000000000aa",
        "name": f"tool {marker(number)}",
        "startTimeUnixNano": str(START + number * DAY_NS),
        "endTimeUnixNano": str(START + number * DAY_NS + 1),
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def log_request(number: int, *, loose: bool = False) -> bytes:
    request = ExportLogsServiceRequest()
    record = (
        request.resource_logs.add()
        .scope_logs.add()
        .log_records.add(
            time_unix_nano=START + number * DAY_NS,
            trace_id=b"" if loose else bytes.fromhex(trace_id(number)),
        )
    )
    record.body.string_value = f"log {marker(number + 10 * loose)}"
    return request.SerializeToString()


def both(first: bytes, second: bytes) -> bytes:
    """One request of the items of two: repeated fields of messages that are joined are joined."""
    return first + second


def spool_requests(directory: Path) -> None:
    with Spool(directory / "spool", segment_bytes=1500) as spool:
        for number in range(1, 5):
            mixed = both(trace_request(number), trace_request(number % 4 + 1))
            for signal_, encoding, payload in (
                (Signal.TRACES, Encoding.PROTOBUF, mixed),
                (Signal.TRACES, Encoding.PROTOBUF, trace_request(number, note="other content")),
                (Signal.TRACES, Encoding.JSON, json_request(number)),
                (Signal.LOGS, Encoding.PROTOBUF, log_request(number)),
                (Signal.LOGS, Encoding.PROTOBUF, log_request(number, loose=True)),
            ):
                spool.append(SpoolRecord(signal_, encoding, 1, payload))


def make_store(directory: Path, *, archived: bool = True) -> None:
    """Four traces: in the database, the archive, the kept segments of the spool, among the conflicts and the scores."""
    spool_requests(directory)
    with Store.open(directory):
        pass
    purge_store(directory, Purgeable(before=day("1990-01-01")), compact=False)  # loads the spool, deletes nothing
    quarantine = directory / "spool" / QUARANTINE
    quarantine.mkdir(exist_ok=True)
    for number in (1, 3):
        (quarantine / f"copy-{number}").write_bytes(b"cut off " + trace_request(number)[:-3])
    if archived:
        archive_store(directory, day("2026-01-03T15:00"))
    journal = directory / "bench" / "experiment.jsonl"
    journal.parent.mkdir()
    attempts = [{"kind": "ended", "trace_id": trace_id(n), "answer": marker(n), "message": None} for n in range(1, 5)]
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in attempts))
    spilled = directory / "spanscore.duckdb.tmp"
    spilled.mkdir()
    (spilled / "duckdb_temp_block-1.block").write_bytes(b"".join(marker(n).encode() for n in range(1, 5)))
    with Store.open(directory) as store:
        store.connection.execute(
            "insert into scores select run_id, 'own', 'sha', '{}', 'run', run_id, null, 1, null, null, question, null, "
            "fingerprint, now()::timestamp, null from runs"
        )
        store.connection.execute(
            "insert into scores select null, 'own', 'sha', '{}', 'session', session_id, null, 1, null, null, "
            "string_agg(question), null, null, now()::timestamp, null from runs group by session_id"
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("made") / "store"
    make_store(directory)
    return directory


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "store")
    return tmp_path / "store"


def files_with(directory: Path, text: str) -> list[str]:
    """Files of the store in which the text or the raw bytes of an id are."""
    wanted = [text.encode(), bytes.fromhex(text)] if len(text) == 32 else [text.encode()]
    return sorted(
        path.relative_to(directory).parts[0]
        for path in directory.rglob("*")
        if path.is_file() and any(one in path.read_bytes().lower() for one in wanted)
    )


def rows(directory: Path, *numbers: int) -> dict[str, list[str]]:
    """What the store has of these traces and their resources, as text; when it arrived aside."""
    found = {}
    with read_session(directory) as session:
        for table in TABLES:
            text = f"select r::varchar from (select columns(c -> c <> 'received_at') from {table}) as r".replace(
                "c -> c", "lambda c: c"
            )
            lines = [line for (line,) in session.rows(text)]
            found[table] = sorted(
                line for line in lines if any(marker(n) in line or trace_id(n) in line for n in numbers)
            )
    return found


def test_the_made_store_has_the_markers_everywhere(made):
    assert {"spanscore.duckdb", "spool", "archive"} <= set(files_with(made, marker(1)))
    assert {"spanscore.duckdb", "spool"} <= set(files_with(made, marker(4)))
    assert all(rows(made, 1).values())


@pytest.mark.parametrize(
    ("wanted", "gone"),
    [
        (Purgeable(traces=(trace_id(1)[:8],)), (1,)),
        (Purgeable(traces=(trace_id(3),)), (3,)),
        (Purgeable(sessions=("session-1",)), (1, 2)),
        (Purgeable(before=day("2026-01-03T00:00")), (1,)),
    ],
    ids=["trace", "trace in the database", "session", "before"],
)
def test_no_byte_is_left_and_the_others_are_as_before(store, wanted, gone):
    kept = [number for number in range(1, 5) if number not in gone]
    before = rows(store, *kept)

    planned = plan_purge(store, wanted)
    purged = purge_store(store, wanted)

    assert planned.counts == purged.counts
    assert purged.counts.traces == len(gone)
    for number in gone:
        assert files_with(store, marker(number)) == []
        assert files_with(store, trace_id(number)) == ["bench"]
        assert not any(rows(store, number).values())
    assert rows(store, *kept) == before
    assert all("bench" in files_with(store, marker(number)) for number in kept)
    assert {path.stat().st_mode & 0o077 for path in store.rglob("archive/**")} <= {0}
    # A log record of no trace has no id to be found by: it goes by its time.
    assert bool(files_with(store, marker(11))) is (wanted.before is None)
    assert files_with(store, marker(13))
    document = examine(store)
    assert not [line for line in document["advice"] if "changed it" in line or "compact" in line]
    assert document["accounting"]["spans"]["purged"] == purged.counts.spans


@pytest.mark.slow
def test_the_spool_keeps_the_others_and_nothing_is_loaded_again(store):
    wanted = Purgeable(before=day("2026-01-03T00:00"))
    purge_store(store, wanted)
    before = rows(store, 2, 3, 4)

    assert "spool" in files_with(store, trace_id(2))
    purge_store(store, Purgeable(before=day("1990-01-01")))
    assert rows(store, 2, 3, 4) == before

    # Without its database the store is built again from the spool, and the purged stays gone.
    (store / "spanscore.duckdb").unlink()
    shutil.rmtree(store / "archive")
    Store.open(store).close()
    purge_store(store, Purgeable(before=day("1990-01-01")))
    assert rows(store, 2, 3, 4)["spans"] == before["spans"]
    assert not any(rows(store, 1).values())


def test_a_purge_is_no_ban(store):
    purge_store(store, Purgeable(traces=(trace_id(1),)), compact=False)
    with Spool(store / "spool") as spool:
        spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 1, trace_request(1)))
    purge_store(store, Purgeable(before=day("1990-01-01")), compact=False)

    assert len(rows(store, 1)["spans"]) == 1
    assert not [line for line in examine(store)["advice"] if "changed it" in line]


def test_a_running_collector_is_not_purged_under(store):
    with Spool(store / "spool"), pytest.raises(CollectorRunning, match="Stop it, purge"):
        purge_store(store, Purgeable(traces=(trace_id(1),)))
    assert rows(store, 1)["spans"]


def test_an_unknown_or_ambiguous_id_deletes_nothing(store):
    before = rows(store, 1, 2, 3, 4)
    for traces, message in ((("feedfeed",), "No trace"), ((trace_id(1), ""), "beginning of 4 traces")):
        with pytest.raises(UsageError, match=message):
            purge_store(store, Purgeable(traces=traces))
    assert rows(store, 1, 2, 3, 4) == before


@pytest.mark.parametrize("sessions", [("nosuch",), ("session-1", "nosuch")])
def test_an_unknown_session_deletes_nothing(store, sessions):
    before, file = rows(store, 1, 2, 3, 4), (store / "spanscore.duckdb").stat().st_ino
    with pytest.raises(UsageError, match="session `nosuch`"):
        purge_store(store, Purgeable(sessions=sessions))
    assert rows(store, 1, 2, 3, 4) == before
    assert (store / "spanscore.duckdb").stat().st_ino == file


def test_where_nothing_matches_nothing_is_written_anew_and_that_is_said(store):
    file = (store / "spanscore.duckdb").stat().st_ino
    words = ["purge", "--store", str(store), "--before", "2001-01-01"]
    unasked, shown = CliRunner().invoke(app, words), CliRunner().invoke(app, [*words, "--yes"])
    document = CliRunner().invoke(app, [*words, "--yes", "--format", "json"])

    assert (unasked.exit_code, shown.exit_code, document.exit_code) == (0, 0, 0)
    assert unasked.stdout.startswith("Nothing matched, and nothing was deleted.")
    assert shown.stdout.startswith("Nothing matched, and nothing was deleted.")
    assert json.loads(document.stdout) | {"traces": 0, "log_records": 0, "compacted": False} == json.loads(
        document.stdout
    )
    assert (store / "spanscore.duckdb").stat().st_ino == file


def test_what_a_purge_without_compaction_left_is_written_anew_by_the_next(store):
    purge_store(store, Purgeable(traces=(trace_id(3),)), compact=False)
    purged = purge_store(store, Purgeable(before=day("2001-01-01")))

    assert purged.is_empty
    assert purged.compaction is not None


def test_what_shares_a_run_is_derived_again(store):
    with Store.open(store) as opened:
        opened.connection.execute(
            "insert into trace_edges values ($1, $2, 'message_hop'), ($2, $1, 'message_hop')",
            [trace_id(3), trace_id(4)],
        )
        opened.connection.execute("insert into pending_traces (trace_id) values ($1)", [trace_id(3)])
        opened.derive()
    purged = purge_store(store, Purgeable(traces=(trace_id(3),)), compact=False)

    assert purged.counts.shared_traces == 1
    with read_session(store) as session:
        assert session.rows("select count(*) from trace_edges") == [(0,)]
        assert session.rows("select count(*) from llm_calls where trace_id = $1", [trace_id(4)]) != [(0,)]
        assert session.rows("select count(*) from scores where run_id in ($1, $2)", [trace_id(3), trace_id(4)]) == [
            (0,)
        ]


def test_without_compaction_the_doctor_says_it_is_due(store):
    purge_store(store, Purgeable(traces=(trace_id(3),)), compact=False)
    assert any("purge --compact" in line for line in examine(store)["advice"])
    finish_purge(store)
    assert not any("purge --compact" in line for line in examine(store)["advice"])


KILLED_AT = [("archive", 20), ("purge", 25)]


def run_until_killed(work: str, directory: Path, step: int) -> bool:
    """Runs the work in a process that kills itself before its n-th step on disk; whether it came to that."""
    process = subprocess.run(
        [sys.executable, __file__, work, str(directory), str(step)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert process.returncode in {0, -signal.SIGKILL}, process.stderr
    return process.returncode != 0


def check_kill(made: Path, directory: Path, work: str, step: int) -> bool:
    shutil.copytree(made, directory)
    everything = rows(directory, 1, 2, 3, 4)
    was_killed = run_until_killed(work, directory, step)
    if work == "archive":
        assert rows(directory, 1, 2, 3, 4) == everything
        archive_store(directory, LATER)
        assert rows(directory, 1, 2, 3, 4) == everything
        with read_session(directory) as session:
            known = {path for (path,) in session.rows("select path from archive_files")}
        assert known == {str(path.relative_to(directory)) for path in (directory / "archive").rglob("*.*")}
        return was_killed
    kept = rows(directory, 1, 2, 4)
    try:
        purge_store(directory, Purgeable(traces=(trace_id(3),)))
    except UsageError:
        finish_purge(directory)
    assert {table: lines for table, lines in kept.items() if lines != rows(directory, 1, 2, 4)[table]} == {}
    assert kept == {
        table: [line for line in lines if marker(3) not in line and trace_id(3) not in line]
        for table, lines in everything.items()
    }
    with read_session(directory) as session:
        assert session.rows("select count(*) from spans where trace_id = $1", [trace_id(3)]) == [(0,)]
    balance = examine(directory)["accounting"]["spans"]
    assert balance["purged"] > 0
    assert not any(path.suffix == ".tmp" for path in directory.rglob("*"))
    return was_killed


@pytest.mark.slow
@pytest.mark.parametrize(("work", "step"), KILLED_AT)
def test_killed_at_a_step_nothing_is_lost_or_doubled(made, tmp_path, work, step):
    check_kill(made, tmp_path / "store", work, step)


@pytest.mark.exhaustive
@pytest.mark.parametrize("work", ["archive", "purge"])
def test_killed_at_every_step_nothing_is_lost_or_doubled(made, tmp_path, work):
    step = 1
    while check_kill(made, tmp_path / str(step), work, step):
        step += 1
    assert step > 10


def kill_before(step: int) -> None:
    """Kills this process before the n-th call that changes something on disk."""
    names = {"rename", "replace", "unlink", "fsync", "rmdir", "commit", "utime"}
    statements = ("copy", "delete", "insert", "attach", "detach", "checkpoint", "update")
    passed = 0

    def watch(frame: Any, event: str, called: Any) -> None:
        nonlocal passed
        if event != "c_call":
            return
        name = getattr(called, "__name__", "")
        if name == "execute":
            local = frame.f_locals
            is_step = any(
                isinstance(value, str) and value.lstrip().startswith(statements) for value in list(local.values())
            ) or frame.f_code.co_name in {"compact", "enter", "_delete_rows", "move"}
        else:
            is_step = name in names
        if is_step:
            passed += 1
            if passed == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


if __name__ == "__main__":
    work, directory, step = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    kill_before(step)
    if work == "archive":
        archive_store(directory, LATER)
    else:
        purge_store(directory, Purgeable(traces=(trace_id(3),)))
