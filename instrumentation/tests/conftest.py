"""One SDK provider for the whole process, as OpenTelemetry allows only one; every test starts with empty exporters."""

from collections.abc import Iterator

import pytest
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import spanscore_instrumentation as si

_SPANS = InMemorySpanExporter()
_LOGS = InMemoryLogRecordExporter()


@pytest.fixture(scope="session", autouse=True)
def _provider() -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_SPANS))
    trace.set_tracer_provider(provider)
    logger_provider = LoggerProvider()
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(_LOGS))
    _logs.set_logger_provider(logger_provider)
    si.setup("tests")


@pytest.fixture(autouse=True)
def _fresh(_provider: None) -> Iterator[None]:
    si.setup("tests", content="on")
    _SPANS.clear()
    _LOGS.clear()
    yield
    si.setup("tests", content="on")


@pytest.fixture
def spans():
    """The finished spans so far, in order of ending."""
    return _SPANS.get_finished_spans


@pytest.fixture
def span(spans):
    """The one span that the test made."""

    def only():
        (finished,) = spans()
        return finished

    return only


@pytest.fixture
def log_records():
    """The emitted log records so far."""
    return lambda: [item.log_record for item in _LOGS.get_finished_logs()]
