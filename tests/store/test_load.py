"""Loading: each thing once, all of it accounted for."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest

from spanscore.store import ManifestRow, Store

NS = 1_700_000_000_123_456_789
ALL_TYPES = {
    "text": "x",
    "flag": False,
    "count": 2**63 - 1,
    "share": 0.5,
    "bytes": b"\x00\xff",
    "list": {"json_value": '[1, 2.5, "z", null]'},
    "map": {"json_value": '{"b": 1, "a": {"c": 9007199254740993}}'},
    "empty": {},
    "absent": None,
    "": "empty key",
    "a.b'\"\n": "awkward key",
}


def one(store: Store, sql: str) -> tuple[Any, ...]:
    (row,) = store.connection.execute(sql).fetchall()
    return row


def test_a_span_is_stored_with_its_resource_scope_events_and_links(store: Store, make_tables: Any) -> None:
    tables = make_tables(
        [{"parent_span_id": b"\xab" * 8, "trace_state": "k=v", "flags": 257, "status_code": 2, "status_message": "no"}],
        events=[{"event_index": 1, "time_unix_nano": NS, "attributes": {"a": 1}}],
        links=[{"linked_trace_id": b"\xcd" * 16, "linked_span_id": b"\xef" * 8}],
        scope={"version": "1.2"},
    )
    counts = store.load(tables, source="test")

    assert (counts.spans.received, counts.spans.stored) == (1, 1)
    assert one(
        store,
        "select trace_id, span_id, parent_span_id, trace_state, flags, status_code, status_message, service_name, "
        "scope_name, scope_version, problems from spans join resources using (resource_id) "
        "join scopes using (scope_id)",
    ) == ("0" * 31 + "1", "0" * 15 + "1", "ab" * 8, "k=v", 257, 2, "no", "agent", "tests", "1.2", None)
    assert one(store, "select span_id, event_index, time_unix_nano, attributes from span_events") == (
        "0" * 15 + "1",
        1,
        NS,
        {"a": 1},
    )
    assert one(store, "select linked_trace_id, linked_span_id from span_links") == ("cd" * 16, "ef" * 8)


def test_attributes_keep_their_types(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{"attributes": ALL_TYPES}]), source="test")

    assert one(store, "select attributes from spans")[0] == {
        "text": "x",
        "flag": False,
        "count": 2**63 - 1,
        "share": 0.5,
        "bytes": b"\x00\xff",
        "list": [1, 2.5, "z", None],
        "map": {"b": 1, "a": {"c": 9007199254740993}},
        "empty": None,
        "absent": None,
        "": "empty key",
        "a.b'\"\n": "awkward key",
    }
    assert one(
        store,
        "select variant_typeof(attributes['count']), variant_typeof(attributes['share']), "
        "variant_typeof(attributes['flag']), variant_typeof(attributes['bytes']) from spans",
    ) == ("INT64", "DOUBLE", "BOOL_FALSE", "BLOB")


@pytest.mark.parametrize(
    ("start", "end", "duration", "problem"),
    [
        (NS, NS + 1, 1, None),
        (NS, NS, 0, None),
        (NS, NS - 1, None, "end_before_start"),
        (NS, 0, None, "no_end_time"),
        (0, NS, None, "no_start_time"),
        (1, 2**64 - 1, None, None),
    ],
)
def test_a_duration_is_never_negative_and_never_invented(
    store: Store, make_tables: Any, start: int, end: int, duration: int | None, problem: str | None
) -> None:
    store.load(make_tables([{"start_time_unix_nano": start, "end_time_unix_nano": end}]), source="test")

    assert one(store, "select start_time_unix_nano, end_time_unix_nano, duration_ns, problems from spans") == (
        start,
        end,
        duration,
        None if problem is None else [problem],
    )


@pytest.mark.parametrize("nano", [0, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_time_no_timestamp_can_hold_is_null_and_its_integer_exact(store: Store, make_tables: Any, nano: int) -> None:
    tables = make_tables([{"start_time_unix_nano": nano}], events=[{"time_unix_nano": nano}])
    store.load(tables, source="test")

    assert one(store, "select start_time_unix_nano, start_time, time_unix_nano, time from spans, span_events") == (
        nano,
        None,
        nano,
        None,
    )


def test_timestamps_are_utc_and_keep_nanoseconds(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{"start_time_unix_nano": NS}]), source="test")

    assert one(store, "select start_time::varchar, current_setting('TimeZone') from spans") == (
        "2023-11-14 22:13:20.123456789",
        "UTC",
    )
    received_at = one(store, "select received_at from spans")[0]
    assert isinstance(received_at, datetime)


def test_decoder_problems_stand_before_the_loaders(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{"problems": ["bad_parent_id"], "end_time_unix_nano": 0}]), source="test")

    assert one(store, "select problems from spans")[0] == ["bad_parent_id", "no_end_time"]


def test_the_same_batch_twice_stores_nothing_new(store: Store, make_tables: Any) -> None:
    tables = make_tables(
        [{"attributes": ALL_TYPES}, {"span_id": b"\x02" * 8}],
        events=[{"attributes": ALL_TYPES}],
        links=[{"linked_span_id": b"\x03" * 8}],
        logs=[{"body": "hello"}],
    )
    store.load(tables, source="test")
    counts = store.load(tables, source="test")

    assert (counts.spans.stored, counts.spans.duplicate, counts.spans.conflict) == (0, 2, 0)
    assert (counts.log_records.stored, counts.log_records.duplicate) == (0, 1)
    for table, n in [("spans", 2), ("span_events", 1), ("span_links", 1), ("log_records", 1), ("resources", 1)]:
        assert one(store, f"select count(*) from {table}") == (n,), table


def test_attribute_order_is_no_conflict(store: Store, make_tables: Any) -> None:
    forward, backward = [("a", 1), ("b", "x")], [("b", "x"), ("a", 1)]
    store.load(make_tables([{"attributes": forward}], events=[{"attributes": forward}]), source="test")
    counts = store.load(make_tables([{"attributes": backward}], events=[{"attributes": backward}]), source="test")

    assert (counts.spans.duplicate, counts.spans.conflict) == (1, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"end_time_unix_nano": NS + 5},
        {"attributes": {"a": 1.0}},
        {"attributes": {"a": "1"}},
        {"attributes": {"a": 1, "b": None}},
        {"status_code": 2},
        {"parent_span_id": b"\x09" * 8},
    ],
)
def test_other_content_under_a_known_id_is_kept_apart_once(store: Store, make_tables: Any, change: Any) -> None:
    first = make_tables([{"attributes": {"a": 1}}])
    other = make_tables([{"attributes": {"a": 1}, **change}])
    store.load(first, source="test")
    conflicting = store.load(other, source="test").spans
    again = store.load(other, source="test").spans

    assert (conflicting.stored, conflicting.duplicate, conflicting.conflict) == (0, 0, 1)
    assert (again.stored, again.duplicate, again.conflict) == (0, 1, 0)
    assert one(store, "select count(*) from spans") == (1,)
    assert one(store, "select name, attributes from spans") == ("chat", {"a": 1})
    assert one(store, "select count(*) from span_conflicts") == (1,)


def test_a_span_that_differs_in_its_events_alone_conflicts_and_keeps_them(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{}], events=[{"name": "first"}]), source="test")
    counts = store.load(
        make_tables([{}], events=[{"name": "other", "attributes": {"n": 3}}], links=[{"linked_span_id": b"\x01" * 8}]),
        source="test",
    )

    assert counts.spans.conflict == 1
    assert one(store, "select name from span_events") == ("first",)
    events, links = one(store, "select events, links from span_conflicts")
    assert [(event["name"], event["attributes"]) for event in events] == [("other", {"n": 3})]
    assert [link["linked_span_id"] for link in links] == ["01" * 8]


def test_within_one_batch_the_first_content_wins(store: Store, make_tables: Any) -> None:
    counts = store.load(
        make_tables(
            [{"name": "first"}, {"name": "other"}, {"name": "first"}, {"name": "other"}],
            events=[{"span_index": 0}, {"span_index": 2}],
        ),
        source="test",
    )

    # The second `first` has an event as the first one has; both `other` have none.
    assert (counts.spans.stored, counts.spans.duplicate, counts.spans.conflict) == (1, 2, 1)
    assert one(store, "select name from spans") == ("first",)
    assert one(store, "select count(*) from span_events") == (1,)


def test_equal_resources_and_scopes_are_one_row_whatever_the_order_of_their_attributes(
    store: Store, make_tables: Any
) -> None:
    store.load(make_tables([{}], resource={"service.name": "a", "n": 1}), source="test")
    store.load(make_tables([{"span_id": b"\x02" * 8}], resource={"n": 1, "service.name": "a"}), source="test")
    store.load(make_tables([{"span_id": b"\x03" * 8}], resource={"n": "1", "service.name": "a"}), source="test")

    assert one(store, "select count(*) from resources") == (2,)
    assert one(store, "select count(*) from scopes") == (1,)


def test_log_records_are_known_by_all_they_say(store: Store, make_tables: Any) -> None:
    counts = store.load(
        make_tables(
            logs=[
                {"body": "1", "event_name": "e"},
                {"body": 1, "event_name": "e"},
                {"body": {"json_value": '{"role": "user"}'}, "trace_id": b"\x01" * 16, "span_id": b"\x02" * 8},
                {"body": "1", "event_name": "e"},
            ]
        ),
        source="test",
    )

    assert (counts.log_records.received, counts.log_records.stored, counts.log_records.duplicate) == (4, 3, 1)
    bodies = store.connection.execute("select body from log_records").fetchall()
    assert sorted(map(repr, bodies)) == sorted(map(repr, [("1",), (1,), ({"role": "user"},)]))


def test_a_repeated_attribute_key_keeps_the_last_value(store: Store, make_tables: Any) -> None:
    pairs = [("a", 1), ("b", 2), ("a", 3)]
    store.load(make_tables([{"attributes": pairs}], resource=None), source="test")
    counts = store.load(make_tables([{"attributes": {"b": 2, "a": 3}}]), source="test")

    assert one(store, "select attributes from spans")[0] == {"b": 2, "a": 3}
    assert counts.spans.duplicate == 1


def test_traces_with_new_rows_wait_for_their_trajectory_and_others_do_not(store: Store, make_tables: Any) -> None:
    tables = make_tables([{"trace_id": b"\x01" * 16}], logs=[{"trace_id": b"\x02" * 16}, {"body": "no trace"}])
    store.load(tables, source="test")
    pending = store.connection.execute("select trace_id from pending_traces order by all").fetchall()
    store.connection.execute("delete from pending_traces")
    store.load(tables, source="test")

    assert pending == [("01" * 16,), ("02" * 16,)]
    assert one(store, "select count(*) from pending_traces") == (0,)


def test_accounting_tells_what_became_of_everything(store: Store, make_tables: Any) -> None:
    tables = make_tables([{}, {}], logs=[{}], rejected_spans={"invalid_trace_id": 3, "none": 0})
    store.load(tables, source="file.jsonl")
    store.record_rejected(source="file.jsonl", spans={"malformed_json": 1}, log_records={"malformed_json": 2})

    assert set(
        store.connection.execute(
            "select source, signal, outcome, reason, sum(n)::bigint from ingest_accounting group by all"
        ).fetchall()
    ) == {
        ("file.jsonl", "spans", "received", None, 6),
        ("file.jsonl", "spans", "stored", None, 1),
        ("file.jsonl", "spans", "duplicate", None, 1),
        ("file.jsonl", "spans", "rejected", "invalid_trace_id", 3),
        ("file.jsonl", "spans", "rejected", "malformed_json", 1),
        ("file.jsonl", "log_records", "received", None, 3),
        ("file.jsonl", "log_records", "stored", None, 1),
        ("file.jsonl", "log_records", "rejected", "malformed_json", 2),
    }


def test_a_load_that_fails_leaves_nothing_behind(store: Store, make_tables: Any) -> None:
    tables = make_tables([{}], logs=[{"body": {"json_value": "{not json"}}])
    with pytest.raises(Exception, match="Malformed JSON"):
        store.load(tables, source="test", manifest=ManifestRow("1.spool", 100, 1))

    for table in ("spans", "log_records", "resources", "ingest_accounting", "pending_traces", "spool_manifest"):
        assert one(store, f"select count(*) from {table}") == (0,), table
    assert store.load(make_tables([{}]), source="test").spans.stored == 1


def test_the_manifest_says_how_far_each_segment_is_loaded(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{}]), source="otlp", manifest=ManifestRow("1.spool", 100, 1))
    store.load(make_tables([{}]), source="otlp", manifest=ManifestRow("1.spool", 250, 2))
    store.load(make_tables(), source="otlp", manifest=ManifestRow("2.spool", 40, 1))
    loaded = store.manifest()
    store.forget_segments(["1.spool"])

    assert loaded == {"1.spool": 250, "2.spool": 40}
    assert store.manifest() == {"2.spool": 40}


def test_a_rebuild_derives_every_trace_again(store: Store, make_tables: Any) -> None:
    store.load(make_tables([{"trace_id": b"\x01" * 16}, {"trace_id": b"\x02" * 16}]), source="test")
    told: list[tuple[int, int]] = []

    assert (store.derive(), store.derive()) == (2, 0)
    assert store.rebuild(lambda done, total: told.append((done, total))) == 2
    assert told[-1] == (2, 2)
    assert one(store, "select count(*) from pending_traces") == (0,)


@pytest.mark.parametrize(
    "pairs", [[(f"key {i}", i) for i in range(20_000)], [("key", i) for i in range(20_000)]], ids=["many", "repeated"]
)
def test_the_cost_of_a_span_grows_with_its_attributes_and_no_faster(store: Store, make_tables: Any, pairs: Any) -> None:
    tables = make_tables([{"attributes": pairs}])
    started = time.process_time()
    store.load(tables, source="test")
    counts = store.load(tables, source="test")

    assert counts.spans.duplicate == 1
    # Comparing each pair with each other one takes minutes; both loads together take a second.
    assert time.process_time() - started < 15
