"""What the instrumentation emits is what the trajectory tables say: the two packages agree on every name."""

import subprocess
import sys
from pathlib import Path

import pytest

from spanscore.otlp import decode_traces
from spanscore.store import Store, read_session

# An agent of every helper, in a process of its own as a tracer provider is for ever; its spans go to a file as OTLP.
PROGRAM = """
import sys
from pathlib import Path
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import spanscore_instrumentation as si

spans = InMemorySpanExporter()
provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
si.setup("shop", content="on")

@si.tool
def refund(number):
    raise TimeoutError("the gateway is silent")

@si.llm_call("openai", "gpt-4o")
def stream(messages):
    yield "Order 7 "
    yield "cost 18.50."
    call = si.current(si.LlmCall)
    call.usage(input_tokens=1000, output_tokens=20, cache_read_tokens=500, cache_write_tokens=0, reasoning_tokens=5)
    call.response(id="r-2", model="gpt-4o-2024-08-06", finish_reason="stop")

ids = dict(experiment_id="e-1", suite_name="orders", suite_version="2", case_id="c-1", trial=3, variant="v")
wish = [{"id": "call-1", "function": {"name": "find_order", "arguments": '{"number": 7}'}}]
with si.experiment(**ids), si.agent("triage", input="What did order 7 cost?", conversation_id="s-1") as triage:
    with si.llm_call("openai", "gpt-4o", messages="What did order 7 cost?") as call:
        call.output({"role": "assistant", "tool_calls": wish})
        call.usage(input_tokens=100, output_tokens=10)
        call.response(id="r-1", finish_reason="tool_calls")
    with si.tool("find_order", arguments={"number": 7}, call_id="call-1") as tool:
        tool.result({"total": 18.5})
    try:
        refund(7)
    except TimeoutError:
        pass
    si.record_handoff("triage", "billing")
    with si.agent("billing") as billing:
        with si.retrieval("handbook", query="refunds", top_k=2) as retrieval:
            retrieval.documents([{"id": "p7", "content": "Refunds take a day."}])
        billing.output("".join(stream("order 7?")))
    triage.output("Order 7 cost 18.50.")
Path(sys.argv[1]).write_bytes(encode_spans(spans.get_finished_spans()).SerializeToString())
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A function that gives the rows of a query on the store, as tuples."""
    folder = tmp_path_factory.mktemp("instrumented")
    exported = folder / "spans.pb"
    subprocess.run([sys.executable, "-c", PROGRAM, exported], check=True, env={"PYTHONPATH": ":".join(sys.path)})
    with Store.open(folder / "store") as store:
        store.load(decode_traces([Path(exported).read_bytes()]), source="test")
        store.derive()

    def rows(query: str) -> list[tuple[object, ...]]:
        with read_session(folder / "store") as session:
            return session.rows(query)

    return rows


EXPECTED = {
    "the run": (
        """
        select service_name, source, experiment_id, suite_name, suite_version, case_id, trial, variant, session_id,
            entry_agent, status, question, final_answer, input_tokens, output_tokens
        from runs
        """,
        [
            (
                *("shop", "benchmark", "e-1", "orders", "2", "c-1", 3, "v", "s-1"),
                *("triage", "ok", "What did order 7 cost?", "Order 7 cost 18.50.", 1100, 30),
            )
        ],
    ),
    "agents": (
        "select agent_name, depth, llm_calls, tool_calls from agent_invocations order by depth",
        [("triage", 0, 1, 2), ("billing", 1, 1, 0)],
    ),
    "LLM calls": (
        """
        select agent_name, provider, request_model, response_model, response_id, finish_reason, input_tokens,
            output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, time_to_first_chunk_s is not null
        from llm_calls order by started_at
        """,
        [
            ("triage", "openai", "gpt-4o", None, "r-1", "tool_calls", 100, 10, None, None, None, False),
            ("billing", "openai", "gpt-4o", "gpt-4o-2024-08-06", "r-2", "stop", 1000, 20, 500, 0, 5, True),
        ],
    ),
    "tool calls": (
        """
        select agent_name, tool_name, arguments ->> 'number', status, error_type, requested, executed
        from tool_calls order by started_at
        """,
        [
            ("triage", "find_order", "7", "ok", None, True, True),
            ("triage", "refund", "7", "error", "TimeoutError", False, True),
        ],
    ),
    "handoffs": (
        "select from_agent, to_agent, mode from handoffs",
        [("triage", "billing", "pass_control")],
    ),
    "what the models answered": (
        """
        select request_model, text from messages join llm_calls using (llm_call_id)
        where direction = 'output' and part_type = 'text'
        """,
        [("gpt-4o", "Order 7 cost 18.50.")],
    ),
}


@pytest.mark.parametrize(("query", "rows"), EXPECTED.values(), ids=EXPECTED.keys())
def test_the_tables_say_what_the_agent_did(ask, query, rows):
    assert ask(query) == rows
