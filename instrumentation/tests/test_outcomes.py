"""Exceptions go through unchanged and are recorded; telemetry's own failures are neither raised nor fatal."""

import asyncio
import logging

import pytest
from opentelemetry.trace import StatusCode

import spanscore_instrumentation as si

HELPERS = {
    "agent": lambda: si.agent("a"),
    "tool": lambda: si.tool("t"),
    "llm_call": lambda: si.llm_call("openai", "m"),
    "retrieval": lambda: si.retrieval("kb"),
    "handoff": lambda: si.handoff("a", "b"),
}


class Refused(Exception):
    """An exception of the observed program."""


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS.keys())
def test_the_very_exception_goes_through_and_is_recorded(helper, span):
    error = Refused("no such order")
    with pytest.raises(Refused) as caught, helper():
        raise error

    assert caught.value is error
    assert span().attributes["error.type"].endswith(".Refused")
    assert span().status.status_code is StatusCode.ERROR
    assert span().status.description == "no such order"
    (event,) = span().events
    assert event.name == "exception"
    assert event.attributes["exception.message"] == "no such order"
    assert "raise error" in event.attributes["exception.stacktrace"]


def test_a_builtin_exception_is_named_without_its_module(span):
    with pytest.raises(TimeoutError), si.tool("t"):
        raise TimeoutError

    assert span().attributes["error.type"] == "TimeoutError"


def test_cancellation_is_named_so(span):
    async def cancelled():
        async with si.tool("t"):
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())

    assert span().attributes["error.type"] == "cancelled"


def test_an_exception_that_cannot_say_its_message_still_marks_the_span(span):
    class Mute(Exception):
        def __str__(self):
            raise ValueError("no words")

    with pytest.raises(Mute), si.tool("t"):
        raise Mute

    assert span().attributes["error.type"].endswith("Mute")
    assert span().status.status_code is StatusCode.ERROR


def test_a_soft_error_needs_no_exception(span):
    with si.tool("t") as tool:
        tool.error("not_found", "no order 17")
        tool.result({"error": "no order 17"})

    assert span().attributes["error.type"] == "not_found"
    assert span().status.description == "no order 17"
    assert not span().events


def test_values_of_the_wrong_type_cost_one_attribute_and_nothing_else(span):
    with si.llm_call("openai", "m", max_tokens=object()) as call:
        call.usage(input_tokens="many", output_tokens=4)
        call.output(object())

    assert span().attributes["gen_ai.usage.output_tokens"] == 4
    assert "<object>" in span().attributes["gen_ai.output.messages"]
    assert "gen_ai.usage.input_tokens" not in span().attributes
    assert "gen_ai.request.max_tokens" not in span().attributes


def test_a_failure_of_the_sdk_does_not_reach_the_program(monkeypatch, spans):
    from spanscore_instrumentation import _operation

    class Broken:
        def start_span(self, *args, **kwargs):
            raise RuntimeError("broken SDK")

    monkeypatch.setattr(_operation, "_tracer", Broken())
    with si.agent("a") as agent:
        agent.output("fine")

    assert spans() == ()


def test_the_same_failure_is_logged_loudly_only_once(caplog, monkeypatch):
    from spanscore_instrumentation import _quiet

    monkeypatch.setattr(_quiet, "_reported", set())
    with caplog.at_level(logging.DEBUG, "spanscore_instrumentation"), si.llm_call("openai", "m") as call:
        call.usage(input_tokens="many")
        call.usage(input_tokens="many")

    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG"]


def test_the_span_is_current_inside_and_no_longer_outside(spans):
    from opentelemetry import trace

    with si.agent("a") as agent:
        assert trace.get_current_span() is agent.span

    assert not trace.get_current_span().get_span_context().is_valid


def test_one_object_can_be_entered_again(spans):
    tool = si.tool("t")
    for _ in range(2):
        with tool:
            pass

    assert len({s.context.span_id for s in spans()}) == 2


def test_a_user_attribute_goes_on_the_span(span):
    with si.tool("t") as tool:
        tool.span.set_attribute("shop.id", 7)

    assert span().attributes["shop.id"] == 7
