"""Nested OTLP values (arrays and kvlists) to JSON text.

The text is the same whether the value came as protobuf or as OTLP/JSON: integers exact, doubles in their shortest form,
NaN and the infinities as strings, bytes as base64, an empty value as null, a kvlist as an object in which the last
of two equal keys counts.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.message import DecodeError as ProtobufDecodeError
from opentelemetry.proto.common.v1 import common_pb2

from spanscore.errors import DecodeError

MAX_NESTING = 94
"""Message levels allowed below an attribute's value: what protobuf's limit of 100 leaves for a span attribute."""

ARRAY_LEVELS = 2
KVLIST_LEVELS = 3

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def nested_json(arrays: pa.BinaryArray, kvlists: pa.BinaryArray) -> pa.StringArray:
    """JSON text of each serialised ArrayValue or KeyValueList; null where there is neither.

    Raises:
        DecodeError: a value is malformed or nested too deeply.
    """
    if arrays.null_count == len(arrays) and kvlists.null_count == len(kvlists):
        return pa.nulls(len(arrays), pa.string())
    return pc.coalesce(_texts(arrays, common_pb2.ArrayValue), _texts(kvlists, common_pb2.KeyValueList))


def _texts(serialised: pa.BinaryArray, message: type[Any]) -> pa.StringArray:
    if serialised.null_count == len(serialised):
        return pa.nulls(len(serialised), pa.string())
    # instrumentations repeat the same values (tool lists, system messages), so each distinct one is decoded once
    encoded = serialised.dictionary_encode()
    return pa.array([_text(value, message) for value in encoded.dictionary.to_pylist()], pa.string()).take(
        encoded.indices
    )


def _text(serialised: bytes, message: type[Any]) -> str:
    try:
        decoded = message.FromString(serialised)
    except ProtobufDecodeError as error:
        raise DecodeError("malformed_protobuf", f"in a nested value: {error}") from None
    plain = _list(decoded, MAX_NESTING) if message is common_pb2.ArrayValue else _object(decoded, MAX_NESTING)
    return json_text(plain)


def json_text(value: Json) -> str:
    """The value as JSON text."""
    return orjson.dumps(value).decode()


def plain_double(value: float) -> float | str:
    """The number itself, or its OTLP/JSON spelling when JSON has no number for it."""
    if isfinite(value):
        return value
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def plain_bytes(value: bytes) -> str:
    """Standard base64, padded."""
    return b64encode(value).decode()


def refuse_depth(levels: int) -> None:
    """Raises DecodeError when a value would need more message levels than protobuf allows: `levels` are left for it."""
    if levels < 0:
        raise DecodeError("nested_too_deeply", f"a value has more than {MAX_NESTING} message levels below it")


def _list(array: Any, levels: int) -> list[Json]:
    refuse_depth(levels - 1)
    return [_plain(value, levels - ARRAY_LEVELS) for value in array.values]


def _object(kvlist: Any, levels: int) -> dict[str, Json]:
    refuse_depth(levels - 1)
    return {entry.key: _plain(entry.value, levels - KVLIST_LEVELS) for entry in kvlist.values}


def _plain(value: Any, levels: int) -> Json:
    refuse_depth(levels)
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return str(value.string_value)
    if kind == "kvlist_value":
        return _object(value.kvlist_value, levels)
    if kind == "array_value":
        return _list(value.array_value, levels)
    if kind == "int_value":
        return int(value.int_value)
    if kind == "bool_value":
        return bool(value.bool_value)
    if kind == "double_value":
        return plain_double(value.double_value)
    if kind == "bytes_value":
        return plain_bytes(value.bytes_value)
    return None
