"""How fast the collector acknowledges, how soon spans can be queried, and how much memory it takes, at a given rate.

    python -m benchmarks.collect --rate 2000 --seconds 20

Spans are sent on a fixed schedule by a process of its own, whether or not earlier requests were answered, and the time
to an acknowledgement counts from the moment a request was due: a collector that stalls cannot slow its own clock down.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

SPANS_PER_REQUEST = 50
SPANS_PER_TRACE = 10
SENDERS = 8
RATE = 2000.0
SECONDS = 20.0
SERVE = """
import json, pathlib, sys
from spanscore.collector import CollectorConfig, serve
config = CollectorConfig(store=pathlib.Path(sys.argv[1]), grpc="127.0.0.1:0", http="127.0.0.1:0")
serve(config, on_ready=lambda c: print(json.dumps([c.grpc_address, c.http_address]), flush=True))
"""
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@dataclass(frozen=True)
class CollectResult:
    """One run.

    Attributes:
        rate_spans_per_s: acknowledged spans over the time from the first request to the last acknowledgement [spans/s].
        ack_p50_ms, ack_p99_ms: from when a request was due to its acknowledgement [ms], nearest rank.
        lag_s_max: longest time from receipt of a span to the end of the load that made it queryable [s].
        store_held_s_max: longest time the collector kept the store from others [s].
        rss_mb_max: largest resident memory of the collector [MB].
        cpu_s: processor time of the collector [s].
        sent, stored: spans acknowledged, and spans in the store afterwards [count].
        refused: requests that were not acknowledged [count].
    """

    rate_spans_per_s: float
    ack_p50_ms: float
    ack_p99_ms: float
    lag_s_max: float
    store_held_s_max: float
    rss_mb_max: float
    cpu_s: float
    sent: int
    stored: int
    refused: int


def measure() -> list[Figure]:
    """The default run against its targets."""
    result = run()
    acknowledged = f"spans acknowledged per second, of {RATE:g} sent"
    missing = result.sent - result.stored
    return [
        Figure(
            acknowledged, result.rate_spans_per_s, "spans/s", f">= {RATE:g}", result.rate_spans_per_s >= 0.98 * RATE
        ),
        Figure("time to an acknowledgement, p99", result.ack_p99_ms, "ms", "< 250 ms", result.ack_p99_ms < 250),
        Figure("from receipt to queryable trajectory, longest", result.lag_s_max, "s", "< 30 s", result.lag_s_max < 30),
        Figure("store kept from readers, longest", result.store_held_s_max, "s", "< 5 s", result.store_held_s_max < 5),
        Figure("memory of the collector, largest", result.rss_mb_max, "MB", "< 1024 MB", result.rss_mb_max < 1024),
        Figure("acknowledged spans that are not in the store", missing, "spans", "0", missing == 0),
    ]


def run(*, rate: float = RATE, seconds: float = SECONDS, transport: str = "grpc") -> CollectResult:
    """Runs a collector on a new store and sends to it.

    Args:
        rate: spans of about 2 kB to send [spans/s].
        seconds: for how long [s].
        transport: `grpc` or `http`.
    """
    import psutil

    from spanscore.collector import read_status
    from spanscore.store import read_session

    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store"
        server = subprocess.Popen([sys.executable, "-c", SERVE, str(store)], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        addresses = json.loads(server.stdout.readline())
        address = addresses[0] if transport == "grpc" else addresses[1]
        command = [sys.executable, "-m", "benchmarks.collect", "--send-to", address]
        options = ["--rate", str(rate), "--seconds", str(seconds), "--transport", transport]
        sender = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        process = psutil.Process(server.pid)
        rss = 0.0
        while sender.poll() is None:
            rss = max(rss, process.memory_info().rss / 1e6)
            time.sleep(0.1)
        assert sender.stdout is not None
        sent = json.loads(sender.stdout.read())
        cpu = process.cpu_times()
        server.terminate()
        if server.wait(120) != 0:
            raise RuntimeError(f"the collector ended with exit code {server.returncode}")
        status = read_status(store) or {}
        with read_session(store) as session:
            ((stored,),) = session.rows("select count(*) from spans")
    return CollectResult(
        rate_spans_per_s=round(sent["spans"] / sent["seconds"], 1),
        ack_p50_ms=round(_nearest_rank(sent["ack_ms"], 0.50), 2),
        ack_p99_ms=round(_nearest_rank(sent["ack_ms"], 0.99), 2),
        lag_s_max=status["lag_s_max"],
        store_held_s_max=status["held_s_max"],
        rss_mb_max=round(rss, 1),
        cpu_s=round(cpu.user + cpu.system, 2),
        sent=sent["spans"],
        stored=stored,
        refused=sent["refused"],
    )


def _nearest_rank(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


class Template:
    """A request whose span and trace ids can be replaced without serialising it again."""

    def __init__(self) -> None:
        """Spans look like the LLM calls of an agent: a model, usage, and messages of about 1.5 kB."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        request = ExportTraceServiceRequest()
        owner = request.resource_spans.add()
        owner.resource.attributes.add(key="service.name").value.string_value = "agent"
        spans = owner.scope_spans.add().spans
        trace_ids, span_ids = [os.urandom(16) for _ in range(SPANS_PER_REQUEST)], []
        now = time.time_ns()
        for n in range(SPANS_PER_REQUEST):
            span_ids.append(os.urandom(8))
            span = spans.add(trace_id=trace_ids[n], span_id=span_ids[n], name="chat gpt-5", kind=3)
            span.start_time_unix_nano, span.end_time_unix_nano = now, now + 900_000_000
            texts = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-5",
                "gen_ai.response.id": f"resp-{n}",
                "gen_ai.input.messages": _messages("user", 900),
                "gen_ai.output.messages": _messages("assistant", 600),
            }
            for key, text in texts.items():
                span.attributes.add(key=key).value.string_value = text
            span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = 400 + n
            span.attributes.add(key="gen_ai.usage.output_tokens").value.int_value = 90 + n
        self._content = bytearray(request.SerializeToString())
        self._trace_at = [self._content.index(trace_id) for trace_id in trace_ids]
        self._span_at = [self._content.index(span_id) for span_id in span_ids]

    def with_new_ids(self) -> bytes:
        """The request with ids that were never used."""
        fresh = os.urandom(8 * SPANS_PER_REQUEST)
        for n, (trace_at, span_at) in enumerate(zip(self._trace_at, self._span_at, strict=True)):
            if n % SPANS_PER_TRACE == 0:
                trace_id = os.urandom(16)
            self._content[trace_at : trace_at + 16] = trace_id
            self._content[span_at : span_at + 8] = fresh[8 * n : 8 * n + 8]
        return bytes(self._content)


def _messages(role: str, size: int) -> str:
    words = "the agent looked at the figures of the last quarter and found them to be as expected "
    content = (words * (size // len(words) + 1))[:size]
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])


def send(address: str, *, rate: float, seconds: float, transport: str) -> dict[str, Any]:
    """Sends on schedule from several threads; what was acknowledged, and how long each acknowledgement took [ms]."""
    interval = SPANS_PER_REQUEST / rate
    began = time.monotonic() + 0.2
    due = iter([began + n * interval for n in range(int(seconds / interval))])
    mutex = threading.Lock()
    acks: list[float] = []
    refused: list[str] = []

    def work() -> None:
        template = Template()
        with mutex:
            post = _poster(address, transport)
        while True:
            with mutex:
                at = next(due, None)
            if at is None:
                return
            payload = template.with_new_ids()
            time.sleep(max(0.0, at - time.monotonic()))
            problem = post(payload)
            if problem is None:
                acks.append((time.monotonic() - at) * 1000)
            else:
                refused.append(problem)

    threads = [threading.Thread(target=work) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "spans": len(acks) * SPANS_PER_REQUEST,
        "seconds": time.monotonic() - began,
        "ack_ms": acks,
        "refused": len(refused),
        "first_refusal": next(iter(refused), None),
    }


def _poster(address: str, transport: str) -> Any:
    """A function that sends one request: None, or what went wrong."""
    if transport == "grpc":
        import grpc

        export = grpc.insecure_channel(address).unary_unary(TRACE_EXPORT)

        def over_grpc(payload: bytes) -> str | None:
            try:
                export(payload, timeout=30)
            except grpc.RpcError as error:
                return str(error)
            return None

        return over_grpc
    connection = http.client.HTTPConnection(address, timeout=30)

    def over_http(payload: bytes) -> str | None:
        connection.request("POST", "/v1/traces", payload, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        answer.read()
        return None if answer.status == 200 else f"HTTP {answer.status}"

    return over_http


def main() -> None:
    """Prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=RATE, help="spans per second")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to send")
    parser.add_argument("--transport", choices=["grpc", "http"], default="grpc")
    parser.add_argument("--send-to", metavar="HOST:PORT", help="only send, to a collector that runs already")
    options = parser.parse_args()
    shape = {"rate": options.rate, "seconds": options.seconds, "transport": options.transport}
    result = asdict(run(**shape)) if options.send_to is None else send(options.send_to, **shape)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
