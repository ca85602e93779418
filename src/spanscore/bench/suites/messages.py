"""What pydantic finds wrong with a suite, in words: where, what it is, what it must be."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from spanscore.bench.suites.checks import KINDS
from spanscore.bench.suites.contradictions import Contradictions
from spanscore.bench.suites.model import Case, Defaults, ExpectedCall, Fault, Suite, Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import BaseModel, ValidationError

    from spanscore.bench.suites.document import Place

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
    "invalid-json-value": "a value of JSON",
}
_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}
_LISTS: dict[str, type[BaseModel]] = {"cases": Case, "expected_calls": ExpectedCall, "faults": Fault}
_SHOWN = 60


def errors_of(error: ValidationError, raw: object) -> Iterator[tuple[Place, str]]:
    """Place and text of everything wrong, in the order of the file.

    Args:
        error: of the validation of `raw` as a suite.
        raw: what was validated.
    """
    for detail in error.errors(include_url=False):
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, Contradictions):
            yield from ((one.place, about(one.place, raw) + one.text) for one in cause.found)
        else:
            place = tuple(detail["loc"])
            yield place, about(place, raw) + _text(detail, place)


def about(place: Sequence[str | int], raw: object) -> str:
    """The field in question, after the case that it belongs to."""
    steps = list(_without_kinds(place))
    case = ""
    if len(steps) >= 2 and steps[0] == "cases":
        case = f"case {_name_of_case(raw, steps[1])}: "
        steps = steps[2:]
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return f"{case}`{path}`: " if path else case


def _without_kinds(place: Sequence[str | int]) -> Iterator[str | int]:
    """Pydantic names the kind of a check after its position in the list, where the file has no such step."""
    for before, step in zip((None, *place), place, strict=False):
        if not (isinstance(before, int) and step in KINDS):
            yield step


def _name_of_case(raw: object, index: str | int) -> str:
    case = raw["cases"][index] if isinstance(raw, dict) and isinstance(index, int) else None
    name = case.get("id") if isinstance(case, dict) else None
    return f"`{_shown(name)}`" if isinstance(name, str) and name else f"{index + 1}" if isinstance(index, int) else ""


def _text(detail: Mapping[str, Any], place: Place) -> str:
    kind, given = detail["type"], detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "missing":
        return "it is missing."
    if kind == "extra_forbidden":
        return _unknown_field(place)
    if kind in _WANTED:
        advice = ""
        if kind == "string_type" and isinstance(given, bool | int | float):
            word = str(given).lower() if isinstance(given, bool) else str(given)
            advice = f'\n  Put it in quotes: "{_shown(word)}".'
        return f"it must be {_WANTED[kind]}, and is {_is(given)}.{advice}"
    if kind in ("literal_error", "union_tag_invalid"):
        allowed = context.get("expected") or context.get("expected_tags")
        value = context.get("tag", given)
        return f"`{_shown(str(value))}` is none of {str(allowed).replace(chr(39), '`')}."
    if kind == "union_tag_not_found":
        return f"it needs a `kind`: {', '.join(f'`{name}`' for name in KINDS)}."
    if kind in ("too_short", "string_too_short"):
        return "it is empty."
    if kind == "string_too_long":
        return f"it is longer than {context.get('max_length')} characters."
    if kind in _BOUNDS:
        return f"`{given}` is out of range: it must be {_BOUNDS[kind]} {next(iter(context.values()))}."
    if kind == "value_error":
        return f"it {context.get('error')}."
    return f"{detail['msg']}."


def _unknown_field(place: Place) -> str:
    known = _fields_at(place[:-1])
    name = str(place[-1])
    close = get_close_matches(name, known, n=1)
    advice = f"Did you mean `{close[0]}`?" if close else f"There are {', '.join(f'`{field}`' for field in known)}."
    return f"no such field.\n  {advice}"


def _fields_at(place: Place) -> list[str]:
    """Names of the fields that the mapping at `place` may have."""
    model: type[BaseModel] = Suite
    for before, step in zip((None, *place), place, strict=False):
        if isinstance(step, int):
            model = _LISTS.get(str(before), model)
        elif isinstance(before, int) and step in KINDS:
            model = KINDS[str(step)]
        elif step == "defaults":
            model = Defaults
        elif before == "thresholds":
            model = Threshold
    return list(model.model_fields)


def _is(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
