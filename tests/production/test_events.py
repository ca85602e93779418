"""Scores leave as log records that spanscore itself reads back, and that change nothing about the runs they judge."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from passes import ODD, catalogue, job, one_pass, query, scores

from spanscore.collector import Collector
from spanscore.errors import UsageError
from spanscore.evaluate import Catalogue
from spanscore.ingest import ingest_files
from spanscore.production.events import Destination, as_json, as_protobuf, record

ROW: dict[str, Any] = {
    "kind": "run",
    "scored_id": "call_1",
    "grain": "tool_call",
    "evaluator": "e",
    "evaluator_sha256": "ab",
    "params": "{}",
    "score_value": 0.0,
    "score_label": None,
    "not_applicable_reason": None,
    "explanation": "Say “no”.",
    "agent_name": None,
    "trace_fingerprint": "f",
    "error": None,
    "scored_at_us": 1_796_002_301_523_424,
    "session_id": None,
    "run_id": "0" * 31 + "1",
    "trace_id": "0" * 31 + "1",
    "span_id": "0" * 15 + "2",
    "response_id": "r",
}


def attributes(found: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values())) for pair in found["attributes"]}


def records(path: Path) -> list[dict[str, Any]]:
    return [
        one
        for line in path.read_text(encoding="utf-8").splitlines()
        for one in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    ]


def test_a_record_has_the_names_of_the_conventions() -> None:
    found = record(ROW)

    assert (found["eventName"], found["traceId"], found["spanId"]) == (
        "gen_ai.evaluation.result", ROW["trace_id"], ROW["span_id"],
    )  # fmt: skip
    assert {name: value for name, value in attributes(found).items() if not name.startswith("spanscore.")} == {
        "gen_ai.evaluation.name": "e",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.explanation": "Say “no”.",
        "gen_ai.response.id": "r",
    }


def test_what_does_not_apply_has_a_label_and_no_value() -> None:
    found = attributes(record({**ROW, "score_value": None, "not_applicable_reason": "no_tools"}))

    assert "gen_ai.evaluation.score.value" not in found
    assert found["gen_ai.evaluation.score.label"] == "not_applicable"
    assert found["spanscore.evaluation.not_applicable_reason"] == "no_tools"


def test_a_failure_has_an_error_and_no_value() -> None:
    found = attributes(record({**ROW, "score_value": None, "error": "evaluator_failed"}))

    assert found["error.type"] == "evaluator_failed"
    assert not {"gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"} & found.keys()


def test_the_same_score_is_the_same_record_and_another_has_another_id() -> None:
    assert record(ROW) == record(dict(ROW))
    ids = {
        attributes(record({**ROW, **change}))["spanscore.evaluation.id"]
        for change in ({}, {"trace_fingerprint": "g"}, {"evaluator_sha256": "cd"}, {"params": '{"a":1}'})
    }
    assert len(ids) == 4


def test_both_encodings_say_the_same() -> None:
    from spanscore.otlp import decode_logs, decode_logs_json

    two = [record(ROW), record({**ROW, "trace_id": None, "span_id": None, "score_value": None, "score_label": "good"})]
    by_json, by_protobuf = decode_logs_json(as_json(two)), decode_logs([as_protobuf(two)])

    assert by_json.log_records.equals(by_protobuf.log_records)
    assert by_json.scopes.equals(by_protobuf.scopes)


@pytest.fixture(scope="module")
def emitted_once(captured: Path, evaluators: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that was scored, and the file to which all of its scores were written."""
    folder = tmp_path_factory.mktemp("emitted")
    store, events = Path(shutil.copytree(captured, folder / "store")), folder / "events.jsonl"
    one_pass(job(store, evaluators, destination=str(events)), emit=events)
    return folder


@pytest.fixture
def emitted(emitted_once: Path, tmp_path: Path) -> Path:
    """The file to which all scores of the store beside it were written."""
    return Path(shutil.copytree(emitted_once, tmp_path / "emitted")) / "events.jsonl"


def test_every_score_is_told_once_about_a_span_that_is_there(emitted: Path) -> None:
    store = emitted.with_name("store")
    told = records(emitted)

    assert len(told) == len(scores(store))
    spans = set(query(store, "select trace_id, span_id from spans"))
    assert {
        one.get("traceId") is None for one in told if attributes(one)["spanscore.evaluation.grain"] == "session"
    } == {True}
    of_runs = [one for one in told if attributes(one)["spanscore.evaluation.grain"] != "session"]
    assert [one for one in of_runs if (one["traceId"], one["spanId"]) not in spans] == []
    found = {
        (attributes(one)["gen_ai.evaluation.name"], attributes(one)["spanscore.evaluation.subject.id"]): one["spanId"]
        for one in of_runs
    }
    for agent, run_id in query(store, "select agent_invocation_id, run_id from agent_invocations"):
        assert found["agent_success", agent] == agent, run_id
    tops = {
        found["run_error", run_id]: parent
        for run_id, parent in query(
            store,
            "select run_id, bool_and(parent_span_id is null) from runs join spans using (trace_id)"
            " where parent_span_id is null group by all",
        )
    }
    assert set(query(store, "select span_id from spans where parent_span_id is null")) >= {(top,) for top in tops}


def test_reading_its_own_scores_back_changes_nothing(emitted: Path, evaluators: Catalogue) -> None:
    store = emitted.with_name("store")
    before = query(store, "select * exclude (conventions) from runs order by all")
    told = ingest_files([str(emitted)], store)
    again = ingest_files([str(emitted)], store)

    assert (told.counts.log_records.stored, told.counts.log_records.received) == (len(records(emitted)),) * 2
    assert (again.counts.log_records.stored, again.counts.log_records.rejected) == (0, {})
    assert query(store, "select * exclude (conventions) from runs order by all") == before
    assert query(store, "select count(*) from pending_traces") == [(0,)]
    assert one_pass(job(store, evaluators)).scored.done == 0
    from spanscore.store import Store

    with Store.open(store) as opened:
        opened.rebuild()
    assert query(store, "select * exclude (conventions) from runs order by all") == before
    assert one_pass(job(store, evaluators)).scored.done == 0


def test_nothing_new_is_nothing_to_tell(emitted: Path, evaluators: Catalogue) -> None:
    store = emitted.with_name("store")
    size = emitted.stat().st_size
    report = one_pass(job(store, evaluators, destination=Destination(str(emitted), {}).name), emit=emitted)

    assert (report.emitted, emitted.stat().st_size) == (0, size)


def test_a_torn_line_does_not_spoil_the_next(store: Path, few: Catalogue, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_bytes(b'{"resourceLogs":[{"reso')
    report = one_pass(job(store, few, destination=Destination(str(events), {}).name), emit=events)

    assert events.read_bytes().splitlines()[0] == b'{"resourceLogs":[{"reso'
    assert len(events.read_bytes().splitlines()) == 2
    assert report.emitted > 0


def test_an_endpoint_gets_them_and_a_collector_of_its_own_is_no_loop(
    store: Path, few: Catalogue, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(store, tmp_path / "other"))
    with Collector(other, grpc=None, http="127.0.0.1:0") as collector:
        url = f"http://{collector.http_address}"
        report = one_pass(job(store, few, destination=Destination(url, {}).name), emit=url)
        collector.drain(30)

    assert report.failures == []
    assert query(other, "select count(*) from log_records where event_name = 'gen_ai.evaluation.result'") == [
        (report.emitted,)
    ]
    assert query(other, "select run_id, fingerprint from runs order by 1") == query(
        store, "select run_id, fingerprint from runs order by 1"
    )


def test_an_endpoint_that_is_down_is_told_of_and_gets_them_later(
    store: Path, few: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.production.delivery.time.sleep", lambda _: None)
    url = "http://user:hush@127.0.0.1:9"
    name = Destination(url, {}).name
    assert "hush" not in name
    broken = one_pass(job(store, few, destination=name), emit=url)

    assert (broken.exit_code, broken.emitted) == (3, 0)
    assert broken.emit_waiting == broken.scored.done > 0
    assert "could not be reached" in broken.failures[0]
    assert "hush" not in broken.failures[0]

    sent: list[bytes] = []
    monkeypatch.setattr("spanscore.production.events.post", lambda _, body, **__: sent.append(body) or b"")
    mended = one_pass(job(store, few, destination=name), emit=url)

    assert (mended.exit_code, mended.scored.done, mended.emit_waiting) == (0, 0, 0)
    assert mended.emitted == len(scores(store))
    assert sent


@pytest.mark.parametrize("word", ["ftp://x", "http://", "."])
def test_a_destination_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        Destination(word, {})


def test_headers_come_from_the_variable_of_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr("spanscore.production.events.post", lambda url, body, **more: sent.update(more, url=url) or b"")
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic%20abc, x-scope = a "}
    Destination("https://example.org/otlp/", environ).send([record(ROW)])

    assert sent["url"] == "https://example.org/otlp/v1/logs"
    assert sent["headers"]["authorization"] == "Basic abc"
    assert sent["headers"]["x-scope"] == "a"


def test_a_user_of_the_endpoint_is_a_header_and_not_part_of_its_name() -> None:
    destination = Destination("https://user:hush@example.org/otlp", {"OTEL_EXPORTER_OTLP_HEADERS": "x-scope=a"})

    assert destination.name == "https://example.org/otlp/v1/logs"
    assert destination._url == destination.name
    assert destination._headers == {"x-scope": "a", "Authorization": "Basic dXNlcjpodXNo"}
    with pytest.raises(UsageError, match="Only one of them can be sent"):
        Destination("https://user:hush@example.org", {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x"})


def test_failures_are_told_too(store: Path, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "odd.sql").write_text(
        ODD + "select run_id, 'inf'::double as score_value from runs", encoding="utf-8"
    )
    events = tmp_path / "events.jsonl"
    report = one_pass(
        job(store, catalogue(tmp_path, ("odd",)), destination=Destination(str(events), {}).name), emit=events
    )

    assert report.emitted == report.scored.done
    assert {attributes(one).get("error.type") for one in records(events)} == {"evaluator_failed"}


def test_the_file_is_for_its_owner_alone(emitted: Path) -> None:
    mode = subprocess.run(
        [sys.executable, "-c", f"import os; print(os.stat({str(emitted)!r}).st_mode & 0o77)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert mode.stdout == "0\n"
