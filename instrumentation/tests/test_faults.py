"""Faults at fixed calls: where they happen, what they look like, and where they cannot."""

import asyncio
import json
from contextlib import contextmanager

import pytest
from opentelemetry import baggage, trace
from opentelemetry import context as context_api

import spanscore_instrumentation as si


@contextmanager
def attempt(*faults, case_id="c"):
    """An attempt at a case whose suite asks for these faults, in a trace of its own."""
    context = baggage.set_baggage("spanscore.faults", json.dumps(faults), context_api.Context())
    context = baggage.set_baggage("spanscore.case.id", case_id, context)
    token = context_api.attach(context)
    try:
        with si.agent("a"):
            yield
    finally:
        context_api.detach(token)


def outcome(function, *arguments):
    """What a call comes to: its result, or the class and message of its exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


search = si.mock_tool("search", {"q": ["page"]})


def test_a_fault_happens_at_its_call_and_at_no_other():
    with attempt(["search", 2, "error", "503"], ["other", 1, "error"]):
        outcomes = [outcome(search, "q") for _ in range(3)]

    assert outcomes == [["page"], ("ToolFault", "503"), ["page"]]


def test_every_attempt_counts_anew():
    seen = []
    for _ in range(2):
        with attempt(["search", 1, "timeout"]):
            seen.append([outcome(search, "q"), outcome(search, "q")])

    assert seen == [[("ToolTimeout", "the tool did not answer in time"), ["page"]]] * 2


def test_without_a_benchmark_nothing_fails():
    assert [search("q") for _ in range(3)] == [["page"]] * 3


def test_a_tool_that_is_not_marked_cannot_be_made_to_fail():
    @si.tool("search")
    def real(query):
        return query

    with attempt(["search", 1, "error"]):
        assert real("q") == "q"


@pytest.mark.parametrize(
    ("fault", "result", "expected"),
    [
        (si.Fault(1, "error"), "x", ("ToolFault", "the tool failed")),
        (si.Fault(1, "timeout", "slow"), "x", ("ToolTimeout", "slow")),
        (si.Fault(1, "empty"), "x", ""),
        (si.Fault(1, "empty"), [1], []),
        (si.Fault(1, "empty"), {"a": 1}, {}),
        (si.Fault(1, "empty"), 7, None),
        (si.Fault(1, "wrong", result=[2]), [1], [2]),
        (si.Fault(1, "wrong"), [1], None),
        (si.Fault(1, "delay", seconds=0.01), [1], [1]),
        (si.Fault(2, "error"), "x", "x"),
    ],
)
def test_what_each_kind_does(fault, result, expected):
    assert outcome(si.mock_tool("t", lambda: result, faults=[fault])) == expected


def test_a_malformed_result_is_no_json():
    broken = si.mock_tool("t", {"q": "page"}, faults=[si.Fault(1, "malformed")])("q")

    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(broken)


def test_a_coroutine_function_stays_one():
    @si.tool
    @si.injectable("fetch", faults=[si.Fault(2, "error", seconds=0.01)])
    async def fetch(url):
        return url

    async def both():
        with si.agent("a"):
            first = await fetch("u")
            with pytest.raises(si.ToolFault):
                await fetch("u")
            return first

    assert asyncio.run(both()) == "u"


def test_the_span_of_the_tool_shows_the_fault(spans):
    with attempt(["search", 1, "error", "503"]):
        outcome(search, "q")
    tool = next(one for one in spans() if one.name == "execute_tool search")

    assert tool.attributes["spanscore.fault.kind"] == "error"
    assert tool.attributes["error.type"] == "spanscore_instrumentation._faults.ToolFault"
    assert tool.attributes["spanscore.case.id"] == "c"
    assert "spanscore.faults" not in tool.attributes
    assert tool.status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '[["search"]]', '[["search", "x", "error"]]', '[["search", 1, "burn"]]']
)
def test_faults_that_cannot_be_read_do_no_harm(text):
    token = context_api.attach(baggage.set_baggage("spanscore.faults", text))
    try:
        assert search("q") == ["page"]
    finally:
        context_api.detach(token)


@pytest.mark.parametrize(("call", "kind"), [(0, "error"), (1, "burn")])
def test_a_fault_that_makes_no_sense_is_refused(call, kind):
    with pytest.raises(ValueError, match=r"give one of|counted from 1"):
        si.Fault(call, kind)


def test_a_mock_answers_by_its_first_argument_or_always_the_same():
    assert outcome(search, "elsewhere") == ("KeyError", "\"search has no answer for 'elsewhere'\"")
    assert si.mock_tool("t", 7)("anything", more=1) == 7
    assert si.mock_tool("t", lambda a, b=2: a + b)(1) == 3


def test_a_mock_is_traced_with_its_arguments(span):
    search("q")

    assert span().name == "execute_tool search"
    assert "q" in span().attributes["gen_ai.tool.call.arguments"]
    assert span().attributes["gen_ai.tool.call.result"] == '["page"]'
