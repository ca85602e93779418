"""End to end: what is redacted or left out is in no file of the store, and the trajectory says that it is missing."""

import gzip
import http.client
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from made_up_secrets import secrets
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Collector, Content, Privacy
from spanscore.store import read_session

CORPUS = Path(__file__).parents[1] / "corpus"
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

MakeRequest = Callable[..., ExportTraceServiceRequest]


def _nested(span: Any, text: str) -> None:
    nested = span.attributes.add(key="a").value.kvlist_value.values.add(key="b")
    nested.value.kvlist_value.values.add(key="c").value.string_value = text


def _message(span: Any, text: str) -> None:
    span.attributes.add(key="gen_ai.input.messages").value.string_value = json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": f"Use\n{text}\nplease"}]}]
    )


def _exception(span: Any, text: str) -> None:
    span.events.add(name="exception").attributes.add(key="exception.message").value.string_value = text


def _link(span: Any, text: str) -> None:
    span.links.add(trace_id=b"t" * 16, span_id=b"s" * 8).attributes.add(key="l").value.string_value = text


# Twelve places of a request (its ResourceSpans, its ScopeSpans, its span) where a text may stand.
PLACES: tuple[Callable[[Any, Any, Any, str], object], ...] = (
    lambda owner, spans, span, text: setattr(span, "name", text),
    lambda owner, spans, span, text: _message(span, text),
    lambda owner, spans, span, text: span.attributes.add(key="a").value.array_value.values.add(string_value=text),
    lambda owner, spans, span, text: _nested(span, text),
    lambda owner, spans, span, text: span.events.add(name=text),
    lambda owner, spans, span, text: _exception(span, text),
    lambda owner, spans, span, text: _link(span, text),
    lambda owner, spans, span, text: setattr(span.status, "message", f"failed: {text}"),
    lambda owner, spans, span, text: setattr(spans.scope, "version", text),
    lambda owner, spans, span, text: setattr(
        owner.resource.attributes.add(key="process.command_line").value, "string_value", f"agent {text}"
    ),
    lambda owner, spans, span, text: span.attributes.add(key=text),
    lambda owner, spans, span, text: setattr(span.attributes.add(key="url.full").value, "string_value", text),
)


def requests(make: MakeRequest, texts: Sequence[str]) -> list[ExportTraceServiceRequest]:
    """A request per text, which stands in each of the twelve places in turn."""
    found = []
    for number, text in enumerate(texts):
        request = make(number)
        owner = request.resource_spans[0]
        spans = owner.scope_spans[0]
        PLACES[number % len(PLACES)](owner, spans, spans.spans[0], text)
        found.append(request)
    return found


def test_no_file_of_the_store_holds_a_secret(tmp_path: Path, traces: MakeRequest) -> None:
    # 51 kinds and 12 places have 204 pairs that come in turn.
    made = secrets(204)
    with Collector(tmp_path / "store") as collector:
        assert collector.grpc_address is not None
        with grpc.insecure_channel(collector.grpc_address) as channel:
            export = channel.unary_unary(TRACE_EXPORT)
            for request in requests(traces, [text for _, text, _ in made]):
                export(request.SerializeToString(), timeout=20)
        collector.drain()
        status = collector.status()
    files = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    left = {
        (kind, path.name)
        for kind, _, secret in made
        for path, content in files.items()
        for line in secret.split("\n")
        if line and not line.startswith("-----") and line.encode() in content
    }

    assert left == set()
    assert len(files) >= 3
    assert (status["stored_spans"], status["redacted_requests"]) == (len(made), len(made))


def replay(collector: Collector, capture: Path) -> None:
    assert collector.http_address is not None
    connection = http.client.HTTPConnection(collector.http_address, timeout=20)
    content = capture.read_bytes()
    for line in (gzip.decompress(content) if capture.suffix == ".gz" else content).splitlines():
        connection.request("POST", "/v1/traces", line, {"Content-Type": "application/json"})
        assert connection.getresponse().read() == b"{}"
    connection.close()


CAPTURES = [
    ("openai-genai/ungrounded.jsonl", Content.DROP),
    ("langgraph-openinference/one_tool.jsonl", Content.HASH),
    pytest.param("langgraph-traceloop/one_tool.jsonl.gz", Content.DROP, marks=pytest.mark.slow),
    pytest.param("pydanticai-v5/one_tool.jsonl", Content.HASH, marks=pytest.mark.slow),
    pytest.param("vercelai-v6/one_tool.jsonl", Content.DROP, marks=pytest.mark.slow),
]


def collected(tmp_path: Path, capture: str, content: Content) -> tuple[bytes, list[tuple[Any, ...]]]:
    """All bytes of the store, and its runs and scores, after a capture was received."""
    with Collector(tmp_path / "store", privacy=Privacy(content=content)) as collector:
        replay(collector, CORPUS / capture)
        collector.drain()
    with read_session(tmp_path / "store") as session:
        runs = session.rows(
            "select has_content, final_answer, question, llm_calls, input_tokens, tool_calls from runs order by run_id"
        )
    return b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()), runs


@pytest.mark.slow
@pytest.mark.parametrize(("capture", "content"), CAPTURES)
def test_content_is_left_out_and_missed(tmp_path: Path, capture: str, content: Content) -> None:
    _, full = collected(tmp_path / "full", capture, Content.FULL)
    written, runs = collected(tmp_path / "less", capture, content)

    assert [run[0] for run in full] == [True] * len(runs)
    assert [run[:3] for run in runs] == [(False, None, None)] * len(full)
    # What happened is still known: calls and tokens.
    assert [run[3:] for run in runs] == [run[3:] for run in full]
    for run in full:
        for text in run[1:3]:
            assert text is None or text[:40].encode() not in written
