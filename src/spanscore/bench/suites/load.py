"""Loads suite files, and says everything that is wrong with one at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from spanscore.bench.suites.contradictions import repeated_ids
from spanscore.bench.suites.document import Problem, read_document
from spanscore.bench.suites.messages import about, errors_of
from spanscore.bench.suites.model import Suite
from spanscore.errors import SuiteInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from spanscore.bench.suites.document import Document, Place

_UNIT_RATIOS = ("ratio", "boolean")


def load_suite(path: Path) -> Suite:
    """The suite in a YAML or JSON file.

    Raises:
        SuiteInvalid: the file cannot be read, or is no suite; every problem is named with its line.
    """
    document = read_document(path)
    if document.problems:
        raise SuiteInvalid(as_text(path, document.problems))
    if not _is_suite(document.value):
        raise SuiteInvalid([_no_suite(path, document.value)])
    return validated(path, document, document.value)


def validated(path: Path, document: Document, raw: Mapping[str, Any], origins: Sequence[Place] | None = None) -> Suite:
    """`raw` as a suite.

    Args:
        path: of the file, for messages.
        document: the file, for lines.
        raw: what the suite is made of.
        origins: place in the document of every case of `raw`; None = `raw` is the document.

    Raises:
        SuiteInvalid: it is none; every problem is named with its line.
    """
    try:
        return Suite.model_validate(raw)
    except ValidationError as error:
        found = list(_all_errors(error, raw))
    problems = [Problem(document.line_of(_origin(place, origins)), text) for place, text in found]
    raise SuiteInvalid(as_text(path, problems))


def as_text(path: Path, problems: Sequence[Problem]) -> list[str]:
    """Problems in the order of the file, each after its place."""
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: problem.line or 0)
    return [f"{path}:{'' if one.line is None else f'{one.line}:'} {one.text}" for one in ordered]


def threshold_problems(suite: Suite, units: Mapping[str, str]) -> list[str]:
    """What is wrong with the thresholds, given the evaluators that there are.

    Args:
        suite: with thresholds by evaluator.
        units: unit of every evaluator by its id.
    """
    problems = []
    for name, threshold in suite.thresholds.items():
        if name not in units:
            problems.append(
                f"`thresholds.{name}`: there is no evaluator of that name.\n"
                "  `spanscore evaluators list` names them all."
            )
        elif units[name] in _UNIT_RATIOS:
            problems += [
                f"`thresholds.{name}.{bound}`: {value:g} is no share: `{name}` is between 0 and 1."
                for bound, value in (("min", threshold.min), ("max", threshold.max))
                if value is not None and not 0 <= value <= 1
            ]
    return problems


def _all_errors(error: ValidationError, raw: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """The errors of the fields, then what the rest of the suite contradicts itself in.

    Pydantic looks for contradictions in a whole suite only: what is wrong is left out, and the rest looked at again.
    """
    found = list(errors_of(error, raw))
    yield from found
    broken_cases = {place[1] for place, _ in found if place[:1] == ("cases",) and len(place) > 1}
    broken_fields = {place[0] for place, _ in found if place and place[0] != "cases"}
    if not isinstance(raw.get("cases"), list):
        return
    ids = [case.get("id") if isinstance(case, dict) else None for case in raw["cases"]]
    yield from ((one.place, about(one.place, raw) + one.text) for one in repeated_ids(ids))
    kept = [index for index in range(len(raw["cases"])) if index not in broken_cases]
    rest = {key: value for key, value in raw.items() if key not in broken_fields}
    if not kept or (not broken_cases and not broken_fields):
        return
    again = {"name": "suite", **rest, "cases": [raw["cases"][index] for index in kept]}
    try:
        Suite.model_validate(again)
    except ValidationError as second:
        for place, text in errors_of(second, again):
            if place[:1] == ("cases",) and len(place) > 1 and isinstance(place[1], int):
                yield ("cases", kept[place[1]], *place[2:]), text
            else:
                yield place, text


def _origin(place: Place, origins: Sequence[Place] | None) -> Place:
    if origins is None:
        return place
    if place[:1] == ("cases",) and len(place) > 1 and isinstance(place[1], int):
        return (*origins[place[1]], *place[2:])
    return ()


def _is_suite(value: object) -> bool:
    """Whether this is meant as a suite of ours, however wrong: it says more than a list of cases that others have."""
    if not isinstance(value, dict):
        return False
    return "eval_cases" not in value and "evalCases" not in value and ("name" in value or not _is_plain(value))


def _is_plain(value: dict[str, Any]) -> bool:
    cases = value.get("cases")
    return isinstance(cases, list) and any(
        isinstance(case, dict) and ("must_contain" in case or "must_not_contain" in case) for case in cases
    )


def _no_suite(path: Path, value: object) -> str:
    if isinstance(value, dict | list) and value:
        return (
            f"{path}:1: this is no suite, and may be one of another program.\n"
            f"  Convert it with:  spanscore suite import {path} --output {path.stem}.yaml"
        )
    return f"{path}:1: this is no suite.\n  Write a mapping with `name` and `cases`; `docs/suites.md` shows one."
