"""`spanscore doctor`: everything received is accounted for, and what is wrong is said with what to do."""

from commands import CORPUS, run

from spanscore.store import Store


def examined(store):
    ended = run("doctor", "--store", store, "--format", "json")
    assert ended.code == 0, ended.err
    return ended.document


def test_the_books_balance(store):
    document = examined(store)

    for signal in ("spans", "log_records"):
        balance = document["accounting"][signal]
        assert balance["unaccounted"] == 0
        assert balance["received"] == balance["stored"] == document["contents"][signal] > 0
    assert document["contents"]["runs"] == 5
    assert document["contents"]["pending_traces"] == 0
    assert document["spool"] == {
        "waiting_bytes": 0,
        "waiting_spans": 0,
        "waiting_log_records": 0,
        "damaged_stretches": 0,
    }
    assert document["collector"] is None
    assert document["versions"]["schema_version"]
    assert document["versions"]["model_version"]


def test_a_store_in_order_is_said_to_be_well(store):
    ended = run("doctor", "--store", store)

    assert ended.code == 0
    assert "The store is in order." in ended.out
    assert "no" not in ended.err


def test_rejected_and_repeated_spans_are_counted_and_explained(tmp_path):
    good = CORPUS / "openai-genai/ungrounded.jsonl"
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(good.read_text() * 2 + "{not json\n", encoding="utf-8")
    run("ingest", mixed, "--store", tmp_path / "s")

    document = examined(tmp_path / "s")

    spans = document["accounting"]["spans"]
    assert spans["duplicate"] == spans["stored"]
    assert sum(spans["rejected"].values()) == 1
    assert spans["unaccounted"] == 0
    assert any("rejected" in advice for advice in document["advice"])


def test_spans_that_wait_in_the_spool_are_counted(tmp_path):
    from spanscore.collector.records import Encoding, Signal, SpoolRecord
    from spanscore.collector.spool import Spool

    run("ingest", CORPUS / "openai-genai/ungrounded.jsonl", "--store", tmp_path / "s")
    waiting = (CORPUS / "openai-genai/llm_fail.jsonl").read_bytes().splitlines()[0]
    with Spool(tmp_path / "s" / "spool") as spool:
        spool.append(SpoolRecord(Signal.TRACES, Encoding.JSON, 1, waiting))

    document = examined(tmp_path / "s")

    assert document["spool"]["waiting_spans"] == waiting.count(b'"spanId"')
    assert document["spool"]["waiting_bytes"] > len(waiting)
    (advice,) = document["advice"]
    assert "spanscore collect" in advice


def test_traces_that_are_not_derived_yet_are_told_with_the_way_out(tmp_path):
    from spanscore.otlp import decode_traces_json

    payload = (CORPUS / "openai-genai/ungrounded.jsonl").read_bytes().splitlines()[0]
    with Store.open(tmp_path / "s") as store:
        store.load(decode_traces_json(payload), source="test")

    document = examined(tmp_path / "s")

    assert document["contents"]["pending_traces"] == 1
    (advice,) = document["advice"]
    assert "spanscore rebuild" in advice
    rebuilt = run("rebuild", "--store", tmp_path / "s", "--format", "json")
    assert rebuilt.document == {"traces": 1}
    assert examined(tmp_path / "s")["advice"] == []


def test_rows_that_the_books_do_not_know_are_noticed(tmp_path):
    run("ingest", CORPUS / "openai-genai/ungrounded.jsonl", "--store", tmp_path / "s")
    with Store.open(tmp_path / "s") as store:
        store.connection.execute("delete from spans where span_id = (select min(span_id) from spans)")

    assert any("table holds" in advice for advice in examined(tmp_path / "s")["advice"])


def test_a_damaged_store_is_exit_3_or_2_and_left_as_it_is(tmp_path):
    (tmp_path / "s").mkdir()
    database = tmp_path / "s" / "spanscore.duckdb"
    database.write_bytes(b"not a database" * 1000)

    ended = run("doctor", "--store", tmp_path / "s")

    assert ended.code in (2, 3)
    assert "Traceback" not in ended.err
    assert database.read_bytes() == b"not a database" * 1000


def test_the_last_thing_received_may_be_a_log_record(tmp_path):
    run("ingest", CORPUS / "openai-otelv2legacy/one_tool.logs.jsonl", "--store", tmp_path / "s")

    assert examined(tmp_path / "s")["contents"]["last_received_at"] is not None


def test_what_is_no_select_is_called_what_was_written(store):
    ended = run("sql", "install httpfs", "--store", store)

    assert (ended.code, "this is INSTALL" in ended.err) == (2, True)
