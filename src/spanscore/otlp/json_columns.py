"""Fields of OTLP/JSON objects to Arrow columns, strictly: each function takes one field of many objects at once.

Null is an absent field, integers may be decimal strings, enums are integers only, ids are hex of either case. Type
checks look at the set of types of a column, so a sound column costs no Python per value beyond collecting it.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Sequence
from operator import itemgetter
from types import NoneType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.errors import DecodeError
from spanscore.otlp.constants import constant, filled

UNREADABLE_ID = b"?"
"""Stands for an id that is not hex of the right length: no id is one byte, so it is refused where ids are checked."""

JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
DECIMAL = re.compile(r"-?[0-9]{1,100}", re.ASCII)
DOUBLE_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

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


def enums(values: Sequence[Any], name: str) -> pa.Int32Array:
    """Enum numbers, unknown ones too; an absent one is 0. A name in place of the number is refused, as OTLP asks."""
    _require(values, {int, NoneType}, name, "an enum as an integer", reason="invalid_enum")
    return filled(_numbers(values, pa.int32(), name), 0)


def integers(values: Sequence[Any], type_: pa.DataType, name: str) -> pa.Array:
    """Integers, from JSON integers or decimal strings, exact; an absent one is null."""
    types = set(map(type, values))
    if not types <= {str, int, NoneType}:
        raise DecodeError("invalid_integer", f"`{name}` must be an integer or a string of digits")
    if str not in types:
        return _numbers(values, type_, name)
    if int in types:
        values = [str(value) if type(value) is int else value for value in values]
    digits = pa.array(values, pa.string())
    unsigned = digits if pa.types.is_unsigned_integer(type_) else pc.utf8_ltrim(digits, "-")
    # Arrow would read "0x10" as well
    if pc.all(pc.ascii_is_decimal(unsigned)).as_py() is False:
        raise DecodeError("invalid_integer", f"`{name}` must be an integer or a string of digits")
    return _cast(digits, type_, name)


def _numbers(values: Sequence[Any], type_: pa.DataType, name: str) -> pa.Array:
    try:
        return pa.array(values, type_)
    except (OverflowError, pa.ArrowInvalid):
        raise DecodeError("invalid_integer", f"`{name}` does not fit {type_}") from None


def _cast(digits: pa.StringArray, type_: pa.DataType, name: str) -> pa.Array:
    try:
        return pc.cast(digits, type_)
    except pa.ArrowInvalid:
        raise DecodeError("invalid_integer", f"`{name}` does not fit {type_}") from None


def doubles(values: Sequence[Any], name: str) -> pa.DoubleArray:
    """Doubles, from JSON numbers, strings of them, or "NaN", "Infinity", "-Infinity"; an absent one is null."""
    if not set(map(type, values)) <= {float, NoneType}:
        values = [None if value is None else double(value, name) for value in values]
    return pa.array(values, pa.float64())


def double(value: Any, name: str) -> float:
    """The double that a JSON number, or a string of one, stands for."""
    if type(value) is float or type(value) is int:
        return float(value)
    if type(value) is str:
        if value in DOUBLE_WORDS:
            return DOUBLE_WORDS[value]
        if len(value) < 1000 and JSON_NUMBER.fullmatch(value) and abs(float(value)) != float("inf"):
            return float(value)
    raise DecodeError("invalid_double", f"`{name}` must be a number")


def integer(value: Any, name: str) -> int:
    """The int64 that a JSON integer or a decimal string stands for."""
    if type(value) is str and DECIMAL.fullmatch(value):
        value = int(value)
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    raise DecodeError("invalid_integer", f"`{name}` must be an integer of 64 bits or a string of digits")


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
