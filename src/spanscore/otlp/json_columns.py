"""Fields of OTLP/JSON objects to Arrow columns, strictly: each function takes one field of many objects at once.

Null is an absent field, integers are as in `json_numbers`, enums are numbers only, ids are hex of either case. Type
checks look at the set of types of a column, so a sound column costs no Python per value beyond collecting it.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Sequence
from operator import itemgetter
from types import NoneType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.errors import DecodeError
from spanscore.otlp.constants import constant, filled
from spanscore.otlp.json_numbers import double, integer

UNREADABLE_ID = b"?"
"""Stands for an id that is not hex of the right length: no id is one byte, so it is refused where ids are checked."""

JsonObject = dict[str, Any]


def field(objects: Sequence[JsonObject], name: str) -> list[Any]:
    """The field of each object, None where it is absent or null.

    Raises:
        DecodeError: one of the objects is something else.
    """
    try:
        return list(map(itemgetter(name), objects))
    except KeyError:
        pass
    except (TypeError, IndexError):
        raise DecodeError("wrong_type", f"what holds `{name}` must be an object") from None
    try:
        return [item.get(name) for item in objects]
    except AttributeError:
        raise DecodeError("wrong_type", f"what holds `{name}` must be an object") from None


def objects_in(values: Sequence[Any], name: str) -> list[JsonObject]:
    """The values, all of which must be objects."""
    _require(values, {dict}, name, "an object")
    return list(values)


def lists(values: Sequence[Any], name: str) -> list[list[Any]]:
    """The values, which must be arrays, with an absent one as empty."""
    _require(values, {list, NoneType}, name, "an array")
    return [value or [] for value in values]


def optional_objects(values: Sequence[Any], name: str) -> list[JsonObject | None]:
    """The values, which must be objects or absent."""
    _require(values, {dict, NoneType}, name, "an object")
    return list(values)


def texts(values: Sequence[Any], name: str) -> pa.StringArray:
    """Strings; an absent one is "", as in proto3."""
    return filled(optional_texts(values, name), "")


def optional_texts(values: Sequence[Any], name: str) -> pa.StringArray:
    """Strings; an absent one is null."""
    try:
        return pa.array(values, pa.string())
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        raise DecodeError("wrong_type", f"`{name}` must be a string") from None


def booleans(values: Sequence[Any], name: str) -> pa.BooleanArray:
    """Booleans; an absent one is null."""
    _require(values, {bool, NoneType}, name, "true or false")
    return pa.array(values, pa.bool_())


class Integers(NamedTuple):
    """A column of integers.

    Attributes:
        values: null where there is none, or none that fits.
        unfit: rows of the numbers that do not fit.
    """

    values: pa.Array
    unfit: list[int]


def enums(values: Sequence[Any], name: str) -> Integers:
    """Enum numbers, unknown ones too. A name in place of the number is refused, as OTLP asks."""
    _require(values, {int, float, NoneType}, name, "an enum as an integer", reason="invalid_enum")
    return integers(values, pa.int32(), name)


def integers(values: Sequence[Any], type_: pa.DataType, name: str) -> Integers:
    """Integers from JSON numbers or strings, exact; an absent one is null."""
    types = set(map(type, values))
    try:
        if types <= {int, NoneType}:
            return Integers(pa.array(values, type_), [])
        if types <= {str, int, NoneType}:
            texts = values if int not in types else [str(one) if type(one) is int else one for one in values]
            digits = pa.array(texts, pa.string())
            unsigned = digits if pa.types.is_unsigned_integer(type_) else pc.utf8_ltrim(digits, "-")
            # Arrow would read "0x10" as well.
            if pc.all(pc.ascii_is_decimal(unsigned)).as_py() is not False:
                return Integers(pc.cast(digits, type_), [])
    except (OverflowError, pa.ArrowInvalid):
        pass  # one of them does not fit, or is spelled in an unusual way
    least = 0 if pa.types.is_unsigned_integer(type_) else -(1 << type_.bit_width - 1)
    fitting = range(least, least + (1 << type_.bit_width))
    found = [None if value is None else integer(value, name, fitting) for value in values]
    unfit = [row for row, value in enumerate(found) if value is None and values[row] is not None]
    return Integers(pa.array(found, type_), unfit)


def doubles(values: Sequence[Any], name: str) -> pa.DoubleArray:
    """Doubles, from JSON numbers, strings of them, or "NaN", "Infinity", "-Infinity"; an absent one is null."""
    if not set(map(type, values)) <= {float, NoneType}:
        values = [None if value is None else double(value, name) for value in values]
    return pa.array(values, pa.float64())


def binary(value: Any, name: str) -> bytes:
    """The bytes of standard or URL-safe base64, padded or not."""
    if type(value) is str:
        text = value.rstrip("=")
        decode: Callable[..., bytes] = urlsafe_b64decode if "-" in text or "_" in text else b64decode
        if re.fullmatch(r"[A-Za-z0-9+/]*|[A-Za-z0-9_-]*", text) and len(text) % 4 != 1 and len(value) - len(text) <= 2:
            return decode(text + "=" * (-len(text) % 4))
    raise DecodeError("invalid_base64", f"`{name}` must be base64")


def ids(values: Sequence[Any], size: int, name: str) -> pa.BinaryArray:
    """Ids of `size` bytes from hex; an absent one is empty, one that is no such hex is `UNREADABLE_ID`."""
    _require(values, {str, NoneType}, name, "a string of hex digits")
    present = [value for value in values if value]
    decoded = _all_hex(present, size)
    if decoded is None:
        decoded = pa.array([_hex(value, size) for value in present], pa.binary())
    if len(present) == len(values):
        return decoded
    is_present = pa.array(map(bool, values), pa.bool_())
    return pc.replace_with_mask(pa.repeat(constant(b"", pa.binary()), len(values)), is_present, decoded)


def _all_hex(values: Sequence[str], size: int) -> pa.BinaryArray | None:
    if set(map(len, values)) != {2 * size}:
        return None
    try:
        joined = bytes.fromhex("".join(values))
    except ValueError:
        return None
    if len(joined) != size * len(values):  # fromhex skips white space
        return None
    return pa.Array.from_buffers(pa.binary(size), len(values), [None, pa.py_buffer(joined)]).cast(pa.binary())


def _hex(value: str, size: int) -> bytes:
    try:
        decoded = bytes.fromhex(value)
    except ValueError:
        return UNREADABLE_ID
    return decoded if len(decoded) == size and len(value) == 2 * size else UNREADABLE_ID


def _require(values: Sequence[Any], types: set[type], name: str, wanted: str, *, reason: str = "wrong_type") -> None:
    found = set(map(type, values))
    if not found <= types:
        names = ", ".join(sorted(kind.__name__ for kind in found - types))
        raise DecodeError(reason, f"`{name}` must be {wanted}, not {names}")
