"""A span that holds too much is cut or rejected, and the client, the store and its findings all say so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanscore.collector import Collector, CollectorLimits
from spanscore.otlp import SpanLimits

TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
Stored = Callable[..., list[tuple[Any, ...]]]


def export(collector: Collector, request: ExportTraceServiceRequest) -> ExportTraceServiceResponse:
    with grpc.insecure_channel(collector.grpc_address) as channel:
        answer = channel.unary_unary(TRACE_EXPORT)(request.SerializeToString(), timeout=30)
    return ExportTraceServiceResponse.FromString(answer)


def test_a_long_text_is_cut_and_everybody_told(
    collector: Collector, traces: Callable[..., Any], stored: Stored
) -> None:
    request = traces(1, 2)
    text = "word " * 500_000
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="gen_ai.input.messages").value.string_value = text

    answers = [export(collector, request) for _ in range(2)]
    kept = "length(attributes['gen_ai.input.messages']::varchar)"
    rows = stored(collector, f"select {kept}, problems from spans order by span_id")

    for answer in answers:
        assert answer.partial_success.rejected_spans == 0
        assert answer.partial_success.error_message == "Stored with a warning: 1 truncated value."
    assert rows[1] == (None, None)
    assert (1 << 20) - 4 <= rows[0][0] <= 1 << 20
    assert rows[0][1] == ["truncated_value"]
    assert stored(collector, "select distinct kind, span_id from findings where kind = 'span_problem'") == [
        ("span_problem", f"{2:016x}")
    ]
    accounting = "select outcome, sum(n)::bigint from ingest_accounting group by 1 order by 1"
    assert stored(collector, accounting) == [("duplicate", 2), ("received", 4), ("stored", 2)]


def test_the_limits_are_those_of_the_collector(tmp_path: Path, traces: Callable[..., Any], stored: Stored) -> None:
    limits = CollectorLimits(span=SpanLimits(max_attributes=2, max_text_bytes=50))
    with Collector(tmp_path / "store", limits=limits) as collector:
        rejected = export(collector, traces(1, 2, attributes=3))
        cut = export(collector, traces(3, attributes=2))

        assert rejected.partial_success.rejected_spans == 2
        assert rejected.partial_success.error_message == "2 of 2 spans rejected: 2 too many attributes."
        assert cut.partial_success.error_message == "Stored with a warning: 1 truncated value."
        assert stored(collector, "select problems from spans") == [(["truncated_value"],)]
        assert stored(collector, "select reason, n from ingest_accounting where outcome = 'rejected'") == [
            ("too_many_attributes", 2)
        ]


@pytest.mark.slow
def test_the_largest_span_there_can_be_comes_twice(
    collector: Collector, traces: Callable[..., Any], stored: Stored
) -> None:
    """Comparing a span with the one stored before takes many times its size."""
    request = traces(1)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    for n in range(15):
        span.attributes.add(key=f"text.{n}").value.string_value = f"{n} word " * 120_000
    for _ in range(2):
        assert not export(collector, request).HasField("partial_success")
        assert stored(collector, "select count(*) from spans") == [(1,)]

    assert collector.status()["last_error"] is None
