"""What is emitted: names, values and their types, as the GenAI semantic conventions define them."""

import json

from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

import spanscore_instrumentation as si
from spanscore_instrumentation import attributes

# In the conventions' own repository, but not in the package of constants of OpenTelemetry Python, or in no convention.
NEWER_THAN_THE_PACKAGE = {
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.retrieval.top_k",
    "gen_ai.handoff.from_agent",
    "gen_ai.handoff.to_agent",
    "gen_ai.evaluation.result",
}


def test_every_emitted_name_is_in_the_conventions_or_our_own():
    known = {
        value
        for module in (gen_ai_attributes, error_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    emitted = {value for name, value in vars(attributes).items() if name.isupper()}

    assert emitted - known - NEWER_THAN_THE_PACKAGE == {name for name in emitted if name.startswith("spanscore.")}
    assert not NEWER_THAN_THE_PACKAGE & known, "the package has caught up: take these from the list of exceptions"


def test_agent(span):
    with si.agent("triage", input="Where is my order?", conversation_id="s-1", version="3") as agent:
        agent.output("On its way.")

    finished = span()
    assert finished.name == "invoke_agent triage"
    assert finished.kind is SpanKind.INTERNAL
    assert finished.status.status_code is StatusCode.UNSET
    assert dict(finished.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "triage",
        "gen_ai.agent.version": "3",
        "gen_ai.conversation.id": "s-1",
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Where is my order?"}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "On its way."}]}]',
    }


def test_tool(span):
    with si.tool("search", arguments={"q": "órder", "limit": 3}, call_id="call_1", description="Finds") as tool:
        tool.result([{"id": 1, "total": 18.5}])

    finished = span()
    assert finished.name == "execute_tool search"
    assert finished.kind is SpanKind.INTERNAL
    assert dict(finished.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.description": "Finds",
        "gen_ai.tool.call.arguments": '{"q": "órder", "limit": 3}',
        "gen_ai.tool.call.result": '[{"id": 1, "total": 18.5}]',
    }


def test_a_text_result_is_not_quoted_and_no_result_is_null(spans):
    with si.tool("a") as tool:
        tool.result("plain text")
    with si.tool("b") as tool:
        tool.result(None)
    with si.tool("c"):
        pass

    assert [s.attributes.get("gen_ai.tool.call.result") for s in spans()] == ["plain text", "null", None]


def test_llm_call(span):
    with si.llm_call("openai", "gpt-4o", messages="hi", system="Be brief.", temperature=0, max_tokens=100) as call:
        call.output("hello")
        call.usage(input_tokens=12, output_tokens=0, cache_read_tokens=8, cache_write_tokens=2, reasoning_tokens=0)
        call.response(id="chatcmpl-1", model="gpt-4o-2024-08-06", finish_reason="stop")

    finished = span()
    assert finished.name == "chat gpt-4o"
    assert finished.kind is SpanKind.CLIENT
    assert dict(finished.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]',
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]',
        "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]',
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 0,
        "gen_ai.usage.cache_read.input_tokens": 8,
        "gen_ai.usage.cache_write.input_tokens": 2,
        "gen_ai.usage.reasoning.output_tokens": 0,
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "gen_ai.response.finish_reasons": ("stop",),
    }
    assert isinstance(finished.attributes["gen_ai.request.temperature"], float)
    assert isinstance(finished.attributes["gen_ai.usage.input_tokens"], int)


def test_zero_tokens_are_reported_and_unknown_ones_are_not(span):
    with si.llm_call("openai", "gpt-4o") as call:
        call.usage(input_tokens=0, output_tokens=None)

    assert span().attributes["gen_ai.usage.input_tokens"] == 0
    assert "gen_ai.usage.output_tokens" not in span().attributes


def test_another_operation_names_the_span(span):
    with si.llm_call("openai", "text-embedding-3-small", operation="embeddings"):
        pass

    assert span().name == "embeddings text-embedding-3-small"
    assert span().attributes["gen_ai.operation.name"] == "embeddings"


def test_retrieval(span):
    with si.retrieval("handbook", query="holidays", top_k=2) as retrieval:
        retrieval.documents([{"id": "d1", "score": 0.5, "content": "25 days"}, "a bare text"])

    finished = span()
    assert finished.name == "retrieval handbook"
    assert finished.kind is SpanKind.CLIENT
    assert finished.attributes["gen_ai.data_source.id"] == "handbook"
    assert finished.attributes["gen_ai.retrieval.query.text"] == "holidays"
    assert finished.attributes["gen_ai.retrieval.top_k"] == 2
    assert json.loads(finished.attributes["gen_ai.retrieval.documents"]) == [
        {"id": "d1", "score": 0.5, "content": "25 days"},
        {"content": "a bare text"},
    ]


def test_handoff(span):
    si.record_handoff("triage", "billing", reason="asks about an invoice")

    assert span().name == "handoff billing"
    assert dict(span().attributes) == {
        "gen_ai.operation.name": "handoff",
        "gen_ai.handoff.from_agent": "triage",
        "gen_ai.handoff.to_agent": "billing",
        "spanscore.handoff.mode": "pass_control",
        "spanscore.handoff.reason": "asks about an invoice",
    }


def test_operations_inside_an_agent_carry_its_name_and_conversation(spans):
    with si.agent("outer", conversation_id="s-1"), si.llm_call("openai", "m"), si.agent("inner"), si.tool("t"):
        pass
    tool, inner, llm_call, _outer = spans()

    assert tool.attributes["gen_ai.agent.name"] == "inner"
    assert tool.attributes["gen_ai.conversation.id"] == "s-1"
    assert inner.attributes["gen_ai.agent.name"] == "inner"
    assert llm_call.attributes["gen_ai.agent.name"] == "outer"
    assert tool.parent.span_id == inner.context.span_id


def test_an_agent_without_a_name_does_not_take_that_of_the_agent_around_it(spans):
    with si.agent("outer"), si.agent(), si.tool("t"):
        pass

    assert "gen_ai.agent.name" not in spans()[1].attributes
    assert "gen_ai.agent.name" not in spans()[0].attributes


def test_what_is_known_at_the_start_is_there_for_a_sampler(monkeypatch):
    from opentelemetry import trace

    seen = {}
    sampler = trace.get_tracer_provider().sampler
    original = type(sampler).should_sample

    def record(self, context, trace_id, name, *args, attributes=None, **kwargs):
        seen.update(attributes or (args[1] if len(args) > 1 else {}))
        return original(self, context, trace_id, name, *args, attributes=attributes, **kwargs)

    monkeypatch.setattr(type(sampler), "should_sample", record)
    with si.tool("search", call_id="c1"):
        pass

    assert {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}.items() <= seen.items()
