"""How fast captured files become queryable trajectories, against the floor of merely decoding and inserting them.

The input is made here: agent runs of ten spans of about 2 kB each, with messages, tool arguments and token counts, in
one file of length-prefixed OTLP requests, the form in which the OpenTelemetry Collector writes protobuf.
"""

import json
import random
import tempfile
from pathlib import Path

import duckdb
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.figures import Figure, seconds
from spanscore.ingest import ingest_files
from spanscore.otlp import decode_traces

RUNS, SPANS_PER_RUN, RUNS_PER_REQUEST = 20_000, 10, 50
REQUESTS_PER_INSERT = 8  # about 8 MB, as much as a chunk of a file
SEED = 20261129
START_NS = 1_790_000_000_000_000_000
TEXT_BYTES = 1_500


def measure() -> list[Figure]:
    """Spans per second of the floor and of `ingest`, and their ratio."""
    requests = [_request(number) for number in range(RUNS // RUNS_PER_REQUEST)]
    spans = RUNS * SPANS_PER_RUN
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "traces.pb"
        capture.write_bytes(b"".join(len(request).to_bytes(4, "big") + request for request in requests))
        floor_s = seconds(lambda: _floor(requests, Path(folder) / "floor.duckdb"), rounds=1)
        stores = iter(range(1))
        ingest_s = seconds(lambda: ingest_files([capture], Path(folder) / f"store-{next(stores)}"), rounds=1)
    ratio = floor_s / ingest_s
    return [
        Figure("size of a span", sum(map(len, requests)) / spans, "B"),
        Figure("decode and insert, nothing derived (the floor)", spans / floor_s, "spans/s"),
        Figure("ingest, to queryable trajectories", spans / ingest_s, "spans/s"),
        Figure("ingest / floor", ratio, "", ">= 0.33", met=ratio >= 1 / 3),
    ]


def _floor(requests: list[bytes], file: Path) -> None:
    """Decode the requests and insert their spans as they come, in one transaction."""
    file.unlink(missing_ok=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute("begin")
        for first in range(0, len(requests), REQUESTS_PER_INSERT):
            connection.register("decoded", decode_traces(requests[first : first + REQUESTS_PER_INSERT]).spans)
            connection.execute("insert into spans from decoded" if first else "create table spans as from decoded")
            connection.unregister("decoded")
        connection.execute("commit")
        connection.execute("checkpoint")


def _request(number: int) -> bytes:
    """A request of whole runs, the same for the same number."""
    source = random.Random(SEED + number)
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    resource_spans.resource.attributes.append(_attribute("service.name", "bench"))
    spans = resource_spans.scope_spans.add().spans
    for run in range(RUNS_PER_REQUEST):
        _add_run(spans, source, START_NS + (number * RUNS_PER_REQUEST + run) * 10**9)
    return request.SerializeToString()


def _add_run(spans, source: random.Random, start_ns: int) -> None:  # type: ignore[no-untyped-def] # a protobuf container
    """An agent, then model and tool calls in turn."""
    trace_id, root_id = source.randbytes(16), source.randbytes(8)
    root = _span(spans, trace_id, root_id, "invoke_agent bench", start_ns, SPANS_PER_RUN * 10**7)
    root.attributes.append(_attribute("gen_ai.operation.name", "invoke_agent"))
    root.attributes.append(_attribute("gen_ai.agent.name", "bench"))
    for step in range(SPANS_PER_RUN - 1):
        is_tool = step % 2 == 1
        name = "execute_tool search" if is_tool else "chat gpt-4o"
        span = _span(spans, trace_id, source.randbytes(8), name, start_ns + step * 10**7, 9 * 10**6)
        span.parent_span_id = root_id
        for key, value in (_tool_call(source, step) if is_tool else _llm_call(source)).items():
            span.attributes.append(_attribute(key, value))


def _span(spans, trace_id: bytes, span_id: bytes, name: str, start_ns: int, length_ns: int) -> Span:  # type: ignore[no-untyped-def] # a protobuf container
    span: Span = spans.add(trace_id=trace_id, span_id=span_id, name=name)
    span.start_time_unix_nano, span.end_time_unix_nano = start_ns, start_ns + length_ns
    return span


def _text(source: random.Random) -> str:
    return " ".join(f"{source.randrange(10**6)} words" for _ in range(TEXT_BYTES // 12))


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _llm_call(source: random.Random) -> dict[str, str | int]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": source.randrange(100, 5_000),
        "gen_ai.usage.output_tokens": source.randrange(10, 500),
        "gen_ai.input.messages": _messages("user", _text(source)),
        "gen_ai.output.messages": _messages("assistant", f"The figure is {source.randrange(10**6)}."),
    }


def _tool_call(source: random.Random, step: int) -> dict[str, str | int]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{step}",
        "gen_ai.tool.call.arguments": json.dumps({"query": source.randrange(10**6)}),
        "gen_ai.tool.call.result": _text(source),
    }


def _attribute(key: str, value: str | int) -> KeyValue:
    attribute = KeyValue(key=key)
    if isinstance(value, int):
        attribute.value.int_value = value
    else:
        attribute.value.string_value = value
    return attribute
