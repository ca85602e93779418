"""The OpenTelemetry exporters of Python, as they are, against a collector."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanscore.collector import Collector

Stored = Callable[..., list[tuple[Any, ...]]]

EXPORTERS = {
    "grpc": lambda c: GrpcExporter(endpoint=f"http://{c.grpc_address}", insecure=True),
    "grpc gzip": lambda c: GrpcExporter(
        endpoint=f"http://{c.grpc_address}", insecure=True, compression=grpc.Compression.Gzip
    ),
    "http": lambda c: HttpExporter(endpoint=f"http://{c.http_address}/v1/traces"),
    "http gzip": lambda c: HttpExporter(endpoint=f"http://{c.http_address}/v1/traces", compression=Compression.Gzip),
}


@pytest.fixture(scope="module")
def spans() -> Sequence[ReadableSpan]:
    """A small trace with every kind of field."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "agent", "replicas": 3}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("tests", "1.2")
    with tracer.start_as_current_span("invoke_agent", kind=trace.SpanKind.SERVER) as root:
        for n in range(20):
            attributes = {"n": n, "big": 2**62 + n, "ratio": n / 7, "is_even": n % 2 == 0, "tags": ["a", "b", str(n)]}
            link = trace.Link(root.get_span_context(), {"why": "test"})
            with tracer.start_as_current_span(f"chat {n}", attributes=attributes, links=[link]) as child:
                child.add_event("first_token", {"at": n})
                child.set_status(trace.StatusCode.ERROR, "ünïcode")
    return memory.get_finished_spans()


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_span_arrives_as_it_was(
    collector: Collector, stored: Stored, spans: Sequence[ReadableSpan], name: str
) -> None:
    result = EXPORTERS[name](collector).export(spans)
    rows = stored(
        collector,
        """
        select trace_id, span_id, parent_span_id, name, start_time_unix_nano, end_time_unix_nano, status_message,
            service_name, scope_name, attributes['n']::bigint, attributes['big']::bigint, attributes['ratio']::double,
            attributes['is_even']::boolean
        from spans order by start_time_unix_nano, span_id
        """,
    )

    assert result is SpanExportResult.SUCCESS
    assert rows == [
        (
            f"{span.context.trace_id:032x}",
            f"{span.context.span_id:016x}",
            None if span.parent is None else f"{span.parent.span_id:016x}",
            span.name,
            span.start_time,
            span.end_time,
            span.status.description,
            "agent",
            "tests",
            *(span.attributes.get(key) for key in ("n", "big", "ratio", "is_even")),
        )
        for span in sorted(spans, key=lambda span: (span.start_time, span.context.span_id))
    ]
    assert stored(collector, "select count(*) from span_events where name = 'first_token'") == [(20,)]
    assert stored(collector, "select count(distinct span_id) from span_links") == [(20,)]


def test_all_exporters_say_exactly_the_same(
    collector: Collector, stored: Stored, spans: Sequence[ReadableSpan]
) -> None:
    """The content of a span that comes again is compared in full: the same is a duplicate, anything else a conflict."""
    results = [make(collector).export(spans) for make in EXPORTERS.values()]
    accounting = "select outcome, sum(n)::bigint from ingest_accounting where signal = 'spans' group by 1 order by 1"
    n = len(spans)

    assert results == [SpanExportResult.SUCCESS] * len(EXPORTERS)
    assert stored(collector, accounting) == [("duplicate", 3 * n), ("received", 4 * n), ("stored", n)]


@pytest.mark.parametrize("name", ["grpc", "http"])
def test_an_exporter_keeps_what_an_overloaded_collector_refuses(
    collector: Collector, stored: Stored, spans: Sequence[ReadableSpan], name: str
) -> None:
    """The refusal is one that exporters answer by trying again."""
    everything = collector.config.limits.max_in_flight_bytes
    assert collector._admission.take(everything)

    def relax() -> None:
        time.sleep(0.3)
        collector._admission.give_back(everything)

    threading.Thread(target=relax).start()
    result = EXPORTERS[name](collector).export(spans)

    assert result is SpanExportResult.SUCCESS
    assert collector.status()["refused_requests"]["unavailable"] >= 1
    assert stored(collector, "select count(*) from spans") == [(len(spans),)]
