"""Whatever arrives, split and repeated in any way: everything is accounted for, and stored once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from spanscore.store import LoadCounts, Store

SPAN = st.fixed_dictionaries(
    {
        "trace_id": st.sampled_from([b"\x01" * 16, b"\x02" * 16]),
        "span_id": st.sampled_from([b"\x01" * 8, b"\x02" * 8, b"\x03" * 8]),
        "name": st.sampled_from(["a", "b"]),
        "attributes": st.sampled_from([(("k", 1), ("m", "x")), (("m", "x"), ("k", 1)), (("k", 1.0), ("m", "x"))]),
        "event_names": st.sampled_from([(), ("e",), ("e", "f")]),
        "linked": st.sampled_from([None, b"\x07" * 8]),
    }
)
LOG = st.fixed_dictionaries({"body": st.sampled_from(["1", 1, 1.0, True, {"json_value": "[1]"}])})
BATCH = st.tuples(st.lists(SPAN, max_size=8), st.lists(LOG, max_size=4), st.integers(0, 3))


TABLES = (
    "spans", "span_conflicts", "span_events", "span_links", "log_records", "ingest_accounting", "pending_traces",
)  # fmt: skip


@pytest.fixture(scope="module")
def emptied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all examples; each begins by emptying it, since opening costs more than loading."""
    with Store.open(tmp_path_factory.mktemp("property"), threads=1) as store:
        yield store


def content(span: dict[str, Any]) -> tuple[Any, ...]:
    attributes = frozenset((key, type(value), value) for key, value in span["attributes"])
    return span["trace_id"], span["span_id"], span["name"], attributes, span["event_names"], span["linked"]


@settings(max_examples=8, deadline=None)
@given(batches=st.lists(BATCH, max_size=4))
def test_everything_received_is_accounted_for_and_stored_once(
    batches: list[Any], emptied: Store, make_tables: Any
) -> None:
    check_accounting(batches, emptied, make_tables)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(batches=st.lists(BATCH, max_size=6))
def test_everything_received_is_accounted_for_in_many_more_cases(
    batches: list[Any], emptied: Store, make_tables: Any
) -> None:
    check_accounting(batches, emptied, make_tables)


def check_accounting(batches: list[Any], store: Store, make_tables: Any) -> None:
    total = LoadCounts()
    for table in TABLES:
        store.connection.execute(f"delete from {table}")
    for spans, logs, rejected in batches:
        tables = make_tables(
            [{k: v for k, v in span.items() if k not in {"event_names", "linked"}} for span in spans],
            events=[
                {"span_index": index, "event_index": place, "name": name}
                for index, span in enumerate(spans)
                for place, name in enumerate(span["event_names"])
            ],
            links=[
                {"span_index": index, "linked_span_id": span["linked"]}
                for index, span in enumerate(spans)
                if span["linked"] is not None
            ],
            logs=logs,
            rejected_spans={"invalid_trace_id": rejected},
        )
        counts = store.load(tables, source="test")
        assert counts.spans.is_balanced
        assert counts.log_records.is_balanced
        assert counts.spans.received == len(spans) + rejected
        assert counts.log_records.received == len(logs)
        total += counts

    every_span = [span for spans, _, _ in batches for span in spans]
    contents = {content(span) for span in every_span}
    ids = {(span["trace_id"], span["span_id"]) for span in every_span}
    assert total.spans.stored == len(ids)
    assert total.spans.conflict == len(contents) - len(ids)
    assert total.spans.duplicate == len(every_span) - len(contents)

    rows = store.connection.execute(
        "select (select count(*) from spans), (select count(*) from span_conflicts), "
        "(select count(*) from (select distinct trace_id, span_id from spans)), "
        "(select count(*) from log_records), (select count(distinct log_record_id) from log_records), "
        "(select count(*) from pending_traces), (select count(distinct trace_id) from spans)"
    ).fetchall()
    stored, conflicts, distinct, logs_stored, distinct_logs, pending, traces = rows[0]
    assert (stored, conflicts, distinct) == (total.spans.stored, total.spans.conflict, stored)
    assert (logs_stored, distinct_logs) == (total.log_records.stored, logs_stored)
    assert pending == traces

    # The first version of a span is the one stored, with its own events and links.
    first = {(span["trace_id"], span["span_id"]): span for span in reversed(every_span)}
    assert {
        (bytes.fromhex(trace_id), bytes.fromhex(span_id)): (name, tuple(events), links)
        for trace_id, span_id, name, events, links in store.connection.execute(
            "select trace_id, span_id, name, "
            "(select coalesce(list(e.name order by e.event_index), []) from span_events as e "
            " where e.trace_id = s.trace_id and e.span_id = s.span_id), "
            "(select count(*) from span_links as l where l.trace_id = s.trace_id and l.span_id = s.span_id) "
            "from spans as s"
        ).fetchall()
    } == {key: (span["name"], span["event_names"], int(span["linked"] is not None)) for key, span in first.items()}

    recorded = dict(
        store.connection.execute(
            "select signal || ' ' || outcome, sum(n)::bigint from ingest_accounting group by all"
        ).fetchall()
    )
    for signal, one in (("spans", total.spans), ("log_records", total.log_records)):
        assert recorded.get(f"{signal} received", 0) == one.received
        assert recorded.get(f"{signal} stored", 0) == one.stored
        assert recorded.get(f"{signal} duplicate", 0) == one.duplicate
        assert recorded.get(f"{signal} conflict", 0) == one.conflict
        assert recorded.get(f"{signal} rejected", 0) == sum(one.rejected.values())
