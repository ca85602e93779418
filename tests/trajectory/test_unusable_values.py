"""A count, a cost or a time that cannot be is unknown, and told apart from one that was not reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from spanscore.otlp import decode_traces_json
from spanscore.store import Store

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000

Attributes = dict[str, dict[str, Any]]
USED: Attributes = {
    "gen_ai.usage.input_tokens": {"intValue": "12"},
    "gen_ai.usage.output_tokens": {"intValue": "3"},
}


def call(number: int, attributes: Attributes, *, start: int = START, end: int = START + SECOND) -> dict[str, Any]:
    """One LLM call in a trace of its own."""
    named = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.response.model": "gpt-4o"}
    listed = [{"key": key, "value": {"stringValue": text}} for key, text in named.items()]
    listed += [{"key": key, "value": value} for key, value in attributes.items()]
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat gpt-4o",
        "attributes": listed,
        **times,
    }


def integer(value: int) -> dict[str, Any]:
    return {"intValue": str(value)}


CASES: tuple[tuple[str, Attributes, list[str] | None], ...] = (
    ("a count below 0", {**USED, "gen_ai.usage.input_tokens": integer(-7)}, ["input_tokens"]),
    ("a count that no call has", {**USED, "gen_ai.usage.output_tokens": integer(2**63 - 1)}, ["output_tokens"]),
    ("a count whose sum would not fit", {**USED, "gen_ai.usage.input_tokens": integer(2**62)}, ["input_tokens"]),
    ("half a token", {**USED, "gen_ai.usage.input_tokens": {"doubleValue": 2.5}}, ["input_tokens"]),
    ("a word", {**USED, "gen_ai.usage.input_tokens": {"stringValue": "many"}}, ["input_tokens"]),
    ("cached tokens below 0", {**USED, "gen_ai.usage.cache_read.input_tokens": integer(-1)}, ["cache_read_tokens"]),
    ("a cost below 0", {**USED, "gen_ai.usage.cost": {"doubleValue": -0.5}}, ["cost_reported_usd"]),
    ("a cost without end", {**USED, "gen_ai.usage.cost": {"stringValue": "Infinity"}}, ["cost_reported_usd"]),
    ("a time below 0", {**USED, "ai.response.msToFirstChunk": {"doubleValue": -20.0}}, ["time_to_first_chunk_s"]),
    ("a time in words", {**USED, "ai.response.msToFirstChunk": {"stringValue": "soon"}}, ["time_to_first_chunk_s"]),
    ("all as it should be", {**USED, "gen_ai.usage.cost": {"doubleValue": 0.0}}, None),
    ("nothing reported", {}, None),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    spans = [call(number, attributes) for number, (_, attributes, _) in enumerate(CASES, 1)]
    # One run whose calls together have more tokens than a column holds.
    spans += [{**call(100 + n, {"gen_ai.usage.input_tokens": integer(2**62)}), "traceId": "f" * 32} for n in range(4)]
    spans.append(call(200, USED, end=START - 1))
    spans.append(call(201, USED, start=0))
    with Store.open(tmp_path_factory.mktemp("unusable")) as opened:
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
        opened.load(decode_traces_json(body), source="test")
        opened.derive()
        yield opened


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return store.connection.execute(sql).fetchall()


@pytest.mark.parametrize("number", range(1, len(CASES) + 1), ids=[name for name, _, _ in CASES])
def test_what_came_and_cannot_be_is_null_and_named(store: Store, number: int) -> None:
    _, attributes, expected = CASES[number - 1]
    ((columns,),) = rows(store, f"select unusable_columns from llm_calls where trace_id = '{number:032x}'")
    told = rows(store, f"select kind, detail from findings where trace_id = '{number:032x}'")
    texts = dict(told)

    assert columns == expected
    assert ("unusable_value" in texts) == (expected is not None)
    assert ("missing_token_usage" in texts) == (not attributes)
    for column in expected or []:
        ((value,),) = rows(store, f"select {column} from llm_calls where trace_id = '{number:032x}'")
        assert value is None
        assert f"{column} " in texts["unusable_value"]


def test_the_price_says_that_a_count_came(store: Store) -> None:
    found = rows(store, "select trace_id, unpriced_reason from llm_calls where cost_usd is null and trace_id < '1'")
    reasons = {int(trace_id, 16): reason for trace_id, reason in found}

    assert {reasons[number] for number in range(1, 6)} == {"unusable_usage"}
    assert reasons[len(CASES)] == "no_usage"


def test_counts_that_no_sum_holds_do_not_stop_the_derivation(store: Store) -> None:
    found = rows(store, f"select llm_calls, input_tokens from runs where trace_id = '{'f' * 32}'")

    assert found == [(4, None)]


@pytest.mark.parametrize(("number", "words"), [(200, "ends before it starts"), (201, "has no start")])
def test_a_duration_that_cannot_be_is_unknown_and_told(store: Store, number: int, words: str) -> None:
    ((duration,),) = rows(store, f"select duration_s from runs where trace_id = '{number:032x}'")
    problems = rows(store, f"select detail from findings where trace_id = '{number:032x}' and kind = 'span_problem'")

    assert duration is None
    assert [detail for (detail,) in problems if words in detail]
