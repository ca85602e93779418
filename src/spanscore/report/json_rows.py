"""Rows as one JSON array of objects, written as they come, numbers exact."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_JSON_TYPE = "JSON"


def json_array(names: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The pieces of a JSON array, one object per row, one row per line.

    Integers and decimals keep every digit, NaN and infinities are null, bytes are base64, and a value of
    DuckDB's type JSON stands as the JSON it is.

    Args:
        names: of the columns, all different.
        types: of the columns, as DuckDB names them.
        rows: values as `spanscore.store.query` gives them.
    """
    keys = [json.dumps(name, ensure_ascii=False) for name in names]
    is_json = [kind == _JSON_TYPE for kind in types]
    separator = "["
    for row in rows:
        members = (
            f"{key}: {_document(value) if nested else _text(value)}"
            for key, value, nested in zip(keys, row, is_json, strict=True)
        )
        yield f"{separator}\n  {{{', '.join(members)}}}"
        separator = ","
    yield "[]\n" if separator == "[" else "\n]\n"


def json_value(value: Any, kind: str) -> str:
    """One value as JSON text, as in `json_array`."""
    return _document(value) if kind == _JSON_TYPE else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else "null"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return json.dumps(_plain(value), ensure_ascii=False)


def _key(key: Any) -> str:
    return json.dumps(key if isinstance(key, str) else str(_plain(key)), ensure_ascii=False)


def _plain(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _document(value: str | None) -> str:
    """JSON text as it stands; with what JSON does not know (NaN) made null; text that is no JSON as a string."""
    if value is None:
        return "null"
    import orjson

    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        pass
    else:
        return value
    try:
        return _text(json.loads(value))
    except (ValueError, RecursionError):
        return json.dumps(value, ensure_ascii=False)
