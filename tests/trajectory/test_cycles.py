"""Spans that are each other's ancestors: the earliest counts as a root, and the trace is read as if it had been one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from arrival import derived, merged, pieces, request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanscore.otlp import decode_traces_json
from spanscore.store import Store

# Every span of it hangs below the root, an agent around LLM and tool calls.
CAPTURE = "msagentframework-native/one_tool"
# Spans five levels deep.
NESTED = "openaiagents-openinference/one_tool"


def spans_of(capture: str) -> list[dict[str, Any]]:
    return [piece[-1] for piece in pieces(capture) if piece[0] == "resourceSpans"]


def closed(capture: str, last: str) -> list[tuple[bool, bytes]]:
    """The capture with its root below the span `last`: a request for each span and log record."""
    changed = pieces(capture)
    for *_, record in changed:
        if "spanId" in record and not record.get("parentSpanId"):
            record["parentSpanId"] = last
    return [request(piece) for piece in changed]


def without_findings(tables: dict[str, list[str]]) -> dict[str, list[str]]:
    return {table: rows for table, rows in tables.items() if table != "findings"}


@pytest.mark.parametrize(
    ("capture", "length"),
    [
        (CAPTURE, 1),
        pytest.param(CAPTURE, 2, marks=pytest.mark.slow),
        (NESTED, 3),
        pytest.param(NESTED, 5, marks=pytest.mark.slow),
    ],
)
def test_a_cycle_gives_the_run_that_it_would_be_without(capture: str, length: int) -> None:
    parents = {span["spanId"]: span.get("parentSpanId") for span in spans_of(capture)}
    (root,) = (span_id for span_id, parent in parents.items() if not parent)

    def path(span_id: str) -> list[str]:
        parent = parents[span_id]
        return [span_id, *(path(parent) if parent else [])]

    last, *above = next(path(span_id) for span_id in parents if len(path(span_id)) == length)
    whole = derived([request(piece) for piece in pieces(capture)], set())
    found = derived(closed(capture, last), set())

    assert without_findings(found) == without_findings(whole)
    (cycle,) = set(found["findings"]) - set(whole["findings"])
    assert set(whole["findings"]) < set(found["findings"])
    assert f"'{root}', 'cycle'" in cycle
    assert all(span_id in cycle for span_id in (last, *above))


@pytest.mark.slow
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_split_and_any_order_open_a_cycle_at_the_same_span(data: st.DataObject) -> None:
    requests = closed(CAPTURE, next(span["spanId"] for span in spans_of(CAPTURE) if span.get("parentSpanId")))
    shuffled = data.draw(st.permutations(requests))
    cuts = data.draw(st.lists(st.integers(0, len(requests) - 1), max_size=4))
    derive_after = set(data.draw(st.lists(st.integers(0, 4), max_size=3)))

    assert derived(merged(shuffled, cuts), derive_after) == derived(merged(requests, [0]), set())


def test_every_cycle_is_found_and_nothing_else(tmp_path: Path) -> None:
    """Parents drawn by chance, against a walk up from every span."""
    chance = random.Random(7)
    expected, spans = {}, []
    for number in range(150):
        trace_id, n = f"{number + 1:032x}", chance.randint(1, 14)
        parents = [chance.choice([None, *range(n)]) for _ in range(n)]
        # Several begin at once: the id then tells them apart.
        starts = [chance.randint(1, 5) for _ in range(n)]
        for i in range(n):
            parent = "" if parents[i] is None else f"{parents[i] + 1:016x}"
            times = {"startTimeUnixNano": f"{starts[i]}", "endTimeUnixNano": "9"}
            attributes = [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]
            span = {"traceId": trace_id, "spanId": f"{i + 1:016x}", "parentSpanId": parent, "name": "chat", **times}
            spans.append({**span, "attributes": attributes})
        for i in range(n):
            ring, at = [i], parents[i]
            while at is not None and at not in ring:
                ring.append(at)
                at = parents[at]
            if at == i:
                first = min(ring, key=lambda one: (starts[one], one))
                expected[trace_id, f"{first + 1:016x}"] = {f"{one + 1:016x}" for one in ring}

    with Store.open(tmp_path) as store:
        store.load(
            decode_traces_json(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()), source="t"
        )
        store.derive()
        rows = store.connection.execute(
            "select trace_id, span_id, detail, run_id from findings where kind = 'cycle'"
        ).fetchall()
        kinds = {kind for (kind,) in store.connection.execute("select distinct kind from findings").fetchall()}

    assert {(trace_id, span_id) for trace_id, span_id, _, _ in rows} == set(expected)
    assert len(rows) == len(expected) > 100
    for trace_id, span_id, detail, run_id in rows:
        assert all(member in detail for member in expected[trace_id, span_id])
        assert run_id is not None
    assert not kinds & {"orphan_span", "too_deep"}


def test_an_agent_and_a_tool_of_the_same_time_do_not_adopt_each_other(tmp_path: Path) -> None:
    """Without children, beside each other, at the very same time: the tool that asks for the agent is its parent."""
    times = {"traceId": "ab" * 16, "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000"}

    def span(number: int, name: str, parent: int | None, **attributes: str) -> dict[str, Any]:
        listed = [
            {"key": f"gen_ai.{key.replace('_', '.')}", "value": {"stringValue": text}}
            for key, text in attributes.items()
        ]
        parent_id = "" if parent is None else f"{parent:016x}"
        return {**times, "spanId": f"{number:016x}", "parentSpanId": parent_id, "name": name, "attributes": listed}

    spans = [
        span(1, "invoke_agent lead", None, operation_name="invoke_agent", agent_name="lead"),
        span(2, "invoke_agent writer", 1, operation_name="invoke_agent", agent_name="writer"),
        span(3, "execute_tool writer", 1, operation_name="execute_tool", tool_name="writer"),
    ]
    with Store.open(tmp_path) as store:
        store.load(
            decode_traces_json(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()), source="t"
        )
        store.derive()
        agents = store.connection.execute(
            "select agent_name, caller_kind from agent_invocations order by seq"
        ).fetchall()
        kinds = {kind for (kind,) in store.connection.execute("select distinct kind from findings").fetchall()}

    assert agents == [("lead", "root"), ("writer", "tool")]
    assert "too_deep" not in kinds
