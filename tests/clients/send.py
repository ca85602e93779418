"""Sends a golden description with the exporters of the OpenTelemetry SDK for Python, as they are.

    python send.py DESCRIPTION grpc|protobuf|json ENDPOINT plain|gzip

A program of its own, because the JSON exporter lives in an environment of its own, beside another release of the SDK.
ENDPOINT is `HOST:PORT`. Ends with 1 when an export was not successful.
"""

import json
import sys
from base64 import b64decode
from importlib import import_module
from pathlib import Path

from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

PER_EXPORT = 512


def plain(value):
    """A golden value as a Python object."""
    kind, content = value
    if kind == "array":
        return [plain(part) for part in content]
    if kind == "kvlist":
        return {key: plain(part) for key, part in content}
    return {"int": int, "double": float, "bytes": b64decode}.get(kind, lambda same: same)(content)


def bounded(pairs, dropped):
    """Attributes of which so many were dropped."""
    attributes = BoundedAttributes(attributes={key: plain(value) for key, value in pairs})
    attributes.dropped = dropped
    return attributes


def listed(items, dropped):
    """A list of which so many items were dropped."""
    bounded_list = BoundedList.from_seq(len(items), items)
    bounded_list.dropped = dropped
    return bounded_list


def context(item, *, is_remote, span_id="span_id"):
    """The context of a span, or of a link."""
    entries = [entry.split("=", 1) for entry in item.get("trace_state", "").split(",") if entry]
    return trace.SpanContext(
        int(item["trace_id"], 16),
        int(item[span_id], 16),
        is_remote=is_remote,
        trace_flags=trace.TraceFlags(item.get("trace_flags", item.get("flags"))),
        trace_state=trace.TraceState([tuple(entry) for entry in entries]),
    )


def span_of(span, resources, scopes):
    """A golden span as the SDK hands it to exporters."""
    parent = None
    if span["parent_span_id"]:
        parent = context(span, is_remote=span["parent_is_remote"], span_id="parent_span_id")
    events = [
        Event(
            event["name"],
            bounded(event["attributes"], event["dropped_attributes_count"]),
            int(event["time_unix_nano"]),
        )
        for event in span["events"]
    ]
    links = [
        trace.Link(
            context(link, is_remote=link["is_remote"]), bounded(link["attributes"], link["dropped_attributes_count"])
        )
        for link in span["links"]
    ]
    return ReadableSpan(
        name=span["name"],
        context=context(span, is_remote=False),
        parent=parent,
        resource=resources[span["resource"]],
        attributes=bounded(span["attributes"], span["dropped_attributes_count"]),
        events=listed(events, span["dropped_events_count"]),
        links=listed(links, span["dropped_links_count"]),
        kind=trace.SpanKind(span["kind"] - 1),
        status=trace.Status(trace.StatusCode(span["status"]["code"]), span["status"]["message"] or None),
        start_time=int(span["start_time_unix_nano"]),
        end_time=int(span["end_time_unix_nano"]),
        instrumentation_scope=scopes[span["scope"]],
    )


def log_record_of(record, resources, scopes):
    """A golden log record as the SDK hands it to exporters."""
    around = None
    if record["trace_id"]:
        around = trace.set_span_in_context(trace.NonRecordingSpan(context(record, is_remote=False)))
    return ReadableLogRecord(
        LogRecord(
            timestamp=int(record["time_unix_nano"]),
            observed_timestamp=int(record["observed_time_unix_nano"]),
            context=around,
            severity_text=record["severity_text"],
            severity_number=SeverityNumber(record["severity_number"]),
            body=plain(record["body"]),
            attributes=bounded(record["attributes"], record["dropped_attributes_count"]),
            event_name=record["event_name"],
        ),
        resources[record["resource"]],
        scopes[record["scope"]],
    )


def exporters(encoding, endpoint, compression):
    """An exporter of spans and one of log records."""
    if encoding == "grpc":
        import grpc
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        how = grpc.Compression.Gzip if compression == "gzip" else grpc.Compression.NoCompression
        options = {"endpoint": f"http://{endpoint}", "insecure": True, "compression": how}
        return OTLPSpanExporter(**options), OTLPLogExporter(**options)
    package, home_of_compression = {
        "protobuf": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.exporter.otlp.proto.http"),
        "json": ("opentelemetry.exporter.otlp.json.http", "opentelemetry.exporter.otlp.common.http"),
    }[encoding]
    how = import_module(home_of_compression).Compression("gzip" if compression == "gzip" else "none")
    spans = import_module(f"{package}.trace_exporter").OTLPSpanExporter
    logs = import_module(f"{package}._log_exporter").OTLPLogExporter
    return (
        spans(endpoint=f"http://{endpoint}/v1/traces", compression=how),
        logs(endpoint=f"http://{endpoint}/v1/logs", compression=how),
    )


def send(path, encoding, endpoint, compression):
    """Exports everything; gives back whether all exports were successful."""
    description = json.loads(Path(path).read_text(encoding="utf-8"))
    resources = [
        Resource({key: plain(value) for key, value in resource["attributes"]}, resource["schema_url"])
        for resource in description["resources"]
    ]
    scopes = [
        InstrumentationScope(
            scope["name"],
            scope["version"],
            scope["schema_url"],
            {key: plain(value) for key, value in scope["attributes"]},
        )
        for scope in description["scopes"]
    ]
    items = {
        "spans": [span_of(span, resources, scopes) for span in description["spans"]],
        "log_records": [log_record_of(record, resources, scopes) for record in description["log_records"]],
    }
    results = []
    for exporter, kind in zip(exporters(encoding, endpoint, compression), items, strict=True):
        starts = range(0, len(items[kind]), PER_EXPORT)
        results += [exporter.export(items[kind][start : start + PER_EXPORT]).name for start in starts]
        exporter.shutdown()
    return set(results) == {"SUCCESS"}


if __name__ == "__main__":
    sys.exit(0 if send(*sys.argv[1:]) else 1)
