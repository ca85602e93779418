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
from spanscore.otlp.flatten import (
    NO_EVENTS,
    NO_LINKS,
    FlatTable,
    flat_table,
    list_positions,
    null_if_empty,
    with_odd_rows,
)
from spanscore.otlp.json_columns import JsonObject, field
from spanscore.otlp.json_numbers import OUT_OF_RANGE
from spanscore.otlp.json_values import any_values, attributes
from spanscore.otlp.schema import LOG_RECORDS, RESOURCES, SCOPES, SPAN_EVENTS, SPAN_LINKS, SPANS
from spanscore.otlp.validate import SPAN_ID_BYTES, TRACE_ID_BYTES


@dataclass(frozen=True)
class SpanTables:
    """Spans with their parts; their owners are not known here and stand as 0."""

    spans: FlatTable
    events: FlatTable
    links: FlatTable


class _Numbers:
    """Reads the integer fields of the objects of a table: what was not sent, or does not fit, is 0.

    Attributes:
        unfit: rows in which one does not fit; a row may stand there more than once.
    """

    def __init__(self, objects: Sequence[JsonObject]) -> None:
        self._objects = objects
        self.unfit: list[int] = []

    def nanoseconds(self, name: str) -> pa.UInt64Array:
        return self._read(column.integers(field(self._objects, name), pa.uint64(), name))

    def count(self, name: str) -> pa.UInt32Array:
        return self._read(column.integers(field(self._objects, name), pa.uint32(), name))

    def enum(self, name: str, path: str | None = None) -> pa.Int32Array:
        return self._read(column.enums(field(self._objects, name), path or name))

    def noted(self, flat: FlatTable) -> FlatTable:
        """The table with a note on the rows in which a number does not fit."""
        return with_odd_rows(flat, {OUT_OF_RANGE: pa.array(self.unfit, pa.int64())}) if self.unfit else flat

    def _read(self, found: column.Integers) -> pa.Array:
        self.unfit += found.unfit
        return filled(found.values, 0)


def resource_table(owners: Sequence[JsonObject]) -> FlatTable:
    """One row per ResourceSpans or ResourceLogs object.

    Raises:
        DecodeError: a field has the wrong type or value. So do all functions below.
    """
    resources = column.optional_objects(field(owners, "resource"), "resource")
    is_absent = [resource is None for resource in resources]
    fields = [resource or {} for resource in resources]
    numbers = _Numbers(fields)
    columns = {
        "resource_index": pa.arange(0, len(owners)),
        "dropped_attributes_count": _null_where(is_absent, numbers.count("droppedAttributesCount")),
        "entity_refs": pa.array(map(_entity_refs, field(fields, "entityRefs")), pa.string()),
        "schema_url": _optional_text(owners, "schemaUrl"),
    }
    lists = attributes(field(fields, "attributes"), "attributes", mask=is_absent)
    return numbers.noted(flat_table(RESOURCES, columns, lists))


def scope_table(owners: Sequence[JsonObject]) -> FlatTable:
    """One row per ScopeSpans or ScopeLogs object."""
    scopes = column.optional_objects(field(owners, "scope"), "scope")
    is_absent = [scope is None for scope in scopes]
    fields = [scope or {} for scope in scopes]
    numbers = _Numbers(fields)
    columns = {
        "scope_index": pa.arange(0, len(owners)),
        "name": _optional_text(fields, "name"),
        "version": _optional_text(fields, "version"),
        "dropped_attributes_count": _null_where(is_absent, numbers.count("droppedAttributesCount")),
        "schema_url": _optional_text(owners, "schemaUrl"),
    }
    lists = attributes(field(fields, "attributes"), "attributes", mask=is_absent)
    return numbers.noted(flat_table(SCOPES, columns, lists))


def span_tables(spans: Sequence[JsonObject]) -> SpanTables:
    """The spans, their events and their links."""
    column.objects_in(spans, "an item of spans")
    statuses = [status or {} for status in column.optional_objects(field(spans, "status"), "status")]
    numbers, codes = _Numbers(spans), _Numbers(statuses)
    columns = {
        "trace_id": column.ids(field(spans, "traceId"), TRACE_ID_BYTES, "traceId"),
        "span_id": column.ids(field(spans, "spanId"), SPAN_ID_BYTES, "spanId"),
        "parent_span_id": column.ids(field(spans, "parentSpanId"), SPAN_ID_BYTES, "parentSpanId"),
        "trace_state": _optional_text(spans, "traceState"),
        "flags": numbers.count("flags"),
        "name": column.texts(field(spans, "name"), "name"),
        "kind": numbers.enum("kind"),
        "start_time_unix_nano": numbers.nanoseconds("startTimeUnixNano"),
        "end_time_unix_nano": numbers.nanoseconds("endTimeUnixNano"),
        "status_code": codes.enum("code", "status.code"),
        "status_message": _optional_text(statuses, "message"),
        "dropped_attributes_count": numbers.count("droppedAttributesCount"),
        "dropped_events_count": numbers.count("droppedEventsCount"),
        "dropped_links_count": numbers.count("droppedLinksCount"),
        "resource_index": _unowned(spans),
        "scope_index": _unowned(spans),
        "problems": pa.nulls(len(spans), SPANS.field("problems").type),
    }
    numbers.unfit += codes.unfit
    return SpanTables(
        spans=numbers.noted(flat_table(SPANS, columns, attributes(field(spans, "attributes"), "attributes"))),
        events=_event_table(column.lists(field(spans, "events"), "events")),
        links=_link_table(column.lists(field(spans, "links"), "links")),
    )


def log_table(records: Sequence[JsonObject]) -> FlatTable:
    """The log records."""
    column.objects_in(records, "an item of logRecords")
    numbers = _Numbers(records)
    body, odd_bodies = any_values(field(records, "body"), "body")
    columns = {
        "trace_id": column.ids(field(records, "traceId"), TRACE_ID_BYTES, "traceId"),
        "span_id": column.ids(field(records, "spanId"), SPAN_ID_BYTES, "spanId"),
        "time_unix_nano": numbers.nanoseconds("timeUnixNano"),
        "observed_time_unix_nano": numbers.nanoseconds("observedTimeUnixNano"),
        "severity_number": numbers.enum("severityNumber"),
        "severity_text": _optional_text(records, "severityText"),
        "event_name": _optional_text(records, "eventName"),
        "body": body,
        "dropped_attributes_count": numbers.count("droppedAttributesCount"),
        "flags": numbers.count("flags"),
        "resource_index": _unowned(records),
        "scope_index": _unowned(records),
        "problems": pa.nulls(len(records), LOG_RECORDS.field("problems").type),
    }
    lists = attributes(field(records, "attributes"), "attributes")
    odd_rows = {problem: pa.array(rows, pa.int64()) for problem, rows in odd_bodies.items()}
    return numbers.noted(with_odd_rows(flat_table(LOG_RECORDS, columns, lists), odd_rows))


def _event_table(lists: Sequence[list[Any]]) -> FlatTable:
    events = column.objects_in(list(chain.from_iterable(lists)), "events")
    numbers = _Numbers(events)
    if not events:
        return NO_EVENTS
    span_index, event_index = _positions(lists)
    columns = {
        "span_index": span_index,
        "event_index": event_index,
        "time_unix_nano": numbers.nanoseconds("timeUnixNano"),
        "name": column.texts(field(events, "name"), "name"),
        "dropped_attributes_count": numbers.count("droppedAttributesCount"),
    }
    return numbers.noted(flat_table(SPAN_EVENTS, columns, attributes(field(events, "attributes"), "attributes")))


def _link_table(lists: Sequence[list[Any]]) -> FlatTable:
    links = column.objects_in(list(chain.from_iterable(lists)), "links")
    numbers = _Numbers(links)
    if not links:
        return NO_LINKS
    span_index, link_index = _positions(lists)
    columns = {
        "span_index": span_index,
        "link_index": link_index,
        "linked_trace_id": column.ids(field(links, "traceId"), TRACE_ID_BYTES, "traceId"),
        "linked_span_id": column.ids(field(links, "spanId"), SPAN_ID_BYTES, "spanId"),
        "trace_state": _optional_text(links, "traceState"),
        "flags": numbers.count("flags"),
        "dropped_attributes_count": numbers.count("droppedAttributesCount"),
    }
    return numbers.noted(flat_table(SPAN_LINKS, columns, attributes(field(links, "attributes"), "attributes")))


def _positions(lists: Sequence[list[Any]]) -> tuple[pa.Array, pa.Array]:
    offsets = pc.cumulative_sum(pa.array([0, *map(len, lists)], pa.int32()))
    return list_positions(pa.ListArray.from_arrays(offsets, pa.nulls(offsets[-1].as_py())))


def _optional_text(objects: Sequence[JsonObject], name: str) -> pa.StringArray:
    return null_if_empty(column.texts(field(objects, name), name))


def _null_where(is_absent: Sequence[bool], counts: pa.UInt32Array) -> pa.UInt32Array:
    return null_where(pa.array(is_absent, pa.bool_()), counts) if True in is_absent else counts


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
