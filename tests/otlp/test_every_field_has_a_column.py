"""Nothing of OTLP is dropped unnoticed: each field of its messages is a column, or stands here with a reason."""

from __future__ import annotations

import pytest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from spanscore.otlp import schema

COLUMNS = {
    "TracesData": None,
    "LogsData": None,
    "ResourceSpans": schema.RESOURCES,
    "ResourceLogs": schema.RESOURCES,
    "Resource": schema.RESOURCES,
    "ScopeSpans": schema.SCOPES,
    "ScopeLogs": schema.SCOPES,
    "InstrumentationScope": schema.SCOPES,
    "Span": schema.SPANS,
    "Status": schema.SPANS,
    "Span.Event": schema.SPAN_EVENTS,
    "Span.Link": schema.SPAN_LINKS,
    "LogRecord": schema.LOG_RECORDS,
    "AnyValue": schema.ANY_VALUE,
}
RENAMED = {
    ("Status", "code"): "status_code",
    ("Status", "message"): "status_message",
    ("Span.Link", "trace_id"): "linked_trace_id",
    ("Span.Link", "span_id"): "linked_span_id",
    ("AnyValue", "array_value"): "json_value",
    ("AnyValue", "kvlist_value"): "json_value",
}
A_TABLE = "its message is a table, whose rows point here"
AN_ATTRIBUTE = "an entry of the attributes columns"
JSON = "in the JSON text of entity_refs or of a nested value"
NO_COLUMN = {
    ("TracesData", "resource_spans"): A_TABLE,
    ("LogsData", "resource_logs"): A_TABLE,
    ("ResourceSpans", "resource"): "its fields are columns of the same table",
    ("ResourceSpans", "scope_spans"): A_TABLE,
    ("ResourceLogs", "resource"): "its fields are columns of the same table",
    ("ResourceLogs", "scope_logs"): A_TABLE,
    ("ScopeSpans", "scope"): "its fields are columns of the same table",
    ("ScopeSpans", "spans"): A_TABLE,
    ("ScopeLogs", "scope"): "its fields are columns of the same table",
    ("ScopeLogs", "log_records"): A_TABLE,
    ("Span", "events"): A_TABLE,
    ("Span", "links"): A_TABLE,
    ("Span", "status"): "its fields are columns of the same table",
    ("AnyValue", "string_value_strindex"): "refers to a table only profiles have: empty, with a problem noted",
    ("KeyValue", "key"): AN_ATTRIBUTE,
    ("KeyValue", "value"): AN_ATTRIBUTE,
    ("KeyValue", "key_strindex"): "refers to a table only profiles have: empty, with a problem noted",
    ("ArrayValue", "values"): JSON,
    ("KeyValueList", "values"): JSON,
    ("EntityRef", "schema_url"): JSON,
    ("EntityRef", "type"): JSON,
    ("EntityRef", "id_keys"): JSON,
    ("EntityRef", "description_keys"): JSON,
}


def otlp_fields() -> list[tuple[str, str]]:
    messages = {}
    for module in (common_pb2, resource_pb2, trace_pb2, logs_pb2):
        for name, message in module.DESCRIPTOR.message_types_by_name.items():
            messages[name] = message
            messages |= {f"{name}.{nested.name}": nested for nested in message.nested_types}
    return [(name, field.name) for name, message in messages.items() for field in message.fields]


@pytest.mark.parametrize(("message", "field"), otlp_fields())
def test_the_field_is_a_column_or_has_a_reason(message: str, field: str) -> None:
    if (message, field) in NO_COLUMN:
        return
    columns = COLUMNS[message]
    assert columns is not None

    assert columns.get_field_index(RENAMED.get((message, field), field)) >= 0


def test_reasons_are_given_only_for_fields_that_exist() -> None:
    assert set(NO_COLUMN) | set(RENAMED) <= set(otlp_fields())
