"""The parts that need the OpenTelemetry SDK; imported by `setup` alone."""

import os
from urllib.parse import urlsplit
from weakref import WeakSet

from opentelemetry import _logs, baggage, trace
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from spanscore_instrumentation._experiment import from_baggage
from spanscore_instrumentation._quiet import logger

_equipped: WeakSet[TracerProvider] = WeakSet()
_exporting_to: set[str | None] = set()


class BaggageProcessor(SpanProcessor):
    """Writes experiment, case and trial on every span, whichever instrumentation makes it."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        span.set_attributes(from_baggage(baggage.get_all(parent_context)))


def install(service_name: str, endpoint: str | None) -> bool:
    """Equip the program's provider, or make one; True when its spans are recorded."""
    provider = trace.get_tracer_provider()
    own = isinstance(provider, trace.ProxyTracerProvider)
    if own:
        provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service_name}))
        trace.set_tracer_provider(provider)
    if not isinstance(provider, TracerProvider):
        logger.warning("setup: the tracer provider is a `%s`, which is left as it is", type(provider).__name__)
        return False
    if provider not in _equipped:
        _equipped.add(provider)
        provider.add_span_processor(BaggageProcessor())
    if (own or endpoint is not None) and endpoint not in _exporting_to:
        _exporting_to.add(endpoint)
        spans, logs = _exporters(endpoint)
        provider.add_span_processor(BatchSpanProcessor(spans))
        _logger_provider(provider.resource).add_log_record_processor(BatchLogRecordProcessor(logs))
    return True


def _logger_provider(resource: Resource) -> LoggerProvider:
    """The program's logger provider, or a new one that only carries events such as scores."""
    provider = _logs.get_logger_provider()
    if not isinstance(provider, LoggerProvider):
        provider = LoggerProvider(resource=resource)
        _logs.set_logger_provider(provider)
    return provider


def _exporters(endpoint: str | None) -> tuple[SpanExporter, LogRecordExporter]:
    """Exporters for spans and log records; an exporter without an endpoint reads the environment."""
    if endpoint is not None and "://" not in endpoint:
        endpoint = f"http://{endpoint}"
    if _is_grpc(endpoint):
        from opentelemetry.exporter.otlp.proto.grpc import _log_exporter, trace_exporter

        return trace_exporter.OTLPSpanExporter(endpoint=endpoint), _log_exporter.OTLPLogExporter(endpoint=endpoint)
    from opentelemetry.exporter.otlp.proto.http import _log_exporter as http_log_exporter
    from opentelemetry.exporter.otlp.proto.http import trace_exporter as http_trace_exporter

    if endpoint is None:
        return http_trace_exporter.OTLPSpanExporter(), http_log_exporter.OTLPLogExporter()
    base = endpoint.rstrip("/").removesuffix("/v1/traces")
    return (
        http_trace_exporter.OTLPSpanExporter(endpoint=f"{base}/v1/traces"),
        http_log_exporter.OTLPLogExporter(endpoint=f"{base}/v1/logs"),
    )


def _is_grpc(endpoint: str | None) -> bool:
    if endpoint is not None and urlsplit(endpoint).port is not None:
        return urlsplit(endpoint).port == 4317
    return os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "") == "grpc"
