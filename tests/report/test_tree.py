"""The tree of a run: complete, in order of time, and safe whatever ids and names the trace holds."""

import io

import pytest
from rich.console import Console

from spanscore.report.trace import RunTrace
from spanscore.report.tree import BRIEF, FULL, render_run

_RUN = {
    "run_id": "54611c327883263e483c07d1eeaf6527",
    "name": "weather",
    "entry_agent": "weather",
    "status": "ok",
    "error_type": None,
    "started_at": "2026-11-29T20:27:16.000000000Z",
    "duration_s": 1.5,
    "input_tokens": 277,
    "output_tokens": 41,
    "cache_read_tokens": 64,
    "cost_usd": 0.000123,
    "unpriced_llm_calls": 0,
    "service_name": "corpus",
    "session_id": None,
    "case_id": None,
    "question": "What is the temperature in Paris?",
    "final_answer": "It is 18.5 °C.",
}
_AGENT = {
    "parent_agent_invocation_id": None,
    "agent_name": "weather",
    "seq": 0,
    "started_at": "2026-11-29T20:27:16.000000000Z",
    "duration_s": 1.5,
    "status": "ok",
    "error_type": None,
    "llm_calls": 0,
    "tool_calls": 0,
}
_LLM = {
    "llm_call_id": "l1",
    "agent_invocation_id": "a",
    "seq": 0,
    "operation": "chat",
    "request_model": "gpt-4o-mini",
    "response_model": None,
    "started_at": "2026-11-29T20:27:16.100000000Z",
    "duration_s": 0.4,
    "status": "ok",
    "error_type": None,
    "error_message": None,
    "finish_reason": "tool_calls",
    "input_tokens": 120,
    "output_tokens": 18,
    "cache_read_tokens": 0,
    "reasoning_tokens": None,
    "cost_usd": None,
}
_TOOL = {
    "agent_invocation_id": "a",
    "seq": 0,
    "tool_name": "get_weather",
    "arguments": '{"city": "Paris"}',
    "result": '{"temp_c": 18.5}',
    "started_at": "2026-11-29T20:27:16.500000000Z",
    "duration_s": 0.002,
    "status": "ok",
    "error_type": None,
    "error_message": None,
    "is_handoff": False,
    "is_agent_tool": False,
}
_HANDOFF = {
    "seq": 0,
    "from_agent": "supervisor",
    "to_agent": "analyst",
    "from_invocation_id": "a",
    "at": "2026-11-29T20:27:16.700000000Z",
    "is_back": False,
    "is_bounce": False,
    "succeeded": True,
}


def agent(own, parent=None, **changes):
    return {**_AGENT, "agent_invocation_id": own, "agent_name": own, "parent_agent_invocation_id": parent, **changes}


def trace(**parts):
    everything = {
        "agent_invocations": [agent("a")],
        "llm_calls": [],
        "tool_calls": [],
        "tool_requests": [],
        "handoffs": [],
        "retrievals": [],
        "messages": [],
        "findings": [],
        "run": _RUN,
    }
    return RunTrace(**{**everything, **parts})


def shown(run_trace, detail=BRIEF):
    stream = io.StringIO()
    out = Console(file=stream, width=200, markup=False, highlight=False)
    for part in render_run(run_trace, detail):
        out.print(part)
    return stream.getvalue()


def test_calls_stand_below_their_agent_in_order_of_time():
    text = shown(trace(llm_calls=[_LLM], tool_calls=[_TOOL], handoffs=[_HANDOFF]))

    order = ["agent a", "llm gpt-4o-mini", "tool get_weather", "handoff supervisor -> analyst"]
    assert order == sorted(order, key=text.index)
    assert 'get_weather({"city": "Paris"})  -> {"temp_c": 18.5}  2.0 ms' in text


def test_question_answer_and_totals_come_first():
    lines = shown(trace()).splitlines()

    assert lines[0].startswith("run 54611c327883263e483c07d1eeaf6527  ok  2026-11-29 20:27:16 UTC  1.50 s")
    assert "277 in (64 cached) / 41 out  $0.000123" in lines[0]
    assert lines[1] == "question What is the temperature in Paris?"
    assert lines[2] == "answer   It is 18.5 °C."


def test_an_unknown_price_is_said_and_is_not_zero():
    assert "price unknown" in shown(trace(llm_calls=[_LLM]))
    assert "$0" in shown(trace(llm_calls=[{**_LLM, "cost_usd": 0.0}]))


def test_a_failed_tool_shows_its_error():
    failed = {**_TOOL, "status": "error", "error_type": "RuntimeError", "error_message": "503 upstream", "result": None}

    assert "error RuntimeError: 503 upstream" in shown(trace(tool_calls=[failed]))


def test_a_tool_that_was_asked_for_and_not_run_is_told_apart():
    asked = {**_TOOL, "outcome": "unknown_tool", "response": "no such tool"}

    assert 'asked for get_weather({"city": "Paris"})  unknown_tool  -> no such tool' in shown(
        trace(tool_requests=[asked])
    )


def test_agents_nest():
    lines = shown(trace(agent_invocations=[agent("a"), agent("b", "a"), agent("c", "b")])).splitlines()

    depths = {name: next(line for line in lines if f"agent {name}" in line).index("agent") for name in "abc"}
    assert depths["a"] < depths["b"] < depths["c"]


def test_what_has_no_known_agent_stands_under_the_run():
    text = shown(trace(agent_invocations=[], llm_calls=[{**_LLM, "agent_invocation_id": "gone"}]))

    assert "llm gpt-4o-mini" in text


@pytest.mark.parametrize(
    "ring",
    [
        [agent("a", "a")],
        [agent("a", "b"), agent("b", "a")],
        [agent("r"), agent("a", "c"), agent("b", "a"), agent("c", "b")],
    ],
    ids=["own parent", "two", "three beside a root"],
)
def test_parents_in_a_ring_are_shown_once_each(ring):
    text = shown(trace(agent_invocations=ring))

    for row in ring:
        assert text.count(f"agent {row['agent_invocation_id']} ") == 1


def test_a_chain_of_thousands_of_agents_is_shown():
    chain = [agent("n0"), *(agent(f"n{i}", f"n{i - 1}") for i in range(1, 3000))]

    text = shown(trace(agent_invocations=chain))

    assert text.count("agent n") == 3000


def test_findings_come_last():
    text = shown(trace(findings=[{"kind": "orphan_span", "span_id": "b7", "detail": "parent never came"}]))

    assert text.rstrip().splitlines()[-2:] == ["findings", "  orphan_span  parent never came"]


def test_messages_come_only_on_request():
    said = {"llm_call_id": "l1", "direction": "input", "role": "user", "part_type": "text", "text": "hello there",
            "tool_name": None, "arguments": None, "response": None}  # fmt: skip
    run_trace = trace(llm_calls=[_LLM], messages=[said])

    assert "hello there" not in shown(run_trace)
    assert "user: hello there" in shown(run_trace, FULL.with_messages())


def test_a_message_without_text_shows_its_tool_call():
    asked = {"llm_call_id": "l1", "direction": "output", "role": "assistant", "part_type": "tool_call", "text": None,
             "tool_name": "get_weather", "arguments": '{"city": "Paris"}', "response": None}  # fmt: skip

    text = shown(trace(llm_calls=[_LLM], messages=[asked]), BRIEF.with_messages())

    assert 'assistant: tool_call get_weather {"city": "Paris"}' in text


def test_full_shows_what_brief_cuts():
    long_tool = {**_TOOL, "result": "x" * 500}

    assert "x" * 500 not in shown(trace(tool_calls=[long_tool])).replace("\n", "")
    assert "x" * 20 in shown(trace(tool_calls=[long_tool]), FULL)
    assert "(10,000,000 characters)" in shown(trace(tool_calls=[{**_TOOL, "result": "y" * 10_000_000}]), FULL)


@pytest.mark.parametrize("payload", ["\x1b]52;c;ZXZpbA==\x07", "\u202egpj.exe", "[bold red]x[/]", "[/foo]", "\x9b2J"])
def test_no_text_field_reaches_the_terminal_unsafe(payload):
    text = shown(
        trace(
            run={**_RUN, "name": payload, "question": payload, "final_answer": payload, "status": payload,
                 "error_type": payload, "session_id": payload, "service_name": payload, "run_id": payload},
            agent_invocations=[agent("a", agent_name=payload, error_type=payload, status="error")],
            llm_calls=[{**_LLM, "request_model": payload, "finish_reason": payload, "error_type": payload,
                        "status": "error"}],
            tool_calls=[{**_TOOL, "tool_name": payload, "arguments": payload, "result": payload, "status": payload,
                         "error_type": payload, "error_message": payload}],
            handoffs=[{**_HANDOFF, "from_agent": payload, "to_agent": payload}],
            findings=[{"kind": payload, "span_id": payload, "detail": payload}],
        ),
        FULL,
    )  # fmt: skip

    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert text.count(payload if payload.startswith("[") else repr(payload)[1:-1][:4]) >= 15
