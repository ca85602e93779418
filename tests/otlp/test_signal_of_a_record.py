"""Traces, logs and metrics are told apart by their fields alone, as they share their outer shape."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.otlp import read_paths
from spanscore.otlp.framing import Kind, kind_of

CORPUS = Path(__file__).parents[1] / "corpus"
IDS = {"trace_id": b"t" * 16, "span_id": b"s" * 8}


def trace(**fields: Any) -> bytes:
    request = ExportTraceServiceRequest()
    scope_spans = request.resource_spans.add().scope_spans.add()
    scope_spans.spans.add()
    scope_spans.spans.add(**fields)
    return request.SerializeToString()


def log(body: str | None = None, **fields: Any) -> bytes:
    request = ExportLogsServiceRequest()
    scope_logs = request.resource_logs.add().scope_logs.add()
    scope_logs.log_records.add()
    record = scope_logs.log_records.add(**fields)
    if body is not None:
        record.body.string_value = body
    return request.SerializeToString()


def metric(kind: str, **fields: Any) -> bytes:
    request = ExportMetricsServiceRequest()
    added = request.resource_metrics.add().scope_metrics.add().metrics.add(**fields)
    getattr(added, kind).data_points.add(time_unix_nano=1)
    return request.SerializeToString()


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        (Kind.TRACES, b""),
        (Kind.TRACES, trace()),
        (Kind.TRACES, trace(**IDS)),
        (Kind.TRACES, trace(**IDS, name="chat")),
        (Kind.TRACES, trace(**IDS, trace_state="a=b", parent_span_id=b"p" * 8, flags=257)),
        (Kind.TRACES, trace(name="no ids", kind=1, start_time_unix_nano=1, end_time_unix_nano=2)),
        (Kind.TRACES, trace(trace_id=b"short", span_id=b"s" * 8, end_time_unix_nano=2)),
        (Kind.LOGS, log(time_unix_nano=1)),
        (Kind.LOGS, log(observed_time_unix_nano=1)),
        (Kind.LOGS, log("only a body")),
        (Kind.LOGS, log("b" * 16, severity_text="INFO")),
        (Kind.LOGS, log("body", **IDS)),
        (Kind.LOGS, log(**IDS)),
        (Kind.LOGS, log(event_name="gen_ai.choice")),
        (Kind.LOGS, log(flags=1, severity_number=9)),
        (Kind.METRICS, metric("gauge", name="m", unit="1")),
        (Kind.METRICS, metric("sum", name="n" * 16, description="12345678")),
        (Kind.METRICS, metric("histogram", name="latency")),
        (Kind.METRICS, metric("exponential_histogram", name="latency", unit="s")),
        (Kind.METRICS, metric("summary", name="latency")),
    ],
)
def test_the_signal_is_told_by_the_first_telling_item(kind: Kind, record: bytes) -> None:
    assert kind_of(record) is kind


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*.pb.gz")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_captured_record_is_of_its_own_signal(path: Path) -> None:
    is_logs = ".logs." in path.name
    assert gzip.decompress(path.read_bytes())

    for chunk in read_paths([path]):
        assert chunk.rejected_lines == []
        assert (len(chunk.tables.log_records) > 0) is is_logs
        assert (len(chunk.tables.spans) > 0) is not is_logs
