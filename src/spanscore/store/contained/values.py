"""Rows of Python values as Arrow and back, nothing lost: what Arrow has no exact type for travels as tagged JSON."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

_TAGGED = {b"is": b"json"}


def encode(rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
    """One batch of at least one row; a column keeps an Arrow type only when all its values are of one plain kind."""
    import pyarrow as pa

    kinds: dict[type, pa.DataType] = {
        bool: pa.bool_(),
        int: pa.int64(),
        float: pa.float64(),
        str: pa.large_string(),
        bytes: pa.large_binary(),
    }
    arrays, fields = [], []
    for place, values in enumerate(zip(*rows, strict=True)):
        types = {type(value) for value in values if value is not None}
        kind = pa.null() if not types else kinds.get(next(iter(types))) if len(types) == 1 else None
        if kind == pa.int64() and not _fit(values):
            kind = None
        if kind is None:
            texts = [None if value is None else json.dumps(_packed(value), ensure_ascii=False) for value in values]
            arrays.append(pa.array(texts, pa.large_string()))
            fields.append(pa.field(str(place), pa.large_string(), metadata=_TAGGED))
        else:
            arrays.append(pa.array(values, kind))
            fields.append(pa.field(str(place), kind))
    return pa.record_batch(arrays, schema=pa.schema(fields))


def decode(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The rows that went into `encode`."""
    columns = []
    for place, field in enumerate(table.schema):
        values = table.column(place).to_pylist()
        if field.metadata == _TAGGED:
            values = [None if value is None else _unpacked(json.loads(value)) for value in values]
        columns.append(values)
    return zip(*columns, strict=True)


def _fit(values: Sequence[int | None]) -> bool:
    present = [value for value in values if value is not None]
    return min(present) >= -(2**63) and max(present) < 2**63


def _packed(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return ["list", [_packed(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[_packed(key), _packed(item)] for key, item in value.items()]]
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", base64.b64encode(value).decode("ascii")]
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return [type(value).__name__, value.isoformat()]
    return ["Decimal" if isinstance(value, Decimal) else "UUID" if isinstance(value, UUID) else "text", str(value)]


_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "bytes": base64.b64decode,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "Decimal": Decimal,
    "UUID": UUID,
    "text": str,
}


def _unpacked(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, content = value
    if kind == "list":
        return [_unpacked(item) for item in content]
    if kind == "dict":
        return {_unpacked(key): _unpacked(item) for key, item in content}
    return _FROM_TEXT[kind](content)
