"""Whatever spans make up a trace: they are stored, counted, derived, and nothing else is lost by it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hostile_parts import MIB
from hostile_traces import CALL, CASES, Case, body_of, trace_of
from otlp_clients import JSON, PROTOBUF, Answer, post

from spanscore.collector import Collector
from spanscore.store import read_session

COLUMNS = (
    "span_id", "parent_span_id", "name", "start_time", "end_time", "end_time_unix_nano", "duration_ns", "attributes",
    "problems",
)  # fmt: skip


@dataclass(frozen=True)
class Aftermath:
    """What the store holds once everything has been sent to one collector."""

    answers: dict[str, Answer]
    spans: dict[str, list[dict[str, Any]]]
    counts: dict[str, int]
    status: dict[str, Any]
    store: Path


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    with Collector(tmp_path_factory.mktemp("traces") / "store") as collector:
        answers = {}
        for case in CASES:
            kind = JSON if case.payload is None else PROTOBUF
            for _ in range(case.requests):
                answers[case.name] = post(collector, body_of(case), kind)
        collector.drain(120)
        with read_session(collector.config.store) as session:
            rows = session.rows(f"select trace_id, {', '.join(COLUMNS)} from spans order by span_id")
            outcomes = session.rows("select outcome, sum(n)::bigint from ingest_accounting group by all")
        spans: dict[str, list[dict[str, Any]]] = {}
        for trace_id, *values in rows:
            spans.setdefault(trace_id, []).append(dict(zip(COLUMNS, values, strict=True)))
        yield Aftermath(answers, spans, dict(outcomes), collector.status(), collector.config.store)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_stored(aftermath: Aftermath, case: Case) -> None:
    answer = aftermath.answers[case.name]
    stored = aftermath.spans.get(trace_of(case), [])

    assert (answer.code, answer.rejected) == ("OK", case.rejected)
    assert len(stored) == (0 if case.stored is None else case.count)
    for name, content in (case.stored or {}).items():
        assert (name, repr(stored[0][name])) == (name, repr(content))


def test_everything_is_accounted_for_and_derived(aftermath: Aftermath) -> None:
    counts = aftermath.counts

    assert aftermath.status["last_error"] is None
    assert aftermath.status["damage"] == []
    assert counts["received"] == sum(counts[name] for name in ("stored", "duplicate", "conflict", "rejected"))
    assert counts["rejected"] == sum(case.rejected for case in CASES)
    assert (counts["duplicate"], counts["conflict"]) == (3, 2)
    with read_session(aftermath.store) as session:
        assert session.rows("select count(*) from pending_traces") == [(0,)]
        cycles = session.rows("select count(distinct trace_id) from findings where kind = 'cycle'")
        kinds = {kind for (kind,) in session.rows("select distinct kind from findings")}
        assert session.rows("select bool_and(cost_usd is null or cost_usd >= 0) from llm_calls") == [(True,)]
    assert cycles[0][0] >= 2
    assert {"orphan_span", "unfinished_span"} <= kinds


def test_reports_of_it_are_json(aftermath: Aftermath) -> None:
    """With neither NaN nor the infinities, which JSON lacks."""
    from spanscore.doctor import examine

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    text = json.dumps(examine(aftermath.store), default=str)

    assert json.loads(text, parse_constant=refuse)["accounting"]["spans"]["unaccounted"] == 0


def test_t14_late_spans_are_derived_again(collector: Collector) -> None:
    def send(number: int) -> None:
        span = {"traceId": "ab" * 16, "spanId": f"{number:016x}", "name": f"chat {number}", "attributes": CALL}
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
        assert post(collector, body, JSON).is_full_success
        collector.drain()

    counts = []
    for number in (1, 2):
        send(number)
        with read_session(collector.config.store) as session:
            counts.append(session.rows("select count(*) from findings where kind = 'unfinished_span'"))

    assert counts == [[(1,)], [(2,)]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("T04 a chain of 15,000", 15_000), ("T15 50,000 children", 50_000)])
def test_large_trace(collector: Collector, name: str, count: int) -> None:
    times = {"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000000000001"}
    for first in range(1, count, 5000):
        spans = [
            {
                "traceId": "ab" * 16,
                "spanId": f"{n:016x}",
                "parentSpanId": f"{n - 1 if 'chain' in name else 1:016x}" if n > 1 else "",
                **times,
            }
            for n in range(first, first + 5000)
        ]
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
        assert len(body) < 64 * MIB
        assert post(collector, body, JSON).is_full_success
    collector.drain(300)

    assert collector.status()["last_error"] is None
    with read_session(collector.config.store) as session:
        assert session.rows("select count(*) from spans") == [(count,)]
        # A walk down a trace ends 10,000 levels below its root, and says so.
        deeper = max(0, count - 10_001) if "chain" in name else 0
        assert session.rows("select count(*) from findings where kind = 'too_deep'") == [(deeper,)]


def test_the_cases_are_different() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60
