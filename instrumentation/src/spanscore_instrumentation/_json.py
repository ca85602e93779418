"""Values as JSON text that any OTLP backend accepts: valid JSON, valid UTF-8, no `repr` of anything."""

import dataclasses
import datetime
import decimal
import enum
import hashlib
import json
import math
import pathlib
import uuid
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

_DEEPEST = 32  # levels; deeper parts are replaced, which also ends cycles


def clean_text(text: str) -> str:
    """`text` with lone surrogates replaced: one of them would make the exporter drop the whole batch."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def to_attribute(value: object) -> str | bool | int | float | list[str] | None:
    """`value` as it may stand in an attribute, None for what may not: the SDK would record the `repr` of anything."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return [clean_text(item) for item in value]
    return None


def to_json(value: object) -> str:
    """`value` as JSON text.

    Bytes become their size and SHA-256. NaN and the infinities become the strings "NaN", "Infinity", "-Infinity", as
    OTLP does it. An object that is no mapping, sequence, dataclass or pydantic model becomes `<its class name>`.
    """
    try:
        return clean_text(json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain))
    except (TypeError, ValueError, RecursionError):  # a key that is no string, NaN, a cycle
        return clean_text(json.dumps(_rebuilt(value, 0), ensure_ascii=False, allow_nan=False))


def to_text(value: object) -> str:
    """A string as it is, anything else as JSON text."""
    return clean_text(value) if isinstance(value, str) else to_json(value)


def _plain(value: object) -> object:
    """What stands in JSON for a value that `json` does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        content = bytes(value)
        return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (decimal.Decimal, pathlib.PurePath, uuid.UUID)):
        return str(value)
    if isinstance(value, BaseException):
        return {"error_type": type(value).__name__, "message": str(value)}
    return _members(value)


def _members(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    model_dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if callable(model_dump):
        return model_dump()
    if isinstance(value, (Sequence, AbstractSet)):
        return list(value)
    return f"<{type(value).__name__}>"


def _rebuilt(value: object, depth: int) -> object:
    """`value` made of nothing but what JSON can say; slow, for what plain encoding refused."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity"}.get(str(value), "-Infinity")
    if depth >= _DEEPEST:
        return "<too deep>"
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _rebuilt(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rebuilt(item, depth + 1) for item in value]
    return _rebuilt(_plain(value), depth + 1)
