"""Reads evaluator files: the TOML header in comments, the prose after it, and one SELECT."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import EvaluatorInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN = "own"
"""Question of the evaluators that do not come with spanscore."""

SUBJECT_COLUMNS: Mapping[str, str] = {
    "run": "run_id",
    "agent_invocation": "agent_invocation_id",
    "llm_call": "llm_call_id",
    "tool_call": "tool_call_id",
    "handoff": "handoff_id",
    "session": "session_id",
}
"""Grain -> the column that says which one is scored."""

UNITS = ("ratio", "boolean", "count", "calls", "tokens", "s", "usd")
DIRECTIONS = ("higher", "lower", "none")
PARAMETER_TYPES: Mapping[str, tuple[type, ...]] = {
    "BIGINT": (int,),
    "DOUBLE": (int, float),
    "VARCHAR": (str,),
    "BOOLEAN": (bool,),
}

_OPENING = re.compile(r"--\s*///\s*evaluator\s*")
_CLOSING = re.compile(r"--\s*///\s*")
_WORD = re.compile(r"[a-z][a-z0-9_]*")
_TOML_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)")
_REQUIRED = ("id", "title", "grain", "unit", "better")
_KEYS = {*_REQUIRED, "sources", "tags", "needs", "overrides", "params"}
_PARAMETER_KEYS = {"type", "unit", "default", "doc"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A `$name` of the SELECT. `default` None binds NULL."""

    name: str
    type: str
    default: bool | int | float | str | None
    unit: str | None
    doc: str


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One evaluator file. `sha256` is of its bytes, lower-case hex; `sql` is the whole file, comments included."""

    id: str
    title: str
    grain: str
    unit: str
    better: str
    path: Path
    question: str
    sha256: str
    sql: str
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    overrides: str | None = None
    params: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def subject_column(self) -> str:
        """The output column that says what a row scores."""
        return SUBJECT_COLUMNS[self.grain]

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with spanscore."""
        return self.question != OWN

    @property
    def defaults(self) -> dict[str, Any]:
        """What its parameters are bound to when nobody says otherwise."""
        return {name: parameter.default for name, parameter in self.params.items()}

    def bound(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The defaults, with `chosen` in their place.

        Raises:
            EvaluatorInvalid: it has no such parameter, or the value has another type.
        """
        values = self.defaults
        problems = []
        for name, value in chosen.items():
            parameter = self.params.get(name)
            if parameter is None:
                known = ", ".join(f"`{known}`" for known in self.params) or "none"
                problems.append(f"`{self.id}` has no parameter `{name}`.\n  It has: {known}.")
            elif not _has_type(value, parameter.type):
                problems.append(f"`{self.id}.{name}` is a {parameter.type}, and {value!r} is not.")
            else:
                values[name] = _typed(value, parameter.type)
        if problems:
            raise EvaluatorInvalid(problems)
        return values


def read_evaluator(path: Path, *, question: str = OWN) -> Evaluator:
    """The evaluator in the file `path`.

    Raises:
        EvaluatorInvalid: with everything that is wrong with its header.
    """
    try:
        content = path.read_bytes()
        text = content.decode("utf-8")
    except OSError as error:
        raise EvaluatorInvalid([f"{path}: the file cannot be read: {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        raise EvaluatorInvalid([f"{path}: the file is not UTF-8: {error.reason} at byte {error.start}."]) from error
    header = _Header(path, text.splitlines())
    document = header.document()
    problems = list(header.problems(document))
    if problems:
        raise EvaluatorInvalid(problems)
    return Evaluator(
        id=document["id"],
        title=document["title"],
        grain=document["grain"],
        unit=document["unit"],
        better=document["better"],
        path=path,
        question=question,
        sha256=hashlib.sha256(content).hexdigest(),
        sql=text,
        sources=tuple(document.get("sources", ())),
        tags=tuple(document.get("tags", ())),
        needs=tuple(document.get("needs", ())),
        overrides=document.get("overrides"),
        params={name: _parameter(name, fields) for name, fields in document.get("params", {}).items()},
    )


def _parameter(name: str, fields: Mapping[str, Any]) -> Parameter:
    default = fields.get("default")
    return Parameter(
        name=name,
        type=fields["type"],
        default=None if default is None else _typed(default, fields["type"]),
        unit=fields.get("unit"),
        doc=fields["doc"],
    )


def _has_type(value: object, kind: str) -> bool:
    # In Python a boolean is an int, and TOML knows inf and nan.
    if isinstance(value, bool):
        return kind == "BOOLEAN"
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False
    return isinstance(value, PARAMETER_TYPES[kind])


def _typed(value: Any, kind: str) -> Any:
    return float(value) if kind == "DOUBLE" else value


class _Header:
    """The comment block between `-- /// evaluator` and `-- ///`, and where in the file its keys stand."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path = path
        first = next((number for number, line in enumerate(lines) if _OPENING.fullmatch(line)), None)
        if first is None:
            advice = "Begin the file with the line `-- /// evaluator`; `spanscore evaluators new ID` writes a skeleton."
            raise EvaluatorInvalid([f"{path}:1: there is no evaluator header.\n  {advice}"])
        last = next((number for number in range(first + 1, len(lines)) if _CLOSING.fullmatch(lines[number])), None)
        if last is None:
            raise EvaluatorInvalid([f"{path}:{first + 1}: the header has no end.\n  Close it with the line `-- ///`."])
        self.offset = first + 2
        """Line of the file on which the first line of the TOML stands."""
        self.lines = []
        for number, line in enumerate(lines[first + 1 : last], start=self.offset):
            if not line.startswith("--"):
                raise EvaluatorInvalid([f"{path}:{number}: a line of the header does not begin with `--`."])
            self.lines.append(line[2:].removeprefix(" "))

    def document(self) -> dict[str, Any]:
        """The header as TOML."""
        try:
            return tomllib.loads("\n".join(self.lines))
        except tomllib.TOMLDecodeError as error:
            place = _TOML_PLACE.search(str(error))
            line = self.offset + (int(place[1]) if place else len(self.lines)) - 1
            reason = _TOML_PLACE.sub("", str(error))
            raise EvaluatorInvalid([f"{self.path}:{line}: the header is not TOML: {reason}."]) from error

    def line_of(self, key: str, table: str = "") -> int:
        """Line of the file on which `key` of `table` is set; the first line of the header when it is nowhere."""
        current = ""
        for number, line in enumerate(self.lines, start=self.offset):
            heading = re.fullmatch(r"\s*\[([^\[\]]+)\]\s*(#.*)?", line)
            if heading:
                current = heading[1].replace(" ", "").replace('"', "")
                if key == "" and f"{current}.".startswith(f"{table}."):
                    return number
            elif key and current == table and re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line):
                return number
        return self.offset - 1

    def problems(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Everything that is wrong with the header, with its line."""
        for line, text in sorted(self._found(document)):
            yield f"{self.path}:{line}: {text}"

    def _found(self, document: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
        for key in document.keys() - _KEYS:
            line = max(self.line_of(key), self.line_of("", key))
            yield line, f"unknown key `{key}`.\n  Known keys: {', '.join(sorted(_KEYS))}."
        for key in _REQUIRED:
            if key not in document:
                yield self.offset - 1, f"the key `{key}` is missing."
            elif not isinstance(document[key], str) or not document[key].strip():
                yield self.line_of(key), f"`{key}` must be a text."
        yield from self._identity(document)
        for key, allowed in (("grain", tuple(SUBJECT_COLUMNS)), ("unit", UNITS), ("better", DIRECTIONS)):
            value = document.get(key)
            if isinstance(value, str) and value.strip() and value not in allowed:
                yield self.line_of(key), f"{key} `{value}` is none of: {', '.join(allowed)}."
        for key in ("sources", "tags", "needs"):
            value = document.get(key, [])
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                yield self.line_of(key), f"`{key}` must be a list of texts."
        parameters = document.get("params", {})
        if not isinstance(parameters, dict):
            yield self.line_of("params"), "`params` must be tables: [params.<name>]."
            return
        for name, fields in parameters.items():
            yield from self._parameter(name, fields)

    def _identity(self, document: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
        name = document.get("id")
        if not isinstance(name, str) or not name.strip():
            return
        if _WORD.fullmatch(name) is None:
            yield self.line_of("id"), f"id `{name}` must be lower-case letters, digits and `_`."
        if name != self.path.stem:
            yield self.line_of("id"), f"id `{name}` is not the name of the file.\n  Name the file `{name}.sql`."
        overrides = document.get("overrides")
        if overrides is not None and overrides != name:
            yield (
                self.line_of("overrides"),
                f"overrides `{overrides}` is not the id of this evaluator.\n  It replaces one with its own id.",
            )

    def _parameter(self, name: str, fields: object) -> Iterator[tuple[int, str]]:
        table = f"params.{name}"
        line = self.line_of("", table)
        if _WORD.fullmatch(name) is None:
            yield line, f"parameter name `{name}` must be lower-case letters, digits and `_`."
        if not isinstance(fields, dict):
            yield self.line_of(name, "params"), f'`{name}` must be a table: [{table}]  type = "BIGINT"  doc = "…"'
            return
        for key in fields.keys() - _PARAMETER_KEYS:
            yield self.line_of(key, table), f"unknown key `{key}` of parameter `{name}`."
        for key in ("type", "doc"):
            if key not in fields:
                yield line, f"parameter `{name}` has no `{key}`."
        for key in ("doc", "unit"):
            if key in fields and not isinstance(fields[key], str):
                yield self.line_of(key, table), f"`{key}` of parameter `{name}` must be a text."
        kind = fields.get("type")
        if kind is None:
            return
        if not isinstance(kind, str) or kind not in PARAMETER_TYPES:
            known = ", ".join(PARAMETER_TYPES)
            yield self.line_of("type", table), f"type `{kind}` of parameter `{name}` is none of: {known}."
        elif "default" in fields and not _has_type(fields["default"], kind):
            yield self.line_of("default", table), f"default {fields['default']!r} of parameter `{name}` is no {kind}."
