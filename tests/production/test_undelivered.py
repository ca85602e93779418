"""What does not arrive is seen with its destination and reason, bounded by the runs, and dropped or sent elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from passes import catalogue, job, one_pass, query
from typer.testing import CliRunner

from spanscore.addresses import read_address
from spanscore.doctor import examine
from spanscore.errors import UsageError
from spanscore.evaluate import Catalogue
from spanscore.production.events import Destination
from spanscore.production.passes import Report
from spanscore.production.undelivered import discard, readdress
from spanscore.store import Store, migrate

MISTYPED = "http://user:hush@127.0.0.1:9/t0k3nhush"
NAME = Destination(MISTYPED, {}).name


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)


def emit_to(where: str | Path | None, store: Path, evaluators: Catalogue, **changes: Any) -> Report:
    """One pass that sends to `where`."""
    name = None if where is None else Destination(str(where), {}).name
    return one_pass(job(store, evaluators, destination=name, **changes), emit=where)


@pytest.fixture(scope="module")
def undelivered_once(captured: Path, few: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose scores wait for an address at which nobody answers; for copying."""
    store = Path(shutil.copytree(captured, tmp_path_factory.mktemp("undelivered") / "store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
        emit_to(MISTYPED, store, few)
    return store


@pytest.fixture
def undelivered(undelivered_once: Path, tmp_path: Path) -> Path:
    """A store whose scores wait for an address at which nobody answers."""
    return Path(shutil.copytree(undelivered_once, tmp_path / "store"))


def touch(store: Path) -> None:
    """Every run is another one than before, as after late spans."""
    with Store.open(store) as opened:
        opened.connection.execute("update runs set fingerprint = 'x' || fingerprint")


def waiting(store: Path) -> list[tuple[Any, ...]]:
    return query(store, "select destination, kind, subject_id, versions from score_outbox order by all")


def doctor(store: Path, *words: str) -> Any:
    from spanscore.cli import app

    return CliRunner().invoke(app, ["doctor", "--store", str(store), *words])


def test_the_doctor_tells_what_waits_for_whom_since_when_and_why(undelivered: Path, few: Catalogue) -> None:
    emit_to(MISTYPED, undelivered, few)
    document = examine(undelivered)
    ((oldest, n),) = query(undelivered, "select min(queued_at), count(*) from score_outbox")

    (row,) = document["undelivered"]["scores"]
    assert (row["destination"], row["waiting"], row["failed_passes"]) == (NAME, n, 2)
    assert row["oldest"].startswith(oldest.isoformat()[:26])
    assert row["failed_at"] > row["oldest"]
    assert row["last_error"].startswith("http://127.0.0.1:9 could not be reached in 3 attempts")
    (advice,) = (line for line in document["advice"] if NAME in line)
    assert f"doctor --store {undelivered} --discard {NAME}" in advice
    shown = doctor(undelivered).stdout
    assert "undelivered to" in shown
    assert "hush" not in shown + json.dumps(document)


def test_no_secret_of_an_address_is_in_any_table(undelivered: Path) -> None:
    tables = query(undelivered, "select table_name from duckdb_tables() where not temporary")
    texts = " ".join(str(query(undelivered, f'select * from "{table}"')) for (table,) in tables)

    assert "127.0.0.1:9" in texts
    assert "hush" not in texts


def test_a_destination_that_is_not_given_any_more_is_mentioned(
    undelivered: Path, few: Catalogue, tmp_path: Path
) -> None:
    from spanscore.report.production import document

    ((n,),) = query(undelivered, "select count(*) from score_outbox")
    for where in (None, tmp_path / "events.jsonl"):
        report = emit_to(where, undelivered, few)
        assert [(one.name, one.waiting) for one in report.elsewhere] == [(NAME, n)]
        assert (report.emit_waiting, report.exit_code) == (0, 0)
        (elsewhere,) = document(report)["emitted"]["elsewhere"]
        assert (elsewhere["destination"], elsewhere["waiting"]) == (NAME, n)
    assert emit_to(MISTYPED, undelivered, few).elsewhere == []


def test_the_command_says_so_on_standard_error(
    undelivered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spanscore.cli import app

    monkeypatch.chdir(tmp_path)
    words = ["score", "--store", str(undelivered), "--evaluators", "run_error,tool_error_rate"]
    ended = CliRunner().invoke(app, words)

    assert ended.exit_code == 0
    assert f"wait for `{NAME}` since" in ended.stderr
    assert f"spanscore doctor --store {undelivered}" in ended.stderr


def test_what_waits_is_bounded_by_the_runs_and_not_by_the_passes(undelivered: Path, few: Catalogue) -> None:
    before = waiting(undelivered)
    touch(undelivered)
    assert emit_to(MISTYPED, undelivered, few).scored.done > 0

    assert [row[:3] for row in waiting(undelivered)] == [row[:3] for row in before]
    ((subjects,),) = query(undelivered, "select count(*) from scored_subjects")
    assert len(before) == subjects


def sent_evaluators(events: Path) -> dict[str, int]:
    """Scores in a file that was emitted to, by evaluator [count]."""
    found: dict[str, int] = {}
    for line in events.read_text(encoding="utf-8").splitlines():
        for one in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
            name = next(p["value"]["stringValue"] for p in one["attributes"] if p["key"] == "gen_ai.evaluation.name")
            found[name] = found.get(name, 0) + 1
    return found


def stored_evaluators(store: Path) -> dict[str, int]:
    return dict(query(store, "select evaluator, count(*) from scores group by evaluator"))


def test_scores_that_wait_are_not_forgotten_for_those_of_other_evaluators(
    undelivered: Path, few: Catalogue, tmp_path: Path
) -> None:
    """Two schedules with different evaluators and one destination, which did not answer in between."""
    others = catalogue(tmp_path, ("llm_error_rate",))
    emit_to(MISTYPED, undelivered, others)
    events = tmp_path / "events.jsonl"
    readdress(undelivered, MISTYPED, str(events))
    emit_to(events, undelivered, few)

    assert sent_evaluators(events) == stored_evaluators(undelivered)
    assert set(stored_evaluators(undelivered)) == {"run_error", "tool_error_rate", "llm_error_rate"}


def test_what_waits_is_readdressed_and_sent_once(undelivered: Path, few: Catalogue, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    ended = doctor(undelivered, "--readdress", MISTYPED, str(events), "--format", "json")
    document = json.loads(ended.stdout)

    assert (document["destination"], document["new_destination"]) == (NAME, str(events))
    assert document["readdressed"] == len(waiting(undelivered)) > 0
    report = emit_to(events, undelivered, few)
    assert sent_evaluators(events) == stored_evaluators(undelivered)
    assert (report.elsewhere, examine(undelivered)["undelivered"]["scores"]) == ([], [])


@pytest.mark.slow
def test_what_waits_for_both_addresses_is_sent_once(undelivered: Path, few: Catalogue, tmp_path: Path) -> None:
    """A pass was killed before it sent to the new address what it had scored again."""
    events = tmp_path / "events.jsonl"
    touch(undelivered)
    emit_to(None, undelivered, few)
    with Store.open(undelivered) as opened:
        opened.connection.execute(
            "insert into score_outbox select ?, kind, subject_id, versions, queued_at from score_outbox limit 3",
            [str(events)],
        )
    readdress(undelivered, NAME, str(events))
    emit_to(events, undelivered, few)

    assert sent_evaluators(events) == stored_evaluators(undelivered)


def test_what_waits_is_dropped(undelivered: Path, few: Catalogue) -> None:
    scores = query(undelivered, "select count(*) from scores")
    n = len(waiting(undelivered))
    ended = doctor(undelivered, "--discard", "http://127.0.0.1:9/t0k3nhush/", "--format", "json")

    assert json.loads(ended.stdout) | {"store": ""} == {
        "schema_version": "1.0", "store": "", "destination": NAME, "discarded": n,
    }  # fmt: skip
    for table in ("score_outbox", "destination_failures"):
        assert query(undelivered, f"select count(*) from {table}") == [(0,)]
    assert query(undelivered, "select count(*) from scores") == scores
    assert emit_to(None, undelivered, few).elsewhere == []


@pytest.mark.slow
def test_when_some_have_arrived_the_failure_is_past(
    undelivered: Path, few: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.production.events.post", lambda *_, **__: b"")
    emit_to(MISTYPED, undelivered, few)

    assert query(undelivered, "select count(*) from destination_failures") == [(0,)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--discard", "http://127.0.0.1:10"], "Nothing waits for `http://127.0.0.1:10/v1/logs`"),
        (["--discard", ""], "neither an endpoint nor a file"),
        (["--discard", "webhook"], "waits for the webhook"),
        (["--readdress", "http://h", "http://k"], "Nothing waits for `http://h/v1/logs`"),
        (["--readdress", NAME, "ftp://user:hush@h"], "begins with ftp://"),
        (["--readdress", NAME, MISTYPED], "already"),
        (["--readdress", NAME, "webhook"], "spanscore.toml"),
        (["--readdress", NAME, "./x", "--discard", NAME], "one at a time"),
    ],
)
def test_a_mistake_is_a_usage_error_and_drops_nothing(
    undelivered: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(undelivered.parent)
    before = waiting(undelivered)
    ended = doctor(undelivered, *words)

    assert (ended.exit_code, said in ended.stderr) == (2, True), ended.stderr
    assert "hush" not in ended.stderr
    assert waiting(undelivered) == before


def test_what_waits_for_nobody_is_named_with_those_that_something_waits_for(undelivered: Path) -> None:
    with pytest.raises(UsageError, match="Something waits for"):
        discard(undelivered, "http://h")


def test_addresses_that_wait_since_before_get_the_same_names(tmp_path: Path) -> None:
    """What the migration makes of them in SQL is what `score` looks for."""
    urls = [
        "http://h:4318/v1/logs", "https://h/otlp/v1/logs", "https://h/T04AB9/v1/logs", "https://h/Api/v1beta1/17/v1/logs",
        "https://h/abcdefghijklmnopqrstu/s3cr3t/v1/logs", "https://[::1]:4318/a-b_c.d/12345/%2F/v1/logs",
    ]  # fmt: skip
    Store.open(tmp_path).close()
    last = migrate.known_migrations()[8]
    assert last.name == "undelivered"
    with Store.open(tmp_path) as opened:
        for word in (*urls, "/srv/T04AB9/events.jsonl"):
            opened.connection.execute("insert into score_outbox values (?, 'run', 'r', [1], now()::timestamp)", [word])
        opened.connection.execute(last.sql[last.sql.index("update score_outbox") :])

    assert {row[0] for row in waiting(tmp_path)} == {
        "/srv/T04AB9/events.jsonl",
        *(read_address(url, called="--emit").name for url in urls),
    }


def test_a_copy_for_others_has_no_addresses(undelivered: Path, tmp_path: Path) -> None:
    from spanscore.store.evaluation import Scope
    from spanscore.store.exporting import Selection, export_parquet

    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    names = {table.table for table in export_parquet(undelivered, tmp_path / "out", Selection(scope=Scope()))}

    assert not {"score_outbox", "destination_failures", "alert_outbox"} & names


@pytest.mark.parametrize(
    "word", ["localhost:4318", "otel.example.org:4318/v1/logs", "[::1]:4318", "https//host", "http:/host", ""]
)
def test_an_endpoint_with_something_missing_is_no_file(word: str) -> None:
    with pytest.raises(UsageError, match="neither an endpoint nor a file"):
        Destination(word, {})
