"""Bounds of what one span may hold. What is over them is counted or marked, never quietly dropped.

A span with too many attributes, events or links is rejected whole: half of it would be a different span. A text that is
too long keeps its beginning, and says in its last words how long it was and what its SHA-256 is.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp.constants import constant, filled, null_where
from spanscore.otlp.flatten import FlatTable, FlatTraces
from spanscore.otlp.schema import ANY_VALUE, ATTRIBUTES

TRUNCATED = "truncated_value"
TOO_MANY_ATTRIBUTES = "too_many_attributes"
TOO_MANY_EVENTS = "too_many_events"
TOO_MANY_LINKS = "too_many_links"
TOO_LARGE = "too_large"

_MEMBERS = [member.name for member in ANY_VALUE]


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """Bounds of one span or log record.

    Attributes:
        max_attributes: of a span, and of each of its events and links, its resource and its scope; of a log record and
            its owners [count].
        max_events, max_links: of a span [count].
        max_text_bytes: longest text that is kept whole, in UTF-8; of names and keys as well as of values [bytes].
        max_content_bytes: of all attributes of a span and its parts, or of a log record and its body, once their texts
            are cut [bytes]. Comparing a span with one that came before takes many times its size.
    """

    max_attributes: int = 131_072
    max_events: int = 131_072
    max_links: int = 131_072
    max_text_bytes: int = 1 << 20
    max_content_bytes: int = 16 << 20


DEFAULT_LIMITS = SpanLimits()


def excess(flat: FlatTraces, limits: SpanLimits) -> dict[str, pa.Array]:
    """Spans that hold too much: a mask over the rows of `spans` for each reason that any of them has."""
    spans = flat.spans.table
    n = len(spans)
    attributes = [_over(spans["attributes"], limits.max_attributes)]
    for part in (flat.events, flat.links):
        over = _over(part.table["attributes"], limits.max_attributes)
        attributes.append(None if over is None else _rows(part.table["span_index"].filter(over), n))
    for owner, key in ((flat.resources, "resource_index"), (flat.scopes, "scope_index")):
        over = _over(owner.table["attributes"], limits.max_attributes)
        attributes.append(None if over is None else over.take(spans[key]))
    masks = {
        TOO_MANY_ATTRIBUTES: attributes,
        TOO_MANY_EVENTS: [_more_than(limits.max_events, flat.events, n)],
        TOO_MANY_LINKS: [_more_than(limits.max_links, flat.links, n)],
        TOO_LARGE: [_too_large_spans(flat, limits)],
    }
    found: dict[str, pa.Array] = {}
    for reason, parts in masks.items():
        for mask in parts:
            if mask is not None and _any(mask):
                found[reason] = pc.or_(found[reason], mask) if reason in found else mask
    return found


def excess_records(records: FlatTable, owners: Mapping[str, FlatTable], limits: SpanLimits) -> dict[str, pa.Array]:
    """Log records that hold too much: a mask over the rows for each reason that any of them has.

    Args:
        owners: by the column that points at them.
    """
    table = records.table
    found: dict[str, pa.Array] = {}
    attributes = [_over(table["attributes"], limits.max_attributes)]
    for key, owner in owners.items():
        over = _over(owner.table["attributes"], limits.max_attributes)
        attributes.append(None if over is None else over.take(table[key]))
    for mask in attributes:
        if mask is not None:
            found[TOO_MANY_ATTRIBUTES] = pc.or_(found[TOO_MANY_ATTRIBUTES], mask) if found else mask
    if _may_hold(limits.max_content_bytes, table["attributes"], table["body"]):
        body = table["body"].combine_chunks()
        content = pc.add(_content_bytes(table["attributes"], limits), _value_bytes(body, limits.max_text_bytes))
        found[TOO_LARGE] = pc.greater(content, constant(limits.max_content_bytes, pa.int64()))
    return {reason: mask for reason, mask in found.items() if _any(mask)}


def shortened(flat: FlatTable, limits: SpanLimits) -> FlatTable:
    """The table with every text within bounds; rows in which one was cut are noted as `TRUNCATED`."""
    table, cut_rows = flat.table, []
    if table.get_total_buffer_size() <= limits.max_text_bytes:
        return flat
    for place, column in enumerate(table.schema):
        values = table.column(place)
        shorten = _drop_documents if column.name == "entity_refs" else _SHORTEN.get(column.type)
        # Chunks share their buffers; what all buffers together do not hold, no text does.
        if shorten is None or values.get_total_buffer_size() <= limits.max_text_bytes:
            continue
        cut, rows = shorten(values.combine_chunks(), limits.max_text_bytes)
        if len(rows):
            table = table.set_column(place, column, cut)
            cut_rows.append(rows.cast(pa.int64()))
    if not cut_rows:
        return flat
    before = [flat.odd_rows[TRUNCATED].cast(pa.int64())] if TRUNCATED in flat.odd_rows else []
    rows = pc.unique(pa.concat_arrays([*before, *cut_rows]))
    return replace(flat, table=table, odd_rows=flat.odd_rows | {TRUNCATED: rows})


def _over(lists: pa.ChunkedArray, most: int) -> pa.ChunkedArray | None:
    """Which of the lists are longer; None where none is."""
    if all(len(chunk.values) <= most for chunk in lists.chunks):
        return None
    lengths = filled(pc.list_value_length(lists), 0)
    over = pc.greater(lengths, constant(most, lengths.type))
    return over if _any(over) else None


def _any(mask: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pc.any(mask).as_py())


def _rows(rows: pa.ChunkedArray, n: int) -> pa.BooleanArray:
    """The rows as a mask of length n."""
    return pc.is_in(pa.arange(0, n), value_set=rows.combine_chunks())


def _may_hold(most: int, *columns: pa.ChunkedArray) -> bool:
    """Whether the columns together hold more than so many bytes, or share their buffers with some that do."""
    return bool(sum(column.get_total_buffer_size() for column in columns) > most)


def _too_large_spans(flat: FlatTraces, limits: SpanLimits) -> pa.BooleanArray | None:
    spans, parts = flat.spans.table, (flat.events.table, flat.links.table)
    if not _may_hold(limits.max_content_bytes, spans["attributes"], *(part["attributes"] for part in parts)):
        return None
    content = [(pa.arange(0, len(spans)), _content_bytes(spans["attributes"], limits))]
    content += [
        (part["span_index"].combine_chunks(), _content_bytes(part["attributes"], limits)) for part in parts if len(part)
    ]
    table = pa.table(
        {
            "span": pa.concat_arrays([rows for rows, _ in content]),
            "bytes": pa.concat_arrays([sizes for _, sizes in content]),
        }
    )
    totals = table.group_by("span").aggregate([("bytes", "sum")])
    is_over = pc.greater(totals["bytes_sum"], constant(limits.max_content_bytes, pa.int64()))
    return _rows(totals["span"].filter(is_over), len(spans))


def _content_bytes(lists: pa.ChunkedArray, limits: SpanLimits) -> pa.Int64Array:
    """Size of each list of attributes once its texts are cut [bytes]."""
    lists = lists.combine_chunks()
    entries = lists.flatten()
    keys = pc.min_element_wise(_lengths(entries.field("key")), constant(limits.max_text_bytes, pa.int64()))
    sizes = pc.add(keys, _value_bytes(entries.field("value"), limits.max_text_bytes))
    before = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(sizes)])
    offsets = pc.subtract(lists.offsets, lists.offsets[0])
    return pc.subtract(before.take(offsets[1:]), before.take(offsets[:-1]))


def _value_bytes(values: pa.StructArray, most: int) -> pa.Int64Array:
    lengths = [_lengths(pc.struct_field(values, name)) for name in ("string_value", "bytes_value", "json_value")]
    total = pc.add(pc.add(lengths[0], lengths[1]), lengths[2])
    return pc.min_element_wise(total, constant(most, pa.int64()))


def _lengths(texts: pa.Array) -> pa.Int64Array:
    return filled(pc.binary_length(texts), 0).cast(pa.int64())


def _more_than(most: int, parts: FlatTable, n: int) -> pa.BooleanArray | None:
    if len(parts.table) <= most:
        return None
    counted = pc.value_counts(parts.table["span_index"].combine_chunks())
    counts = counted.field("counts")
    return _rows(pa.chunked_array([counted.field("values").filter(pc.greater(counts, constant(most, counts.type)))]), n)


def _shorten_texts(texts: pa.StringArray, most: int) -> tuple[pa.StringArray, pa.Array]:
    lengths = pc.binary_length(texts)
    is_long = filled(pc.greater(lengths, constant(most, lengths.type)), False)
    if not _any(is_long):
        return texts, pa.array([], pa.int64())
    replacements = [marked(text, most) for text in texts.filter(is_long).to_pylist()]
    return pc.replace_with_mask(texts, is_long, pa.array(replacements, texts.type)), pc.indices_nonzero(is_long)


def _drop_documents(texts: pa.StringArray, most: int) -> tuple[pa.StringArray, pa.Array]:
    """A JSON document that is cut is none any more."""
    lengths = pc.binary_length(texts)
    is_long = filled(pc.greater(lengths, constant(most, lengths.type)), False)
    return null_where(is_long, texts), pc.indices_nonzero(is_long)


def _marked_bytes(data: bytes, most: int) -> str:
    return marked(b64encode(data[:most]).decode(), most, data)


def _shorten_values(values: pa.StructArray, most: int) -> tuple[pa.StructArray, pa.Array]:
    """Long arrays, kvlists and bytes become text: the beginning of their JSON, or of their base64."""
    members = dict(zip(_MEMBERS, values.flatten(), strict=True))
    members["string_value"], rows = _shorten_texts(members["string_value"], most)
    all_rows = [rows.cast(pa.int64())]
    for name, mark in (("json_value", marked), ("bytes_value", _marked_bytes)):
        lengths = pc.binary_length(members[name])
        is_long = filled(pc.greater(lengths, constant(most, lengths.type)), False)
        if _any(is_long):
            texts = pa.array([mark(one, most) for one in members[name].filter(is_long).to_pylist()], pa.string())
            members["string_value"] = pc.replace_with_mask(members["string_value"], is_long, texts)
            members[name] = null_where(is_long, members[name])
            all_rows.append(pc.indices_nonzero(is_long).cast(pa.int64()))
    rows = pa.concat_arrays(all_rows)
    if len(rows) == 0:
        return values, rows
    mask = values.is_null() if values.null_count else None
    return pa.StructArray.from_arrays(list(members.values()), fields=list(ANY_VALUE), mask=mask), rows


def _shorten_attributes(lists: pa.ListArray, most: int) -> tuple[pa.ListArray, pa.Array]:
    entries = lists.flatten()
    keys, key_rows = _shorten_texts(entries.field("key"), most)
    values, value_rows = _shorten_values(entries.field("value"), most)
    cut = pa.concat_arrays([key_rows.cast(pa.int64()), value_rows])
    if len(cut) == 0:
        return lists, cut
    parents = lists.value_parent_indices().take(cut)
    entries = pa.StructArray.from_arrays([keys, values], fields=list(ATTRIBUTES.value_type))
    offsets = pc.subtract(lists.offsets, lists.offsets[0])
    mask = lists.is_null() if lists.null_count else None
    return pa.ListArray.from_arrays(offsets, entries, type=ATTRIBUTES, mask=mask), parents


_SHORTEN: dict[pa.DataType, Callable[[Any, int], tuple[Any, pa.Array]]] = {
    pa.string(): _shorten_texts,
    ANY_VALUE: _shorten_values,
    ATTRIBUTES: _shorten_attributes,
}


def marked(text: str, most: int, original: bytes | None = None) -> str:
    """The beginning of a text and a note on what it was.

    Args:
        most: length of both together in UTF-8, unless the note alone is longer [bytes].
        original: what the text stands for, when that is not the text itself.
    """
    whole = text.encode()
    original = whole if original is None else original
    note = f"… [first part of {len(original)} bytes, sha256 {sha256(original).hexdigest()}, truncated]"
    return whole[: max(0, most - len(note.encode()))].decode(errors="ignore") + note
