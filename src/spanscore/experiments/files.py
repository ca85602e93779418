"""JSON files for version control: keys in a fixed order, what is short on one line, so that diffs read well."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from spanscore.errors import InputError, UsageError

Parsed = TypeVar("Parsed")

DIGITS = 9
"""Of a number in a file."""

# An object of plain values that takes no more stands on one line [characters].
_SHORT = 180


def dump(document: Mapping[str, Any]) -> str:
    """The document as JSON text: two spaces, keys as they come; lists and short objects of plain values on one line."""
    return "".join(_pieces(document, "")) + "\n"


def _pieces(value: Any, indent: str) -> Iterator[str]:
    inner = f"{indent}  "
    if isinstance(value, Mapping) and value and not _is_short(value):
        for number, (key, item) in enumerate(value.items()):
            yield f"{'{' if number == 0 else ','}\n{inner}{json.dumps(key, ensure_ascii=False)}: "
            yield from _pieces(item, inner)
        yield f"\n{indent}}}"
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping | list | tuple) for item in value):
        for number, item in enumerate(value):
            yield f"{'[' if number == 0 else ','}\n{inner}"
            yield from _pieces(item, inner)
        yield f"\n{indent}]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)


def _is_short(value: Mapping[str, Any]) -> bool:
    if any(isinstance(item, Mapping | list | tuple) for item in value.values()):
        return False
    return len(json.dumps(value, ensure_ascii=False)) <= _SHORT


def rounded(value: float | None) -> float | None:
    """A number to nine digits: more are noise of floating point."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) else short


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Put the document in the place of the file, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(dump(document), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}.\n  Name another file.") from error
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path, *, kind: str, schema: int, parse: Callable[[dict[str, Any]], Parsed], remedy: str) -> Parsed:
    """What `parse` makes of the file.

    Args:
        path: of the file.
        kind: that its key `kind` must name.
        schema: the newest `schema_version` that is understood.
        parse: of the document.
        remedy: what to do when there is no such file.

    Raises:
        InputError: it is missing, no JSON, or not such a file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no file `{path}`.\n  {remedy}") from None
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"`{path}` is no JSON: {error}\n  Take it from version control again.") from error
    if not isinstance(document, dict) or document.get("kind") != kind:
        raise InputError(f'`{path}` is no file of this kind: its `kind` is not "{kind}".\n  {remedy}')
    version = document.get("schema_version")
    if not isinstance(version, int) or version > schema:
        raise InputError(
            f"`{path}` has schema_version {version}, and this spanscore knows {schema}.\n  Use a newer spanscore."
        )
    try:
        return parse(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"`{path}` is damaged: {type(error).__name__} {error}.\n  Take it from version control again."
        ) from error
