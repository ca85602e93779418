"""Requests to send: the spans of agents at work, about 2 kB each, made faster than they can be received.

Serialising a request costs more than receiving it. So some are serialised once, with texts of their own, and every
request is one of them with new ids and new times written over the old ones.
"""

import json
import random
import time
from collections.abc import Iterator
from typing import Any

SPANS_PER_REQUEST = 50
TRACES_PER_REQUEST = 5
STEPS = SPANS_PER_REQUEST // TRACES_PER_REQUEST - 1
VARIANTS = 6
_STEP_NS = 1_000_000

_VOCABULARY = (
    "agent answer average budget by city compared customer data delivery dropped figures for found from growth in is "
    "last market month of on order percent plan price quarter region report revenue sales since source than that the "
    "to total turnover units up was week were which with year"
)
_WORDS = _VOCABULARY.split()


class AgentSpans:
    """Numbered requests of 50 spans: of five traces, each an agent with five model calls and four tool calls.

    Request n holds the spans numbered 50 n to 50 n + 49. An agent ends after its steps, so exporters send it later: the
    agents of the traces of a request come with the next one.
    """

    def __init__(self, series: int, *, is_json: bool = False, text_bytes: int = 1500) -> None:
        """Another `series` (1 to 2^31) has other ids and texts. `text_bytes` is about the text of a span [bytes]."""
        self._series = series
        self._is_json = is_json
        rng = random.Random(series)
        self._variants = [_Variant(rng, is_json=is_json, text_bytes=text_bytes) for _ in range(VARIANTS)]

    def span_ids(self, number: int) -> list[str]:
        """Ids of the spans of a request, in hexadecimal."""
        return [self.span_id(number * SPANS_PER_REQUEST + n).hex() for n in range(SPANS_PER_REQUEST)]

    def span_id(self, n: int) -> bytes:
        """Id of a span."""
        return self._series.to_bytes(4, "big") + n.to_bytes(4, "big")

    def request(self, number: int) -> bytes:
        """The request of this number (0, 1, …), with the present time."""
        now = time.time_ns()
        agents = [self.span_id((number + 1) * SPANS_PER_REQUEST + n) for n in range(TRACES_PER_REQUEST)]
        traces = [self._trace_id(number * TRACES_PER_REQUEST + n) for n in range(TRACES_PER_REQUEST)]
        earlier = [self._trace_id((number - 1) * TRACES_PER_REQUEST + n) for n in range(TRACES_PER_REQUEST)]
        values: list[bytes] = []
        for n in range(SPANS_PER_REQUEST):
            trace = n % TRACES_PER_REQUEST
            span_id = self.span_id(number * SPANS_PER_REQUEST + n)
            step = n // TRACES_PER_REQUEST
            if step == 0:
                values += self._fields(earlier[trace], span_id, bytes(8), now - 300 * _STEP_NS, now)
            else:
                start = now + step * _STEP_NS
                values += self._fields(traces[trace], span_id, agents[trace], start, start + _STEP_NS)
        return self._variants[number % VARIANTS].filled(values)

    def _trace_id(self, n: int) -> bytes:
        return self._series.to_bytes(8, "big") + (n + TRACES_PER_REQUEST).to_bytes(8, "big")

    def _fields(self, trace_id: bytes, span_id: bytes, parent_id: bytes, start: int, end: int) -> list[bytes]:
        response = span_id.hex().encode()
        if self._is_json:
            ids = [part.hex().encode() for part in (trace_id, span_id, parent_id)]
            return [*ids, f"{start:019d}".encode(), f"{end:019d}".encode(), response]
        return [trace_id, span_id, parent_id, start.to_bytes(8, "little"), end.to_bytes(8, "little"), response]


class _Variant:
    """One serialised request, and where its ids and times stand."""

    def __init__(self, rng: random.Random, *, is_json: bool, text_bytes: int) -> None:
        from google.protobuf.json_format import MessageToDict
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        request = ExportTraceServiceRequest()
        owner = request.resource_spans.add()
        owner.resource.attributes.add(key="service.name").value.string_value = "agent"
        scope = owner.scope_spans.add()
        scope.scope.name = "benchmarks"
        marks: list[bytes] = []
        for n in range(SPANS_PER_REQUEST):
            span = scope.spans.add(kind=3)
            span.trace_id, span.span_id, span.parent_span_id = rng.randbytes(16), rng.randbytes(8), rng.randbytes(8)
            times = [rng.randrange(10**18, 9 * 10**18) for _ in range(2)]
            span.start_time_unix_nano, span.end_time_unix_nano = times
            response = rng.randbytes(8).hex()
            span.name, attributes = _content(rng, n // TRACES_PER_REQUEST, response, text_bytes)
            for key, value in attributes.items():
                if isinstance(value, int):
                    span.attributes.add(key=key).value.int_value = value
                else:
                    span.attributes.add(key=key).value.string_value = value
            ids = [span.trace_id, span.span_id, span.parent_span_id]
            if is_json:
                marks += [part.hex().encode() for part in ids] + [str(moment).encode() for moment in times]
            else:
                marks += ids + [moment.to_bytes(8, "little") for moment in times]
            marks.append(response.encode())
        if is_json:
            document = MessageToDict(request)
            for span, source in zip(document["resourceSpans"][0]["scopeSpans"][0]["spans"], scope.spans, strict=True):
                span["traceId"], span["spanId"] = source.trace_id.hex(), source.span_id.hex()
                span["parentSpanId"] = source.parent_span_id.hex()
                span["kind"] = source.kind
            self._content = bytearray(json.dumps(document, separators=(",", ":")).encode())
        else:
            self._content = bytearray(request.SerializeToString())
        self._places = [slice(at, at + len(mark)) for mark, at in self._found(marks)]

    def _found(self, marks: list[bytes]) -> Iterator[tuple[bytes, int]]:
        for mark in marks:
            at = self._content.find(mark)
            # The agent's span names no response.
            yield (mark, at) if at >= 0 else (b"", 0)

    def filled(self, values: list[bytes]) -> bytes:
        content = self._content
        for place, value in zip(self._places, values, strict=True):
            if place.stop:
                content[place] = value
        return bytes(content)


def _content(rng: random.Random, step: int, response: str, text_bytes: int) -> tuple[str, dict[str, Any]]:
    """Name and attributes of a span of one trace: the agent (0), its model calls (odd) and tool calls (even)."""
    if step == 0:
        return "invoke_agent analyst", {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "openai",
            "gen_ai.agent.name": "analyst",
            "gen_ai.input.messages": _message("user", _text(rng, text_bytes // 4)),
            "gen_ai.output.messages": _message("assistant", _text(rng, text_bytes * 3 // 4)),
        }
    if step % 2 == 0:
        return "execute_tool search", {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": f"call-{step}",
            "gen_ai.tool.call.arguments": json.dumps({"query": _text(rng, 60)}),
            "gen_ai.tool.call.result": _text(rng, text_bytes),
        }
    call = {"type": "tool_call", "id": f"call-{step + 1}", "name": "search", "arguments": {"query": _text(rng, 60)}}
    answer = {"type": "text", "content": _text(rng, text_bytes // 4)}
    parts = [answer] if step == STEPS else [answer, call]
    return "chat gpt-5", {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.response.model": "gpt-5",
        "gen_ai.response.id": f"resp-{response}",
        "gen_ai.input.messages": _message("user", _text(rng, text_bytes * 3 // 4)),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        "gen_ai.usage.input_tokens": rng.randrange(200, 4000),
        "gen_ai.usage.output_tokens": rng.randrange(20, 400),
    }


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _text(rng: random.Random, size: int) -> str:
    text = " ".join(
        rng.choice(_WORDS) if rng.random() < 0.9 else f"{rng.uniform(0, 5000):.2f}" for _ in range(size // 5)
    )
    return text[:size]
