"""A collector in this process, requests to send to it, and what the store holds afterwards."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Collector
from spanscore.store import read_session

# Test modules are imported by path; this lets them import the module beside them.
sys.path.insert(0, str(Path(__file__).parent))

START_NS = 1_700_000_000_000_000_000


def trace_request(*numbers: int, name: str = "chat", attributes: int = 1) -> ExportTraceServiceRequest:
    """A request of one span per number; the number is the span id and an attribute."""
    request = ExportTraceServiceRequest()
    owner = request.resource_spans.add()
    owner.resource.attributes.add(key="service.name").value.string_value = "agent"
    spans = owner.scope_spans.add()
    spans.scope.name = "tests"
    for number in numbers:
        span = spans.spans.add(
            trace_id=(number // 10 + 1).to_bytes(16, "big"),
            span_id=(number + 1).to_bytes(8, "big"),
            name=name,
            kind=3,
            start_time_unix_nano=START_NS,
            end_time_unix_nano=START_NS + 1_000_000,
        )
        span.attributes.add(key="number").value.int_value = number
        for n in range(1, attributes):
            span.attributes.add(key=f"key.{n}").value.string_value = "x" * 60
    return request


def logs_request(*texts: str) -> ExportLogsServiceRequest:
    """A request of one log record per text."""
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add().scope_logs.add()
    for n, text in enumerate(texts):
        record = logs.log_records.add(time_unix_nano=START_NS + n, severity_number=9)
        record.body.string_value = text
    return request


@pytest.fixture(scope="session")
def traces() -> Callable[..., ExportTraceServiceRequest]:
    """Makes trace requests; see `trace_request`."""
    return trace_request


@pytest.fixture(scope="session")
def logs() -> Callable[..., ExportLogsServiceRequest]:
    """Makes log requests; see `logs_request`."""
    return logs_request


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """A collector of its own for one test."""
    with Collector(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def stored() -> Callable[..., list[tuple[Any, ...]]]:
    """Rows of a query on a collector's store, once everything acknowledged has been loaded."""

    def query(collector: Collector, sql: str) -> list[tuple[Any, ...]]:
        collector.drain()
        with read_session(collector.config.store) as session:
            return session.rows(sql)

    return query
