"""Decorated functions stay what they were: sync, async, generators and async generators."""

import asyncio
import inspect
import json

import pytest
from opentelemetry import trace
from opentelemetry.trace import StatusCode

import spanscore_instrumentation as si


def current_span_id():
    return trace.get_current_span().get_span_context().span_id


def test_a_function(span):
    @si.tool
    def add(a, b=2, *rest, **more):
        """Adds."""
        return a + b

    assert add(1, z=5) == 3
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert span().name == "execute_tool add"
    assert json.loads(span().attributes["gen_ai.tool.call.arguments"]) == {"a": 1, "z": 5}
    assert span().attributes["gen_ai.tool.call.result"] == "3"


def test_a_method_is_recorded_without_self(span):
    class Shop:
        @si.tool("find_order", call_id="c1")
        def find(self, number):
            return {"number": number}

    assert Shop().find(7) == {"number": 7}
    assert span().attributes["gen_ai.tool.name"] == "find_order"
    assert json.loads(span().attributes["gen_ai.tool.call.arguments"]) == {"number": 7}


def test_wrong_arguments_fail_as_they_would_without_the_decorator():
    def function(a):
        return a

    with pytest.raises(TypeError) as bare:
        function(1, 2)
    with pytest.raises(TypeError) as traced:
        si.tool(function)(1, 2)

    assert str(traced.value) == str(bare.value)


def test_a_coroutine_function(spans):
    @si.agent("planner")
    async def plan(question):
        await asyncio.sleep(0)
        async with si.tool("t"):
            return f"about {question}"

    assert inspect.iscoroutinefunction(plan)
    assert asyncio.run(plan("ships")) == "about ships"
    tool, agent = spans()
    assert tool.parent.span_id == agent.context.span_id
    assert json.loads(agent.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"] == "ships"
    assert json.loads(agent.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "about ships"


def test_concurrent_calls_do_not_mix(spans):
    @si.agent
    async def work(name):
        with si.tool(name):
            await asyncio.sleep(0.001)

    async def both():
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(both())
    parents = {s.parent.span_id for s in spans() if s.parent is not None}
    assert parents == {s.context.span_id for s in spans() if s.parent is None}
    assert len(parents) == 2


def test_a_generator_keeps_send_throw_and_its_return_value(span):
    @si.tool
    def echo():
        received = []
        value = yield "ready"
        received.append(value)
        try:
            yield "again"
        except KeyError:
            received.append("thrown")
        return received

    def drive():
        generator = echo()
        assert inspect.isgenerator(generator)
        assert next(generator) == "ready"
        assert generator.send("one") == "again"
        try:
            generator.throw(KeyError("x"))
        except StopIteration as stop:
            return stop.value
        return None

    assert inspect.isgeneratorfunction(echo)
    assert drive() == ["one", "thrown"]
    assert span().attributes["gen_ai.tool.call.result"] == '["one", "thrown"]'
    assert span().status.status_code is StatusCode.UNSET


def test_a_streamed_answer_is_joined_and_its_first_chunk_timed(span):
    @si.llm_call("openai", "gpt-4o")
    def chat(messages):
        yield "Hel"
        yield "lo"
        si.current(si.LlmCall).usage(input_tokens=3, output_tokens=2)

    assert list(chat("hi")) == ["Hel", "lo"]
    attributes = span().attributes
    assert json.loads(attributes["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": "Hello"}]
    assert attributes["gen_ai.usage.output_tokens"] == 2
    assert attributes["gen_ai.request.stream"] is True
    assert 0 <= attributes["gen_ai.response.time_to_first_chunk"] < 1
    assert isinstance(attributes["gen_ai.response.time_to_first_chunk"], float)


def test_a_suspended_generator_leaves_its_consumer_alone(spans):
    @si.agent
    def steps():
        with si.tool("inside"):
            pass
        yield current_span_id()
        yield current_span_id()

    with si.agent("consumer") as consumer:
        inner = []
        for seen in steps():
            inner.append(seen)
            assert trace.get_current_span() is consumer.span
    by_name = {s.name: s for s in spans()}

    assert set(inner) == {by_name["invoke_agent steps"].context.span_id}
    assert by_name["execute_tool inside"].parent.span_id == by_name["invoke_agent steps"].context.span_id
    assert by_name["invoke_agent steps"].parent.span_id == by_name["invoke_agent consumer"].context.span_id


def test_a_generator_closed_early_is_cancelled_but_no_error(span):
    closed = []

    @si.llm_call("openai", "gpt-4o")
    def chat(messages):
        try:
            yield "Hel"
            yield "lo"
        finally:
            closed.append(True)

    generator = chat("hi")
    next(generator)
    generator.close()

    assert closed == [True]
    assert span().attributes["error.type"] == "cancelled"
    assert span().status.status_code is StatusCode.UNSET
    assert json.loads(span().attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "Hel"


def test_a_forgotten_generator_ends_its_span(span):
    @si.tool
    def items():
        yield 1
        yield 2

    generator = items()
    next(generator)
    del generator

    assert span().attributes["gen_ai.tool.call.result"] == "[1]"


def test_a_generator_that_was_never_started_makes_no_span(spans):
    @si.tool
    def items():
        yield 1

    items().close()

    assert spans() == ()


def test_an_exception_in_a_generator(span):
    @si.retrieval("kb")
    def search(query):
        yield {"id": "d1"}
        raise LookupError("index is gone")

    generator = search("holidays")
    assert next(generator) == {"id": "d1"}
    with pytest.raises(LookupError, match="index is gone"):
        next(generator)

    assert span().attributes["error.type"] == "LookupError"
    assert span().attributes["gen_ai.retrieval.documents"] == '[{"id": "d1"}]'
    assert span().attributes["gen_ai.retrieval.query.text"] == "holidays"


def test_an_async_generator_keeps_asend_and_athrow(span):
    @si.tool
    async def echo():
        value = yield "ready"
        try:
            yield value
        except KeyError:
            yield "thrown"

    async def drive():
        generator = echo()
        return [await anext(generator), await generator.asend("one"), await generator.athrow(KeyError("x"))] + [
            item async for item in generator
        ]

    assert inspect.isasyncgenfunction(echo)
    assert asyncio.run(drive()) == ["ready", "one", "thrown"]
    assert span().attributes["gen_ai.tool.call.result"] == '["ready", "one", "thrown"]'


def test_an_async_generator_closed_early(span, caplog):
    @si.agent("writer")
    async def write(topic):
        yield "one "
        yield "two"

    async def first():
        generator = write("ships")
        async for item in generator:
            await generator.aclose()
            return item

    assert asyncio.run(first()) == "one "
    assert span().attributes["error.type"] == "cancelled"
    assert json.loads(span().attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "one "
    assert not caplog.records


def test_an_abandoned_async_generator_ends_its_span_without_noise(span, caplog):
    @si.agent("writer")
    async def write(topic):
        with si.tool("inside"):
            yield "one"
            yield "two"

    async def first():
        async for item in write("ships"):
            return item

    asyncio.run(first())

    assert not caplog.records


def test_a_handoff_around_a_transfer_function(spans):
    @si.handoff("triage", "billing")
    def transfer():
        with si.agent("billing"):
            return "done"

    assert transfer() == "done"
    billing, handoff = spans()
    assert billing.parent.span_id == handoff.context.span_id
    assert handoff.attributes["gen_ai.handoff.to_agent"] == "billing"


def test_stream_of_a_context_manager(span):
    with si.llm_call("openai", "m") as call:
        assert list(call.stream(iter(["a", "b", {"usage": 1}]))) == ["a", "b", {"usage": 1}]

    assert json.loads(span().attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "ab"
    assert "gen_ai.response.time_to_first_chunk" in span().attributes


def test_async_stream_of_a_context_manager(span):
    async def chunks():
        yield "a"
        yield "b"

    async def collect():
        async with si.llm_call("openai", "m") as call:
            return [chunk async for chunk in call.astream(chunks())]

    assert asyncio.run(collect()) == ["a", "b"]
    assert "gen_ai.response.time_to_first_chunk" in span().attributes


def test_current_is_the_innermost_of_its_kind_and_inert_where_there_is_none(spans):
    si.current(si.LlmCall).usage(input_tokens=1)
    si.current(si.LlmCall).output("nothing")
    si.current(si.Tool).result("nothing")
    si.current(si.Agent).output("nothing")
    si.current(si.Retrieval).documents(["nothing"])
    with si.agent("a"), si.tool("t"):
        si.current(si.Agent).output("answer")

    assert "gen_ai.output.messages" in spans()[1].attributes
    assert "gen_ai.tool.call.result" not in spans()[0].attributes
