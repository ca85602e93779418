"""`setup` in fresh processes: with nothing, with a provider of the user's, without the SDK, towards a real receiver."""

import gzip
import subprocess
import sys
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

WITHOUT_SDK = """
    import sys
    class Refuse:
        def find_spec(self, name, path=None, target=None):
            if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.semconv", "grpc")):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    sys.meta_path.insert(0, Refuse())
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing of this process but its packages."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        check=False,
    )


def test_everything_runs_with_the_api_alone_and_records_nothing():
    result = run(
        textwrap.dedent(WITHOUT_SDK)
        + textwrap.dedent("""
        import asyncio
        import spanscore_instrumentation as si

        @si.agent
        def plan(question):
            with si.llm_call("openai", "gpt-4o", messages=question) as call:
                call.usage(input_tokens=1); call.output("x"); call.response(id="r")
            with si.tool("t", arguments={}) as tool:
                tool.result(1); tool.error("e")
            with si.retrieval("kb", query="q") as retrieval:
                retrieval.documents(["d"])
            si.record_handoff("a", "b")
            si.score("s", 1)
            yield "done"

        @si.tool
        async def search():
            return 1

        with si.experiment(case_id="c"):
            assert list(plan("q")) == ["done"]
        assert asyncio.run(search()) == 1
        assert si.agent("a").is_recording is False
        assert si.setup("x") is False
        si.flush()
        assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk")]
        print("ok")
        """)
    )

    assert result.stdout == "ok\n", result.stderr
    assert "pip install --upgrade opentelemetry-sdk opentelemetry-exporter-otlp" in result.stderr


def test_importing_loads_no_sdk_and_no_grpc():
    result = run("""
        import sys, spanscore_instrumentation
        heavy = ("grpc", "google.protobuf", "opentelemetry.sdk", "opentelemetry.exporter", "requests")
        print([name for name in sys.modules if name.startswith(heavy)])
    """)

    assert result.stdout == "[]\n", result.stderr


def test_a_provider_of_the_user_stays_and_gets_no_exporter_of_ours():
    result = run("""
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        import spanscore_instrumentation as si

        mine = TracerProvider()
        trace.set_tracer_provider(mine)
        for _ in range(3):
            assert si.setup("x") is True
        assert trace.get_tracer_provider() is mine
        print([type(p).__name__ for p in mine._active_span_processor._span_processors])
    """)

    assert result.stdout == "['BaggageProcessor']\n", result.stderr


def test_a_provider_that_is_not_the_sdks_is_left_alone():
    result = run("""
        from opentelemetry import trace
        import spanscore_instrumentation as si

        class Mine(trace.NoOpTracerProvider):
            pass
        trace.set_tracer_provider(Mine())
        print(si.setup("x"), type(trace.get_tracer_provider()).__name__)
    """)

    assert result.stdout == "False Mine\n", result.stderr
    assert "left as it is" in result.stderr


def test_helpers_used_before_setup_record_after_it():
    result = run("""
        import spanscore_instrumentation as si
        tool = si.tool("t")
        with tool:
            print(tool.is_recording, flush=True)
        si.setup("x", "http://127.0.0.1:9")
        with tool:
            print(tool.is_recording, flush=True)
        import os
        os._exit(0)
    """)

    assert result.stdout.split() == ["False", "True"], result.stderr


class Receiver:
    """An OTLP/HTTP receiver on a free port of this machine, which keeps what it is sent."""

    def __init__(self) -> None:
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                received.append((self.path, body))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()

            def log_message(self, *args):
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver():
    started = Receiver()
    yield started
    started.server.shutdown()
    started.server.server_close()


def test_traces_and_scores_arrive_at_an_endpoint_by_the_time_the_program_ends(receiver):
    result = run(f"""
        import spanscore_instrumentation as si
        assert si.setup("my-agent", "{receiver.url}") is True
        assert si.setup("my-agent", "{receiver.url}") is True
        with si.experiment(case_id="c-1", trial=2), si.agent("a", input="hi"):
            si.score("helpful", 1)
    """)
    assert result.returncode == 0, result.stderr
    traces = [ExportTraceServiceRequest.FromString(body) for path, body in receiver.received if path == "/v1/traces"]
    logs = [ExportLogsServiceRequest.FromString(body) for path, body in receiver.received if path == "/v1/logs"]

    (request,) = traces
    (resource_spans,) = request.resource_spans
    (span,) = resource_spans.scope_spans[0].spans
    resource = {a.key: a.value.string_value for a in resource_spans.resource.attributes}
    attributes = {a.key: a.value for a in span.attributes}
    assert resource["service.name"] == "my-agent"
    assert resource_spans.scope_spans[0].scope.name == "spanscore_instrumentation"
    assert attributes["spanscore.case.id"].string_value == "c-1"
    assert attributes["spanscore.trial"].int_value == 2
    (record,) = logs[0].resource_logs[0].scope_logs[0].log_records
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id, record.span_id) == (span.trace_id, span.span_id)


def test_port_4317_means_grpc_unless_no_port_says_otherwise(monkeypatch):
    from spanscore_instrumentation._sdk import _is_grpc

    monkeypatch.delenv("OTEL_EXPORTER_OTLP_PROTOCOL", raising=False)
    assert [_is_grpc(e) for e in (None, "http://h:4317", "http://h:4318", "http://h")] == [False, True, False, False]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert [_is_grpc(e) for e in (None, "http://h:4317", "http://h:4318", "http://h")] == [True, True, False, True]
