"""The nested record batch of `wire` to flat tables, still unchecked: no Python runs per span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp.attributes import STRING_INDEX, AttributeLists, wire_attributes, wire_values
from spanscore.otlp.constants import equals, filled, null_where
from spanscore.otlp.schema import LOG_RECORDS, RESOURCES, SCOPES, SPAN_EVENTS, SPAN_LINKS, SPANS

Columns = dict[str, pa.Array]
OddRows = dict[str, pa.Array]


@dataclass(frozen=True)
class FlatTable:
    """A table with the schema of the same name, ids as they came, and the rows that have a problem, per problem."""

    table: pa.Table
    odd_rows: OddRows


# Most requests have neither, and a small one costs little else.
NO_EVENTS = FlatTable(SPAN_EVENTS.empty_table(), {})
NO_LINKS = FlatTable(SPAN_LINKS.empty_table(), {})


@dataclass(frozen=True)
class FlatTraces:
    """Tables of trace requests before ids are checked."""

    resources: FlatTable
    scopes: FlatTable
    spans: FlatTable
    events: FlatTable
    links: FlatTable


@dataclass(frozen=True)
class FlatLogs:
    """Tables of log requests before ids are checked."""

    resources: FlatTable
    scopes: FlatTable
    log_records: FlatTable


def flatten_traces(batch: pa.RecordBatch) -> FlatTraces:
    """Flat tables of a batch of trace requests."""
    resource_spans = batch.column("resource_spans").flatten()
    scope_lists = resource_spans.field("scope_spans")
    scope_spans = scope_lists.flatten()
    span_lists = scope_spans.field("spans")
    spans = span_lists.flatten()
    return FlatTraces(
        resources=resource_table(resource_spans),
        scopes=scope_table(scope_spans),
        spans=_span_table(spans, **_owners(scope_lists, span_lists)),
        events=_event_table(spans.field("events")),
        links=_link_table(spans.field("links")),
    )


def flatten_logs(batch: pa.RecordBatch) -> FlatLogs:
    """Flat tables of a batch of log requests."""
    resource_logs = batch.column("resource_logs").flatten()
    scope_lists = resource_logs.field("scope_logs")
    scope_logs = scope_lists.flatten()
    record_lists = scope_logs.field("log_records")
    return FlatLogs(
        resources=resource_table(resource_logs),
        scopes=scope_table(scope_logs),
        log_records=_log_table(record_lists.flatten(), **_owners(scope_lists, record_lists)),
    )


def flat_table(schema: pa.Schema, columns: Columns, attributes: AttributeLists) -> FlatTable:
    """A table of the columns and the attributes, in the order and types of the schema."""
    columns["attributes"] = attributes.lists
    found = [(columns[field.name], field.type) for field in schema]
    arrays = [array if array.type == wanted else array.cast(wanted) for array, wanted in found]
    return FlatTable(pa.Table.from_arrays(arrays, schema=schema), attributes.odd_rows)


def null_if_empty(texts: pa.Array) -> pa.Array:
    """The texts with "" as null: proto3 cannot tell an empty string from one that was not sent."""
    return null_where(equals(pc.binary_length(texts), 0), texts)


def resource_table(owners: pa.StructArray) -> FlatTable:
    """One row per ResourceSpans or ResourceLogs."""
    resources = owners.field("resource")
    columns = {
        "resource_index": pa.arange(0, len(owners)),
        "dropped_attributes_count": pc.struct_field(resources, "dropped_attributes_count"),
        "entity_refs": _entity_refs(pc.struct_field(resources, "entity_refs")),
        "schema_url": null_if_empty(owners.field("schema_url")),
    }
    return flat_table(RESOURCES, columns, wire_attributes(pc.struct_field(resources, "attributes")))


def _entity_refs(lists: pa.ListArray) -> pa.StringArray:
    if len(lists.flatten()) == 0:
        return pa.nulls(len(lists), pa.string())
    return pa.array([orjson.dumps(refs).decode() if refs else None for refs in lists.to_pylist()], pa.string())


def scope_table(owners: pa.StructArray) -> FlatTable:
    """One row per ScopeSpans or ScopeLogs."""
    scopes = owners.field("scope")
    columns = {
        "scope_index": pa.arange(0, len(owners)),
        "name": null_if_empty(pc.struct_field(scopes, "name")),
        "version": null_if_empty(pc.struct_field(scopes, "version")),
        "dropped_attributes_count": pc.struct_field(scopes, "dropped_attributes_count"),
        "schema_url": null_if_empty(owners.field("schema_url")),
    }
    return flat_table(SCOPES, columns, wire_attributes(pc.struct_field(scopes, "attributes")))


def _owners(scope_lists: pa.ListArray, item_lists: pa.ListArray) -> Columns:
    """Resource and scope row of each item, by the rows of the lists that hold them."""
    scope_index = item_lists.value_parent_indices().cast(pa.int64())
    resource_index = scope_lists.value_parent_indices().cast(pa.int64()).take(scope_index)
    return {"resource_index": resource_index, "scope_index": scope_index}


def _span_table(spans: pa.StructArray, *, resource_index: pa.Array, scope_index: pa.Array) -> FlatTable:
    columns = {field.name: spans.field(field.name) for field in spans.type if field.name in SPANS.names}
    status = spans.field("status")
    columns |= {
        "trace_state": null_if_empty(spans.field("trace_state")),
        "status_code": filled(pc.struct_field(status, "code"), 0),
        "status_message": null_if_empty(pc.struct_field(status, "message")),
        "resource_index": resource_index,
        "scope_index": scope_index,
        "problems": pa.nulls(len(spans), SPANS.field("problems").type),
    }
    return flat_table(SPANS, columns, wire_attributes(spans.field("attributes")))


def _event_table(lists: pa.ListArray) -> FlatTable:
    events = lists.flatten()
    if not len(events):
        return NO_EVENTS
    columns = {field.name: events.field(field.name) for field in events.type if field.name in SPAN_EVENTS.names}
    columns["span_index"], columns["event_index"] = list_positions(lists)
    return flat_table(SPAN_EVENTS, columns, wire_attributes(events.field("attributes")))


def _link_table(lists: pa.ListArray) -> FlatTable:
    links = lists.flatten()
    if not len(links):
        return NO_LINKS
    columns = {field.name: links.field(field.name) for field in links.type if field.name in SPAN_LINKS.names}
    columns |= {
        "linked_trace_id": links.field("trace_id"),
        "linked_span_id": links.field("span_id"),
        "trace_state": null_if_empty(links.field("trace_state")),
    }
    columns["span_index"], columns["link_index"] = list_positions(lists)
    return flat_table(SPAN_LINKS, columns, wire_attributes(links.field("attributes")))


def list_positions(lists: pa.ListArray) -> tuple[pa.Array, pa.Array]:
    """For each element of the lists: the row of its list, and its place in that list from 0."""
    parents = lists.value_parent_indices().cast(pa.int64())
    lengths = pc.list_value_length(lists).cast(pa.int64())
    starts = pc.subtract(pc.cumulative_sum(lengths), lengths)
    return parents, pc.subtract(pa.arange(0, len(parents)), starts.take(parents))


def _log_table(records: pa.StructArray, *, resource_index: pa.Array, scope_index: pa.Array) -> FlatTable:
    columns = {field.name: records.field(field.name) for field in records.type if field.name in LOG_RECORDS.names}
    columns |= {
        "severity_text": null_if_empty(records.field("severity_text")),
        "event_name": null_if_empty(records.field("event_name")),
        "body": wire_values(records.field("body")),
        "resource_index": resource_index,
        "scope_index": scope_index,
        "problems": pa.nulls(len(records), LOG_RECORDS.field("problems").type),
    }
    flat = flat_table(LOG_RECORDS, columns, wire_attributes(records.field("attributes")))
    is_reference = pc.is_valid(pc.struct_field(records.field("body"), "string_value_strindex"))
    return with_odd_rows(flat, {STRING_INDEX: pc.indices_nonzero(is_reference)})


def with_odd_rows(flat: FlatTable, odd_rows: Mapping[str, pa.Array]) -> FlatTable:
    """The table with more of its rows noted as odd."""
    found = dict(flat.odd_rows)
    for problem, rows in odd_rows.items():
        if len(rows):
            before = [found[problem].cast(pa.int64())] if problem in found else []
            found[problem] = pa.concat_arrays([*before, rows.cast(pa.int64())])
    return FlatTable(flat.table, found)
