"""Captures to measure with: agent runs of ten spans of about 2 kB each, with messages, tool arguments and token counts.

The same runs are written in both forms in which the OpenTelemetry Collector writes files: requests of protobuf, each
after its length in four bytes, and a JSON document per line.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SPANS_PER_RUN, RUNS_PER_REQUEST = 10, 50
SPANS_PER_REQUEST = SPANS_PER_RUN * RUNS_PER_REQUEST
SEED = 20261129
START_NS = 1_790_000_000_000_000_000
TEXT_WORDS = 125

Attributes = dict[str, str | int]


def write_captures(folder: Path, spans: int) -> tuple[Path, Path]:
    """Writes `spans` spans as protobuf and as JSON lines; returns both files."""
    protobuf, json_lines = folder / "traces.pb", folder / "traces.jsonl"
    with protobuf.open("wb") as binary, json_lines.open("w", encoding="utf-8") as text:
        for number in range(spans // SPANS_PER_REQUEST):
            made = list(_spans(number))
            request = _protobuf(made)
            binary.write(len(request).to_bytes(4, "big") + request)
            text.write(json.dumps(_json(made), separators=(",", ":")) + "\n")
    return protobuf, json_lines


def write_large_capture(file: Path, size: int) -> int:
    """Writes requests of protobuf until the file has `size` bytes; returns the spans in it.

    Texts come back after twenty requests, ids do not.
    """
    texts = [list(_spans(number)) for number in range(20)]
    requests = 0
    with file.open("wb") as binary:
        while binary.tell() < size:
            source = random.Random(-requests - 1)
            made = texts[requests % len(texts)]
            ids = {span["trace_id"]: source.randbytes(16) for span in made}
            renamed = {span["span_id"]: source.randbytes(8) for span in made}
            request = _protobuf(
                span
                | {
                    "trace_id": ids[span["trace_id"]],
                    "span_id": renamed[span["span_id"]],
                    "parent_span_id": renamed.get(span["parent_span_id"], b""),
                }
                for span in made
            )
            binary.write(len(request).to_bytes(4, "big") + request)
            requests += 1
    return requests * SPANS_PER_REQUEST


def _spans(number: int) -> Iterator[dict]:  # type: ignore[type-arg] # keyword arguments of a protobuf span
    """The spans of a request, the same for the same number: an agent, then model and tool calls in turn."""
    source = random.Random(SEED + number)
    for run in range(RUNS_PER_REQUEST):
        trace_id, root_id = source.randbytes(16), source.randbytes(8)
        start_ns = START_NS + (number * RUNS_PER_REQUEST + run) * 10**9
        for step in range(SPANS_PER_RUN):
            if step == 0:
                name, attributes = "invoke_agent bench", _agent()
            elif step % 2 == 0:
                name, attributes = "execute_tool search", _tool_call(source, step)
            else:
                name, attributes = "chat gpt-4o", _llm_call(source)
            yield {
                "trace_id": trace_id,
                "span_id": source.randbytes(8) if step else root_id,
                "parent_span_id": root_id if step else b"",
                "name": name,
                "start_time_unix_nano": start_ns + step * 10**7,
                "end_time_unix_nano": start_ns + (step * 10**7 + 9 * 10**6 if step else SPANS_PER_RUN * 10**7 + 10**7),
                "attributes": attributes,
            }


def _agent() -> Attributes:
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bench"}


def _llm_call(source: random.Random) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": source.randrange(100, 5_000),
        "gen_ai.usage.output_tokens": source.randrange(10, 500),
        "gen_ai.input.messages": _messages("user", _text(source)),
        "gen_ai.output.messages": _messages("assistant", f"The figure is {source.randrange(10**6)}."),
    }


def _tool_call(source: random.Random, step: int) -> Attributes:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{step}",
        "gen_ai.tool.call.arguments": json.dumps({"query": source.randrange(10**6)}),
        "gen_ai.tool.call.result": _text(source),
    }


def _text(source: random.Random) -> str:
    return " ".join(f"{source.randrange(10**6)} words" for _ in range(TEXT_WORDS))


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _protobuf(made) -> bytes:  # type: ignore[no-untyped-def] # what `_spans` yields
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    resource_spans.resource.attributes.add(key="service.name").value.string_value = "bench"
    spans = resource_spans.scope_spans.add().spans
    for one in made:
        span = spans.add(**{key: value for key, value in one.items() if key != "attributes"})
        for key, value in one["attributes"].items():
            attribute = span.attributes.add(key=key)
            if isinstance(value, int):
                attribute.value.int_value = value
            else:
                attribute.value.string_value = value
    return request.SerializeToString()


def _json(made: list[dict]) -> dict:  # type: ignore[type-arg] # an OTLP/JSON document
    spans = [
        {
            "traceId": one["trace_id"].hex(),
            "spanId": one["span_id"].hex(),
            "parentSpanId": one["parent_span_id"].hex(),
            "name": one["name"],
            "startTimeUnixNano": str(one["start_time_unix_nano"]),
            "endTimeUnixNano": str(one["end_time_unix_nano"]),
            "attributes": [_json_attribute(key, value) for key, value in one["attributes"].items()],
        }
        for one in made
    ]
    resource = {"attributes": [_json_attribute("service.name", "bench")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def _json_attribute(key: str, value: str | int) -> dict[str, object]:
    # Integers are strings in OTLP/JSON.
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
