"""Flat tables to checked RawTables: a span without valid ids is counted and left out, the rest is kept and noted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp.constants import constant, equals, null_where
from spanscore.otlp.flatten import FlatLogs, FlatTable, FlatTraces
from spanscore.otlp.limits import SpanLimits, excess, excess_records, shortened
from spanscore.otlp.schema import LOG_RECORDS, SPANS, RawTables

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
BAD_PARENT_ID = "bad_parent_id"
BAD_LINK_ID = "bad_link_id"


def checked_traces(flat: FlatTraces, limits: SpanLimits) -> RawTables:
    """The tables without the spans that have no valid ids or hold too much, which are counted by reason."""
    too_much = excess(flat, limits)
    flat = FlatTraces(*(shortened(getattr(flat, part.name), limits) for part in fields(flat)))
    bad_ids = {
        "invalid_trace_id": _no_ids(flat.spans.table["trace_id"], TRACE_ID_BYTES),
        "invalid_span_id": _no_ids(flat.spans.table["span_id"], SPAN_ID_BYTES),
    }
    spans = _with_problems(flat)
    events = flat.events.table
    links = _with_valid_ids(flat.links.table, trace_id="linked_trace_id", span_id="linked_span_id")
    keep, rejected = _kept({**{reason: mask for reason, mask in bad_ids.items() if mask is not None}, **too_much})
    if rejected:
        spans = spans.filter(keep)
        events, links = _of_kept_spans(events, keep), _of_kept_spans(links, keep)
    return RawTables(
        resources=flat.resources.table,
        scopes=flat.scopes.table,
        spans=spans.combine_chunks(),
        span_events=events,
        span_links=links,
        rejected_spans=rejected,
    )


def checked_logs(flat: FlatLogs, limits: SpanLimits) -> RawTables:
    """The tables without the log records that hold too much; an invalid trace or span id is null, as OTLP asks."""
    owners = {"resource_index": flat.resources, "scope_index": flat.scopes}
    too_much = excess_records(flat.log_records, owners, limits)
    flat = FlatLogs(*(shortened(getattr(flat, part.name), limits) for part in fields(flat)))
    records = _with_valid_ids(flat.log_records.table, trace_id="trace_id", span_id="span_id")
    problems: dict[int, set[str]] = defaultdict(set)
    _note(problems, flat.log_records.odd_rows)
    for owner, key in ((flat.resources, "resource_index"), (flat.scopes, "scope_index")):
        _note(problems, _items_of(owner, records[key]))
    records = _noted(records, problems, LOG_RECORDS)
    keep, rejected = _kept(too_much)
    if rejected:
        records = records.filter(keep)
    return RawTables(
        resources=flat.resources.table,
        scopes=flat.scopes.table,
        log_records=records.combine_chunks(),
        rejected_log_records=rejected,
    )


def _kept(reasons: Mapping[str, pa.ChunkedArray]) -> tuple[Any, dict[str, int]]:
    """Which rows have no reason to be rejected, and how many are rejected for each: the first that a row has counts."""
    is_rejected, rejected = None, {}
    for reason, mask in reasons.items():
        rejected[reason] = _count(mask if is_rejected is None else pc.and_not(mask, is_rejected))
        is_rejected = mask if is_rejected is None else pc.or_(is_rejected, mask)
    if isinstance(is_rejected, pa.ChunkedArray):
        is_rejected = is_rejected.combine_chunks()
    keep = None if is_rejected is None else pc.invert(is_rejected)
    return keep, {reason: count for reason, count in rejected.items() if count}


def _is_id(ids: pa.ChunkedArray, size: int) -> pa.ChunkedArray:
    return pc.and_not(equals(pc.binary_length(ids), size), equals(ids, bytes(size)))


def _no_ids(ids: pa.ChunkedArray, size: int) -> pa.ChunkedArray | None:
    """Which are no valid ids; None where all are."""
    is_id = _is_id(ids, size)
    return None if pc.all(is_id).as_py() else pc.invert(is_id)


def _count(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)


def _of_kept_spans(children: pa.Table, keep: pa.BooleanArray) -> pa.Table:
    renumbered = pc.subtract(pc.cumulative_sum(keep.cast(pa.int64())), constant(1, pa.int64()))
    children = children.filter(keep.take(children["span_index"]))
    place = children.schema.get_field_index("span_index")
    return children.set_column(place, "span_index", renumbered.take(children["span_index"]))


def _with_valid_ids(table: pa.Table, *, trace_id: str, span_id: str) -> pa.Table:
    if not len(table):
        return table
    for name, size in ((trace_id, TRACE_ID_BYTES), (span_id, SPAN_ID_BYTES)):
        ids = table[name]
        valid = null_where(pc.invert(_is_id(ids, size)), ids)
        table = table.set_column(table.schema.get_field_index(name), name, valid)
    return table


def _with_problems(flat: FlatTraces) -> pa.Table:
    """The spans with invalid parent ids as null and everything odd about them, their owners and their parts noted."""
    spans = flat.spans.table
    parents = spans["parent_span_id"]
    is_invalid = pc.invert(_is_id(parents, SPAN_ID_BYTES))
    is_bad = pc.and_not(is_invalid, equals(pc.binary_length(parents), 0))
    if pc.any(is_invalid).as_py():
        place = SPANS.get_field_index("parent_span_id")
        spans = spans.set_column(place, "parent_span_id", null_where(is_invalid, parents))
    problems: dict[int, set[str]] = defaultdict(set)
    if pc.any(is_bad).as_py():
        _note(problems, {BAD_PARENT_ID: pc.indices_nonzero(is_bad)})
    _note(problems, flat.spans.odd_rows)
    _note(problems, _bad_links(flat.links.table))
    for part in (flat.events, flat.links):
        span_index = part.table["span_index"].combine_chunks()
        _note(problems, {reason: span_index.take(rows) for reason, rows in part.odd_rows.items()})
    for owner, key in ((flat.resources, "resource_index"), (flat.scopes, "scope_index")):
        _note(problems, _items_of(owner, spans[key]))
    return _noted(spans, problems, SPANS)


def _noted(items: pa.Table, problems: Mapping[int, set[str]], schema: pa.Schema) -> pa.Table:
    if not problems:
        return items
    column: list[list[str] | None] = [None] * len(items)
    for row, reasons in problems.items():
        column[row] = sorted(reasons)
    place = schema.get_field_index("problems")
    return items.set_column(place, schema.field("problems"), pa.array(column, schema.field("problems").type))


def _bad_links(links: pa.Table) -> dict[str, pa.Array]:
    valid = pc.and_(_is_id(links["linked_trace_id"], TRACE_ID_BYTES), _is_id(links["linked_span_id"], SPAN_ID_BYTES))
    return {BAD_LINK_ID: links["span_index"].filter(pc.invert(valid))} if len(links) else {}


def _items_of(owner: FlatTable, owner_of_item: pa.ChunkedArray) -> dict[str, pa.Array]:
    return {
        reason: pc.indices_nonzero(pc.is_in(owner_of_item, value_set=rows.cast(pa.int64())))
        for reason, rows in owner.odd_rows.items()
    }


def _note(problems: dict[int, set[str]], odd_rows: Mapping[str, pa.Array]) -> None:
    for reason, rows in odd_rows.items():
        for row in rows.to_pylist():
            problems[row].add(reason)
