"""The spans and log records of an agent in this process, on their way to the collector.

Needs OpenTelemetry's SDK, but not ours: without it an agent in this process records nothing, and the harness says so.
"""

from __future__ import annotations

import os
from typing import Any

_ENVIRONMENT = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_TRACES_SAMPLER": "always_on",
}
# These would win over the endpoint for all signals.
_OVERRIDING = (
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL",
    "OTEL_SDK_DISABLED",
)
_FLUSH_MS = 10_000


def exporter_environment(environment: dict[str, str], endpoint: str) -> dict[str, str]:
    """`environment` with which a process exports to `endpoint` over OTLP/HTTP."""
    kept = {key: value for key, value in environment.items() if key not in _OVERRIDING}
    return {**kept, **_ENVIRONMENT, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}


class Telemetry:
    """Opened before the agent is imported, so that its own set-up finds the endpoint; attached afterwards."""

    def __init__(self) -> None:
        self._endpoint = ""
        self._before: dict[str, str] | None = None
        self._providers: list[Any] = []
        self._processors: list[Any] = []

    def open(self, endpoint: str) -> None:
        """Sets the environment of this process, until closed."""
        self._endpoint = endpoint
        self._before = dict(os.environ)
        changed = exporter_environment(self._before, endpoint)
        for key in self._before.keys() - changed.keys():
            del os.environ[key]
        os.environ.update(changed)

    def attach(self, *, service_name: str) -> bool:
        """Exports the spans and log records of this process; whether there is an SDK to do it with.

        An agent that has made a provider keeps it. One that has not gets one named `service_name`.
        """
        try:
            from opentelemetry import _logs, trace
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk._logs import LoggerProvider
            from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
            from opentelemetry.sdk.resources import SERVICE_NAME, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            return False
        resource = Resource.create({SERVICE_NAME: service_name})
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            trace.set_tracer_provider(TracerProvider(resource=resource))
        tracers = trace.get_tracer_provider()
        if isinstance(tracers, TracerProvider):
            if not _exports_to(tracers, "_active_span_processor", "_span_processors", self._endpoint):
                spans = BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{self._endpoint}/v1/traces"))
                tracers.add_span_processor(spans)
                self._processors.append(spans)
            self._providers.append(tracers)
        if not isinstance(_logs.get_logger_provider(), LoggerProvider):
            _logs.set_logger_provider(LoggerProvider(resource=resource))
        loggers = _logs.get_logger_provider()
        if isinstance(loggers, LoggerProvider):
            if not _exports_to(loggers, "_multi_log_record_processor", "_log_record_processors", self._endpoint):
                logs = BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{self._endpoint}/v1/logs"))
                loggers.add_log_record_processor(logs)
                self._processors.append(logs)
            self._providers.append(loggers)
        return True

    def flush(self) -> None:
        """Exports what has been recorded so far."""
        for provider in self._providers:
            provider.force_flush(_FLUSH_MS)

    def close(self) -> None:
        """Stops exporting, and gives the environment back."""
        self.flush()
        for processor in self._processors:
            processor.shutdown()
        self._processors, self._providers = [], []
        if self._before is not None:
            for key in os.environ.keys() - self._before.keys():
                del os.environ[key]
            os.environ.update(self._before)
            self._before = None


def _exports_to(provider: object, processors: str, listed: str, endpoint: str) -> bool:
    """Whether the agent's own provider exports to `endpoint` already.

    Looks at private parts, and takes anything unexpected for no: then every span arrives twice and is stored once.
    """
    for processor in getattr(getattr(provider, processors, None), listed, ()):
        batch = getattr(processor, "_batch_processor", processor)
        exporter = getattr(batch, "_exporter", None) or getattr(processor, "span_exporter", None)
        if str(getattr(exporter, "_endpoint", "")).startswith(f"{endpoint}/"):
            return True
    return False
