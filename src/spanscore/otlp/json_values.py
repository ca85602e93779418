"""AnyValue objects and attribute lists of OTLP/JSON to Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, compress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.errors import DecodeError
from spanscore.otlp import json_columns as column
from spanscore.otlp.any_value import (
    ARRAY_LEVELS,
    KVLIST_LEVELS,
    MAX_NESTING,
    Json,
    json_text,
    plain_bytes,
    plain_double,
    refuse_depth,
)
from spanscore.otlp.attributes import STRING_INDEX as REFERENCE
from spanscore.otlp.attributes import AttributeLists, attribute_lists
from spanscore.otlp.constants import equals
from spanscore.otlp.json_columns import JsonObject
from spanscore.otlp.json_numbers import OUT_OF_RANGE, double, integer
from spanscore.otlp.schema import ANY_VALUE

EMPTY, STRING, BOOL, INT, DOUBLE, BYTES, ARRAY, KVLIST, STRING_INDEX = range(9)
CONTAINERS = (ARRAY, KVLIST)

OddPlaces = dict[str, list[int]]
"""Per problem, the positions of the values that have it."""

Unfit = list[float]
"""Gathers the integers of one nested value that do not fit 64 bits."""

MEMBERS = {
    "": EMPTY,
    "stringValue": STRING,
    "boolValue": BOOL,
    "intValue": INT,
    "doubleValue": DOUBLE,
    "bytesValue": BYTES,
    "arrayValue": ARRAY,
    "kvlistValue": KVLIST,
    "stringValueStrindex": STRING_INDEX,
}

_ONLY = {code: bytes(int(byte == code) for byte in range(256)) for code in MEMBERS.values()}
"""Per member, the translation of codes to 1 for that member and 0 for the others."""


def any_values(values: Sequence[Any], name: str) -> tuple[pa.StructArray, OddPlaces]:
    """ANY_VALUE of each value, and which of them are odd.

    A reference into a string table is empty. An integer that does not fit is the double nearest to it.

    Args:
        values: AnyValue objects; None is an empty value.
        name: the field they come from, for errors.
    """
    members, contents = _members(values, name)
    codes = bytes(map(MEMBERS.__getitem__, members))
    present = {code: list(compress(contents, codes.translate(_ONLY[code]))) for code in set(codes)}
    numbers = present.get(INT, [])
    integers = column.integers(numbers, pa.int64(), "intValue")
    nested = {ARRAY: _texts(present.get(ARRAY, []), _list), KVLIST: _texts(present.get(KVLIST, []), _object)}
    binaries = (None if text is None else column.binary(text, "bytesValue") for text in present.get(BYTES, []))
    placed = _Placing(codes)
    doubles = placed(DOUBLE, column.doubles(present.get(DOUBLE, []), "doubleValue"))
    if integers.unfit:
        doubles = pc.coalesce(doubles, placed(INT, _nearest(numbers, integers.unfit)))
    columns = [
        placed(STRING, column.optional_texts(present.get(STRING, []), "stringValue")),
        placed(BOOL, column.booleans(present.get(BOOL, []), "boolValue")),
        placed(INT, integers.values),
        doubles,
        placed(BYTES, pa.array(binaries, pa.binary())),
        pc.coalesce(*(placed(code, pa.array(texts, pa.string())) for code, (texts, _) in nested.items())),
    ]
    odd: OddPlaces = {}
    if STRING_INDEX in present:
        odd[REFERENCE] = _places(codes, STRING_INDEX)
    unfit = {INT: integers.unfit, **{code: rows for code, (_, rows) in nested.items()}}
    if any(unfit.values()):
        places = {code: _places(codes, code) for code, rows in unfit.items() if rows}
        odd[OUT_OF_RANGE] = [place[row] for code, place in places.items() for row in unfit[code]]
    return pa.StructArray.from_arrays(columns, fields=list(ANY_VALUE)), odd


def _places(codes: bytes, code: int) -> list[int]:
    return [place for place, one in enumerate(codes) if one == code]


def _nearest(numbers: Sequence[Any], unfit: Sequence[int]) -> pa.DoubleArray:
    """The doubles nearest to the numbers that are no integers of 64 bits; null for the others."""
    nearest: list[float | None] = [None] * len(numbers)
    for row in unfit:
        nearest[row] = float(numbers[row])
    return pa.array(nearest, pa.float64())


def _members(values: Sequence[Any], name: str) -> tuple[list[str], list[Any]]:
    """The member that each value sets, "" for an empty value, and its content."""
    try:
        contents = list(chain.from_iterable(map(dict.values, values)))
        members = list(chain.from_iterable(values))
        # every value has one key, as nearly always: no Python per value
        if set(map(len, values)) <= {1} and set(members) <= MEMBERS.keys():
            return members, contents
    except TypeError:  # a value is null, or no object
        pass
    chosen = [_member(value, name) or ("", None) for value in values]
    return [member for member, _ in chosen], [content for _, content in chosen]


class _Placing:
    """Spreads the values of one member over all rows, null where a row has another member."""

    def __init__(self, codes: bytes) -> None:
        self._codes = pa.Array.from_buffers(pa.uint8(), len(codes), [None, pa.py_buffer(codes)])

    def __call__(self, code: int, dense: pa.Array) -> pa.Array:
        if len(dense) == len(self._codes):
            return dense
        nulls = pa.nulls(len(self._codes), dense.type)
        return pc.replace_with_mask(nulls, equals(self._codes, code), dense) if len(dense) else nulls


def _member(value: Any, name: str) -> tuple[str, Any] | None:
    """The one known member of the value that is set, None for an empty value."""
    if value is None:
        return None
    if type(value) is not dict:
        raise DecodeError("wrong_type", f"a value in `{name}` must be an object, not {type(value).__name__}")
    known = [
        (member, content) for member, content in value.items() if member and member in MEMBERS and content is not None
    ]
    if len(known) > 1:
        raise DecodeError("value_set_twice", f"a value in `{name}` has {' and '.join(member for member, _ in known)}")
    return known[0] if known else None


def attributes(values: Sequence[Any], name: str, *, mask: Sequence[bool] | None = None) -> AttributeLists:
    """ATTRIBUTES of each list of KeyValue objects, an absent one empty, or null where the mask is set."""
    lists = column.lists(values, name)
    entries = list(chain.from_iterable(lists))
    keys = column.texts(column.field(entries, "key"), "key")
    converted, odd = any_values(column.field(entries, "value"), name)
    if pc.any(equals(keys, "")).as_py():
        odd[REFERENCE] = odd.get(REFERENCE, []) + _key_references(entries)
    lengths = list(map(len, lists))
    odd_rows = {}
    if odd:
        rows = [row for row, length in enumerate(lengths) for _ in range(length)]
        odd_rows = {problem: pa.array([rows[place] for place in places], pa.int64()) for problem, places in odd.items()}
    return attribute_lists(
        pa.array(lengths, pa.int32()),
        keys,
        converted,
        mask=None if mask is None else pa.array(mask, pa.bool_()),
        odd_rows=odd_rows,
    )


def _key_references(entries: Sequence[JsonObject]) -> list[int]:
    found = column.integers(column.field(entries, "keyStrindex"), pa.int32(), "keyStrindex")
    references = found.values.to_pylist()
    for row in found.unfit:
        references[row] = row + 1  # wherever it refers to: OTLP lacks the table
    return [place for place, entry in enumerate(entries) if references[place] and not entry.get("key")]


def _texts(contents: Sequence[Any], convert: Callable[[Any, int, Unfit], Json]) -> tuple[list[str | None], list[int]]:
    """JSON text of each array or kvlist, and the rows of those in which an integer does not fit."""
    texts: list[str | None] = []
    rows = []
    for row, content in enumerate(contents):
        unfit: Unfit = []
        texts.append(None if content is None else json_text(convert(content, MAX_NESTING, unfit)))
        if unfit:
            rows.append(row)
    return texts, rows


def _values(container: Any, name: str) -> list[Any]:
    if type(container) is not dict:
        raise DecodeError("wrong_type", f"`{name}` must be an object, not {type(container).__name__}")
    return column.lists([container.get("values")], "values")[0]


def _list(array: Any, levels: int, unfit: Unfit) -> list[Json]:
    refuse_depth(levels - 1)
    return [_plain(value, levels - ARRAY_LEVELS, unfit) for value in _values(array, "arrayValue")]


def _object(kvlist: Any, levels: int, unfit: Unfit) -> dict[str, Json]:
    refuse_depth(levels - 1)
    entries: list[JsonObject] = column.objects_in(_values(kvlist, "kvlistValue"), "kvlistValue")
    return {_key(entry): _plain(entry.get("value"), levels - KVLIST_LEVELS, unfit) for entry in entries}


def _key(entry: JsonObject) -> str:
    key = entry.get("key")
    if key is not None and type(key) is not str:
        raise DecodeError("wrong_type", f"`key` must be a string, not {type(key).__name__}")
    return key or ""


def _plain(value: Any, levels: int, unfit: Unfit) -> Json:
    refuse_depth(levels)
    chosen = _member(value, "values")
    if chosen is None:
        return None
    return _PLAIN[chosen[0]](chosen[1], levels, unfit)


def _plain_text(content: Any, _levels: int, _unfit: Unfit) -> Json:
    if type(content) is not str:
        raise DecodeError("wrong_type", f"`stringValue` must be a string, not {type(content).__name__}")
    return content


def _plain_bool(content: Any, _levels: int, _unfit: Unfit) -> Json:
    if type(content) is not bool:
        raise DecodeError("wrong_type", f"`boolValue` must be true or false, not {type(content).__name__}")
    return content


def _plain_integer(content: Any, _levels: int, unfit: Unfit) -> Json:
    found = integer(content, "intValue")
    if found is None:
        unfit.append(content)
        return float(content)
    return found


_PLAIN: dict[str, Callable[[Any, int, Unfit], Json]] = {
    "stringValue": _plain_text,
    "boolValue": _plain_bool,
    "intValue": _plain_integer,
    "doubleValue": lambda content, _, __: plain_double(double(content, "doubleValue")),
    "bytesValue": lambda content, _, __: plain_bytes(column.binary(content, "bytesValue")),
    "arrayValue": _list,
    "kvlistValue": _object,
    "stringValueStrindex": lambda _content, _levels, _unfit: None,
}
