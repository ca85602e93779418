"""Attribute lists: wire shape to the ATTRIBUTES of the tables, and the rule that a key stands in a list once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp.any_value import nested_json
from spanscore.otlp.constants import constant, equals, filled
from spanscore.otlp.schema import ANY_VALUE, ATTRIBUTES

_NO_ENTRIES = pa.array([], ATTRIBUTES.value_type)

DUPLICATE_KEY = "duplicate_attribute_key"
STRING_INDEX = "strindex"


@dataclass(frozen=True)
class AttributeLists:
    """Attributes of a table, one list per row, with what was odd about them.

    Attributes:
        lists: of type ATTRIBUTES.
        odd_rows: per problem, the rows that have it; a row may stand there more than once.
    """

    lists: pa.ListArray
    odd_rows: dict[str, pa.Array]


def wire_values(values: pa.StructArray) -> pa.StructArray:
    """ANY_VALUE of each AnyValue in the wire shape; a reference into a string table, which OTLP lacks, is empty."""
    members = [pc.struct_field(values, field.name) for field in list(ANY_VALUE)[:-1]]
    nested = nested_json(pc.struct_field(values, "array_value"), pc.struct_field(values, "kvlist_value"))
    return pa.StructArray.from_arrays([*members, nested], fields=list(ANY_VALUE))


def wire_attributes(lists: pa.ListArray) -> AttributeLists:
    """ATTRIBUTES of each list of KeyValue in the wire shape; a null list stays null."""
    entries = lists.flatten()
    if not len(entries):
        return AttributeLists(_empty_lists(lists), {})
    values = entries.field("value")
    string_index = pc.struct_field(values, "string_value_strindex")
    key_index = entries.field("key_strindex")
    odd_rows = {}
    refers = pc.and_not(equals(entries.field("key"), ""), equals(key_index, 0))
    if string_index.null_count < len(string_index) or pc.any(refers).as_py():
        is_odd = pc.or_(pc.is_valid(string_index), refers)
        odd_rows[STRING_INDEX] = lists.value_parent_indices().filter(is_odd)
    lengths = filled(pc.list_value_length(lists), 0)
    mask = lists.is_null() if lists.null_count else None
    return attribute_lists(lengths, entries.field("key"), wire_values(values), mask=mask, odd_rows=odd_rows)


def attribute_lists(
    lengths: pa.Array,
    keys: pa.StringArray,
    values: pa.StructArray,
    *,
    mask: pa.BooleanArray | None,
    odd_rows: Mapping[str, pa.Array],
) -> AttributeLists:
    """Lists of the given lengths over flat keys and values, with the last of each duplicate key kept.

    Args:
        lengths: entries of each row, shape (rows,).
        keys: keys of all rows in order, shape (sum of lengths,).
        values: ANY_VALUE of each key.
        mask: rows whose list is null, whose length is 0; None when there are none.
        odd_rows: what is known to be odd about them, as in `AttributeLists`.
    """
    odd_rows = dict(odd_rows)
    entries = pa.StructArray.from_arrays([keys, values], fields=list(ATTRIBUTES.value_type))
    lists = pa.ListArray.from_arrays(_offsets(lengths), entries, type=ATTRIBUTES, mask=mask)
    parents = lists.value_parent_indices()
    codes = keys.dictionary_encode()
    place = pc.add(
        pc.multiply(parents.cast(pa.int64()), pa.scalar(len(codes.dictionary), pa.int64())),
        codes.indices.cast(pa.int64()),
    )
    if pc.count_distinct(place).as_py() == len(place):
        return AttributeLists(lists, odd_rows)

    numbered = pa.table({"place": place, "row": pa.arange(0, len(place))})
    last = numbered.group_by("place").aggregate([("row", "max"), ("row", "count")])
    repeated = last.filter(pc.greater(last["row_count"], constant(1, pa.int64())))["row_max"].combine_chunks()
    kept = pc.take(last["row_max"].combine_chunks(), pc.sort_indices(last["row_max"]))
    odd_rows[DUPLICATE_KEY] = parents.take(repeated)
    kept_lengths = _counts(parents.take(kept), rows=len(lists))
    lists = pa.ListArray.from_arrays(_offsets(kept_lengths), entries.take(kept), type=ATTRIBUTES, mask=mask)
    return AttributeLists(lists, odd_rows)


def _empty_lists(lists: pa.ListArray) -> pa.ListArray:
    """As many empty lists, null where the list is."""
    offsets = pa.repeat(constant(0, pa.int32()), len(lists) + 1)
    mask = lists.is_null() if lists.null_count else None
    return pa.ListArray.from_arrays(offsets, _NO_ENTRIES, type=ATTRIBUTES, mask=mask)


def _offsets(lengths: pa.Array) -> pa.Int32Array:
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths.cast(pa.int32()))])


def _counts(parents: pa.Array, *, rows: int) -> pa.Array:
    """How many of the parents, which are sorted, are each of 0..rows-1."""
    counted = pc.value_counts(parents)
    sparse = pc.scatter(counted.field("counts"), counted.field("values").cast(pa.int64()), max_index=rows - 1)
    return filled(sparse, 0)
