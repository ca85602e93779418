"""Lists of OTLP/JSON objects (ResourceSpans, spans, …) to the flat tables that protobuf flattens to as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp import json_columns as column
from spanscore.otlp.any_value import json_text
from spanscore.otlp.constants import constant, filled, null_where
from spanscore.otlp.flatten import FlatTable, flat_table, list_positions, null_if_empty, with_odd_bodies
from spanscore.otlp.json_columns import JsonObject, field
from spanscore.otlp.json_values import any_values, attributes
from spanscore.otlp.schema import LOG_RECORDS, RESOURCES, SCOPES, SPAN_EVENTS, SPAN_LINKS, SPANS
from spanscore.otlp.validate import SPAN_ID_BYTES, TRACE_ID_BYTES


@dataclass(frozen=True)
class SpanTables:
    """Spans with their parts; their owners are not known here and stand as 0."""

    spans: FlatTable
    events: FlatTable
    links: FlatTable


def resource_table(owners: Sequence[JsonObject]) -> FlatTable:
    """One row per ResourceSpans or ResourceLogs object.

    Raises:
        DecodeError: a field has the wrong type or value. So do all functions below.
    """
    resources = column.optional_objects(field(owners, "resource"), "resource")
    is_absent = [resource is None for resource in resources]
    fields = [resource or {} for resource in resources]
    columns = {
        "resource_index": pa.arange(0, len(owners)),
        "dropped_attributes_count": _count(fields, "droppedAttributesCount", is_absent),
        "entity_refs": pa.array(map(_entity_refs, field(fields, "entityRefs")), pa.string()),
        "schema_url": _optional_text(owners, "schemaUrl"),
    }
    return flat_table(RESOURCES, columns, attributes(field(fields, "attributes"), "attributes", mask=is_absent))


def scope_table(owners: Sequence[JsonObject]) -> FlatTable:
    """One row per ScopeSpans or ScopeLogs object."""
    scopes = column.optional_objects(field(owners, "scope"), "scope")
    is_absent = [scope is None for scope in scopes]
    fields = [scope or {} for scope in scopes]
    columns = {
        "scope_index": pa.arange(0, len(owners)),
        "name": _optional_text(fields, "name"),
        "version": _optional_text(fields, "version"),
        "dropped_attributes_count": _count(fields, "droppedAttributesCount", is_absent),
        "schema_url": _optional_text(owners, "schemaUrl"),
    }
    return flat_table(SCOPES, columns, attributes(field(fields, "attributes"), "attributes", mask=is_absent))


def span_tables(spans: Sequence[JsonObject]) -> SpanTables:
    """The spans, their events and their links."""
    column.objects_in(spans, "an item of spans")
    statuses = [status or {} for status in column.optional_objects(field(spans, "status"), "status")]
    columns = {
        "trace_id": column.ids(field(spans, "traceId"), TRACE_ID_BYTES, "traceId"),
        "span_id": column.ids(field(spans, "spanId"), SPAN_ID_BYTES, "spanId"),
        "parent_span_id": column.ids(field(spans, "parentSpanId"), SPAN_ID_BYTES, "parentSpanId"),
        "trace_state": _optional_text(spans, "traceState"),
        "flags": _count(spans, "flags"),
        "name": column.texts(field(spans, "name"), "name"),
        "kind": column.enums(field(spans, "kind"), "kind"),
        "start_time_unix_nano": _nanoseconds(spans, "startTimeUnixNano"),
        "end_time_unix_nano": _nanoseconds(spans, "endTimeUnixNano"),
        "status_code": column.enums(field(statuses, "code"), "status.code"),
        "status_message": _optional_text(statuses, "message"),
        "dropped_attributes_count": _count(spans, "droppedAttributesCount"),
        "dropped_events_count": _count(spans, "droppedEventsCount"),
        "dropped_links_count": _count(spans, "droppedLinksCount"),
        "resource_index": _unowned(spans),
        "scope_index": _unowned(spans),
        "problems": pa.nulls(len(spans), SPANS.field("problems").type),
    }
    return SpanTables(
        spans=flat_table(SPANS, columns, attributes(field(spans, "attributes"), "attributes")),
        events=_event_table(column.lists(field(spans, "events"), "events")),
        links=_link_table(column.lists(field(spans, "links"), "links")),
    )


def log_table(records: Sequence[JsonObject]) -> FlatTable:
    """The log records."""
    column.objects_in(records, "an item of logRecords")
    body, odd_bodies = any_values(field(records, "body"), "body")
    columns = {
        "trace_id": column.ids(field(records, "traceId"), TRACE_ID_BYTES, "traceId"),
        "span_id": column.ids(field(records, "spanId"), SPAN_ID_BYTES, "spanId"),
        "time_unix_nano": _nanoseconds(records, "timeUnixNano"),
        "observed_time_unix_nano": _nanoseconds(records, "observedTimeUnixNano"),
        "severity_number": column.enums(field(records, "severityNumber"), "severityNumber"),
        "severity_text": _optional_text(records, "severityText"),
        "event_name": _optional_text(records, "eventName"),
        "body": body,
        "dropped_attributes_count": _count(records, "droppedAttributesCount"),
        "flags": _count(records, "flags"),
        "resource_index": _unowned(records),
        "scope_index": _unowned(records),
        "problems": pa.nulls(len(records), LOG_RECORDS.field("problems").type),
    }
    lists = attributes(field(records, "attributes"), "attributes")
    return with_odd_bodies(flat_table(LOG_RECORDS, columns, lists), pa.array(odd_bodies, pa.int64()))


def _event_table(lists: Sequence[list[Any]]) -> FlatTable:
    events = column.objects_in(list(chain.from_iterable(lists)), "events")
    span_index, event_index = _positions(lists)
    columns = {
        "span_index": span_index,
        "event_index": event_index,
        "time_unix_nano": _nanoseconds(events, "timeUnixNano"),
        "name": column.texts(field(events, "name"), "name"),
        "dropped_attributes_count": _count(events, "droppedAttributesCount"),
    }
    return flat_table(SPAN_EVENTS, columns, attributes(field(events, "attributes"), "attributes"))


def _link_table(lists: Sequence[list[Any]]) -> FlatTable:
    links = column.objects_in(list(chain.from_iterable(lists)), "links")
    span_index, link_index = _positions(lists)
    columns = {
        "span_index": span_index,
        "link_index": link_index,
        "linked_trace_id": column.ids(field(links, "traceId"), TRACE_ID_BYTES, "traceId"),
        "linked_span_id": column.ids(field(links, "spanId"), SPAN_ID_BYTES, "spanId"),
        "trace_state": _optional_text(links, "traceState"),
        "flags": _count(links, "flags"),
        "dropped_attributes_count": _count(links, "droppedAttributesCount"),
    }
    return flat_table(SPAN_LINKS, columns, attributes(field(links, "attributes"), "attributes"))


def _positions(lists: Sequence[list[Any]]) -> tuple[pa.Array, pa.Array]:
    offsets = pc.cumulative_sum(pa.array([0, *map(len, lists)], pa.int32()))
    return list_positions(pa.ListArray.from_arrays(offsets, pa.nulls(offsets[-1].as_py())))


def _optional_text(objects: Sequence[JsonObject], name: str) -> pa.StringArray:
    return null_if_empty(column.texts(field(objects, name), name))


def _nanoseconds(objects: Sequence[JsonObject], name: str) -> pa.UInt64Array:
    return filled(column.integers(field(objects, name), pa.uint64(), name), 0)


def _count(objects: Sequence[JsonObject], name: str, is_absent: Sequence[bool] | None = None) -> pa.UInt32Array:
    """A uint32 field, 0 where it was not sent, null where the object itself is absent."""
    counts = filled(column.integers(field(objects, name), pa.uint32(), name), 0)
    if is_absent is None or True not in is_absent:
        return counts
    return null_where(pa.array(is_absent, pa.bool_()), counts)


def _unowned(items: Sequence[JsonObject]) -> pa.Int64Array:
    return pa.repeat(constant(0, pa.int64()), len(items))


def _entity_refs(value: Any) -> str | None:
    """The entity references as JSON text under their protobuf names; None when there are none."""
    refs = column.objects_in(column.lists([value], "entityRefs")[0], "entityRefs")
    plain = [
        {
            "schema_url": column.texts([ref.get("schemaUrl")], "schemaUrl")[0].as_py(),
            "type": column.texts([ref.get("type")], "type")[0].as_py(),
            "id_keys": _keys(ref.get("idKeys"), "idKeys"),
            "description_keys": _keys(ref.get("descriptionKeys"), "descriptionKeys"),
        }
        for ref in refs
    ]
    return json_text(plain) if plain else None


def _keys(value: Any, name: str) -> list[str]:
    keys: list[str] = column.texts(column.lists([value], name)[0], name).to_pylist()
    return keys
