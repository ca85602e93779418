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
from spanscore.otlp.attributes import AttributeLists, attribute_lists
from spanscore.otlp.constants import equals
from spanscore.otlp.json_columns import JsonObject
from spanscore.otlp.schema import ANY_VALUE

EMPTY, STRING, BOOL, INT, DOUBLE, BYTES, ARRAY, KVLIST, STRING_INDEX = range(9)
CONTAINERS = (ARRAY, KVLIST)

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


def any_values(values: Sequence[Any], name: str) -> tuple[pa.StructArray, list[int]]:
    """ANY_VALUE of each value, and the positions of those that refer to a string table, which are empty.

    Args:
        values: AnyValue objects; None is an empty value.
        name: the field they come from, for errors.
    """
    members, contents = _members(values, name)
    codes = bytes(map(MEMBERS.__getitem__, members))
    present = {code: list(compress(contents, codes.translate(_ONLY[code]))) for code in set(codes)}
    nested = map(_array_text, present.get(ARRAY, [])), map(_kvlist_text, present.get(KVLIST, []))
    binaries = (None if text is None else column.binary(text, "bytesValue") for text in present.get(BYTES, []))
    placed = _Placing(codes)
    columns = [
        placed(STRING, column.optional_texts(present.get(STRING, []), "stringValue")),
        placed(BOOL, column.booleans(present.get(BOOL, []), "boolValue")),
        placed(INT, column.integers(present.get(INT, []), pa.int64(), "intValue")),
        placed(DOUBLE, column.doubles(present.get(DOUBLE, []), "doubleValue")),
        placed(BYTES, pa.array(binaries, pa.binary())),
        pc.coalesce(
            *(placed(code, pa.array(json, pa.string())) for code, json in zip(CONTAINERS, nested, strict=True))
        ),
    ]
    odd = [place for place, code in enumerate(codes) if code == STRING_INDEX] if STRING_INDEX in present else []
    return pa.StructArray.from_arrays(columns, fields=list(ANY_VALUE)), odd


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
        odd += _key_references(entries)
    lengths = list(map(len, lists))
    odd_rows = pa.array([], pa.int64())
    if odd:
        rows = [row for row, length in enumerate(lengths) for _ in range(length)]
        odd_rows = pa.array([rows[place] for place in odd], pa.int64())
    return attribute_lists(
        pa.array(lengths, pa.int32()),
        keys,
        converted,
        mask=None if mask is None else pa.array(mask, pa.bool_()),
        string_index_rows=odd_rows,
    )


def _key_references(entries: Sequence[JsonObject]) -> list[int]:
    references = column.integers(column.field(entries, "keyStrindex"), pa.int32(), "keyStrindex").to_pylist()
    return [place for place, entry in enumerate(entries) if references[place] and not entry.get("key")]


def _array_text(array: Any) -> str | None:
    return None if array is None else json_text(_list(array, MAX_NESTING))


def _kvlist_text(kvlist: Any) -> str | None:
    return None if kvlist is None else json_text(_object(kvlist, MAX_NESTING))


def _values(container: Any, name: str) -> list[Any]:
    if type(container) is not dict:
        raise DecodeError("wrong_type", f"`{name}` must be an object, not {type(container).__name__}")
    return column.lists([container.get("values")], "values")[0]


def _list(array: Any, levels: int) -> list[Json]:
    refuse_depth(levels - 1)
    return [_plain(value, levels - ARRAY_LEVELS) for value in _values(array, "arrayValue")]


def _object(kvlist: Any, levels: int) -> dict[str, Json]:
    refuse_depth(levels - 1)
    entries: list[JsonObject] = column.objects_in(_values(kvlist, "kvlistValue"), "kvlistValue")
    return {_key(entry): _plain(entry.get("value"), levels - KVLIST_LEVELS) for entry in entries}


def _key(entry: JsonObject) -> str:
    key = entry.get("key")
    if key is not None and type(key) is not str:
        raise DecodeError("wrong_type", f"`key` must be a string, not {type(key).__name__}")
    return key or ""


def _plain(value: Any, levels: int) -> Json:
    refuse_depth(levels)
    chosen = _member(value, "values")
    if chosen is None:
        return None
    return _PLAIN[chosen[0]](chosen[1], levels)


def _plain_text(content: Any, _levels: int) -> Json:
    if type(content) is not str:
        raise DecodeError("wrong_type", f"`stringValue` must be a string, not {type(content).__name__}")
    return content


def _plain_bool(content: Any, _levels: int) -> Json:
    if type(content) is not bool:
        raise DecodeError("wrong_type", f"`boolValue` must be true or false, not {type(content).__name__}")
    return content


_PLAIN: dict[str, Callable[[Any, int], Json]] = {
    "stringValue": _plain_text,
    "boolValue": _plain_bool,
    "intValue": lambda content, _: column.integer(content, "intValue"),
    "doubleValue": lambda content, _: plain_double(column.double(content, "doubleValue")),
    "bytesValue": lambda content, _: plain_bytes(column.binary(content, "bytesValue")),
    "arrayValue": _list,
    "kvlistValue": _object,
    "stringValueStrindex": lambda _content, _levels: None,
}
