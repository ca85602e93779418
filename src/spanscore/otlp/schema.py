"""The flat Arrow tables every OTLP payload becomes, whatever encoding it came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa

ANY_VALUE = pa.struct(
    [
        ("string_value", pa.string()),
        ("bool_value", pa.bool_()),
        ("int_value", pa.int64()),
        ("double_value", pa.float64()),
        ("bytes_value", pa.binary()),
        ("json_value", pa.string()),
    ]
)
"""One OTLP value: at most one member is set. All null is OTLP's empty value. `json_value` holds arrays and kvlists."""

ATTRIBUTES = pa.list_(pa.struct([("key", pa.string()), ("value", ANY_VALUE)]))

RESOURCES = pa.schema(
    [
        ("resource_index", pa.int64()),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
        ("entity_refs", pa.string()),
        ("schema_url", pa.string()),
    ]
)

SCOPES = pa.schema(
    [
        ("scope_index", pa.int64()),
        ("name", pa.string()),
        ("version", pa.string()),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
        ("schema_url", pa.string()),
    ]
)

SPANS = pa.schema(
    [
        ("trace_id", pa.binary()),
        ("span_id", pa.binary()),
        ("parent_span_id", pa.binary()),
        ("trace_state", pa.string()),
        ("flags", pa.uint32()),
        ("name", pa.string()),
        ("kind", pa.int32()),
        ("start_time_unix_nano", pa.uint64()),
        ("end_time_unix_nano", pa.uint64()),
        ("status_code", pa.int32()),
        ("status_message", pa.string()),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
        ("dropped_events_count", pa.uint32()),
        ("dropped_links_count", pa.uint32()),
        ("resource_index", pa.int64()),
        ("scope_index", pa.int64()),
        ("problems", pa.list_(pa.string())),
    ]
)

SPAN_EVENTS = pa.schema(
    [
        ("span_index", pa.int64()),
        ("event_index", pa.uint32()),
        ("time_unix_nano", pa.uint64()),
        ("name", pa.string()),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
    ]
)

SPAN_LINKS = pa.schema(
    [
        ("span_index", pa.int64()),
        ("link_index", pa.uint32()),
        ("linked_trace_id", pa.binary()),
        ("linked_span_id", pa.binary()),
        ("trace_state", pa.string()),
        ("flags", pa.uint32()),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
    ]
)

LOG_RECORDS = pa.schema(
    [
        ("trace_id", pa.binary()),
        ("span_id", pa.binary()),
        ("time_unix_nano", pa.uint64()),
        ("observed_time_unix_nano", pa.uint64()),
        ("severity_number", pa.int32()),
        ("severity_text", pa.string()),
        ("event_name", pa.string()),
        ("body", ANY_VALUE),
        ("attributes", ATTRIBUTES),
        ("dropped_attributes_count", pa.uint32()),
        ("flags", pa.uint32()),
        ("resource_index", pa.int64()),
        ("scope_index", pa.int64()),
        ("problems", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True)
class RawTables:
    """OTLP's own words, one row per thing received.

    `resource_index` and `scope_index` of a span or log record are row numbers of `resources` and `scopes`;
    `span_index` of an event or link is a row number of `spans`. Rejected spans are in none of the tables, only in the
    counts.

    An empty string in an optional text field is null (proto3 cannot tell the two apart); the name of a span or event is
    kept as it is. Integers that were not sent are 0, as in proto3, except where the whole resource or scope is absent.
    So are those of OTLP/JSON that do not fit, which `problems` notes.
    """

    resources: pa.Table = field(default_factory=cache(RESOURCES.empty_table))
    scopes: pa.Table = field(default_factory=cache(SCOPES.empty_table))
    spans: pa.Table = field(default_factory=cache(SPANS.empty_table))
    span_events: pa.Table = field(default_factory=cache(SPAN_EVENTS.empty_table))
    span_links: pa.Table = field(default_factory=cache(SPAN_LINKS.empty_table))
    log_records: pa.Table = field(default_factory=cache(LOG_RECORDS.empty_table))
    rejected_spans: Mapping[str, int] = field(default_factory=dict)
    rejected_log_records: Mapping[str, int] = field(default_factory=dict)
