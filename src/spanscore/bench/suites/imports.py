"""Suites of other programs as suites of ours: ADK evaluation sets, and plain JSON lists of cases."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spanscore.bench.suites.adk import adk_cases, is_adk
from spanscore.bench.suites.document import read_document
from spanscore.bench.suites.load import as_text, validated
from spanscore.errors import SuiteInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spanscore.bench.suites.document import Place
    from spanscore.bench.suites.model import Suite

PLAIN_STEP_CAP = 6
"""Step cap that plain suites have without saying so [steps]."""

# Plain suites call fields of ours by these names too; the first that is there counts.
_OTHER_NAMES = {"id": ("case_id", "task_id"), "input": ("question", "query", "prompt", "task")}
_SAME_FIELDS = (
    "category",
    "tags",
    "expected_tools",
    "expected_calls",
    "expected_steps",
    "expected_agent",
    "acceptable_agents",
    "expected_sources",
    "checks",
    "reference",
    "optimal_steps",
    "step_cap",
    "unanswerable",
)
_ABOUT = ("name", "version", "description", "step_cap", "defaults", "thresholds")
_UNANSWERABLE = ("unanswerable", "nonsense")


@dataclass(slots=True)
class Draft:
    """What a suite is made of, before it is checked."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    origins: list[Place] = field(default_factory=list)
    """Where each case stands in the file that it comes from."""
    about: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What of the file has no place in a suite of ours."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A suite, and what was left out or added on the way."""

    suite: Suite
    notes: tuple[str, ...]


def import_suite(path: Path, *, name: str | None = None, version: str | None = None) -> Imported:
    """The suite that a file of another program amounts to.

    Args:
        path: an ADK evaluation set, or JSON or YAML with a list of cases.
        name: of the suite; None = as the file says, or is called.
        version: of the suite; None = as the file says.

    Raises:
        SuiteInvalid: the file cannot be read, or is neither; every problem is named with its line.
    """
    document = read_document(path)
    if document.problems:
        raise SuiteInvalid(as_text(path, document.problems))
    draft = Draft()
    if is_adk(document.value):
        adk_cases(document.value, draft)
    else:
        _plain_cases(path, document.value, draft)
    if not draft.cases:
        raise SuiteInvalid([f"{path}: there is no case to import.", *draft.notes])
    given = {"name": name, "version": version}
    raw = {
        "name": re.sub(r"\.(?:evalset|test)$", "", path.stem),
        **draft.about,
        **{key: value for key, value in given.items() if value is not None},
        "cases": draft.cases,
    }
    return Imported(validated(path, document, raw, draft.origins), tuple(draft.notes))


def _plain_cases(path: Path, value: Any, draft: Draft) -> None:
    cases = value.get("cases") if isinstance(value, dict) else value
    if not isinstance(cases, list):
        advice = 'Expected {"eval_set_id": …, "eval_cases": […]}, {"cases": […]} or a list of cases.'
        raise SuiteInvalid([f"{path}:1: this is neither an ADK evaluation set nor a list of cases.\n  {advice}"])
    top: Place = ("cases",) if isinstance(value, dict) else ()
    if isinstance(value, dict):
        draft.about = {key: value[key] for key in _ABOUT if key in value}
        draft.notes += _left_out("the suite", (key for key in value if key not in (*_ABOUT, "cases")))
    if "step_cap" not in draft.about:
        draft.about["step_cap"] = PLAIN_STEP_CAP
        draft.notes.append(f"step_cap is {PLAIN_STEP_CAP}, as plain suites have it.")
    for index, case in enumerate(cases):
        draft.origins.append((*top, index))
        draft.cases.append(_plain_case(case, draft) if isinstance(case, dict) else case)


def _plain_case(case: dict[str, Any], draft: Draft) -> dict[str, Any]:
    used = {"must_contain", "must_not_contain", *_SAME_FIELDS}
    raw: dict[str, Any] = {}
    for name, others in _OTHER_NAMES.items():
        found = next((other for other in (name, *others) if other in case), None)
        if found is not None:
            raw[name] = case[found]
            used.add(found)
    # What plain suites leave null, they leave open.
    raw |= {key: case[key] for key in _SAME_FIELDS if case.get(key) is not None}
    checks = [
        {"kind": kind, "value": case[key]}
        for key, kind in (("must_contain", "contains"), ("must_not_contain", "excludes"))
        if case.get(key)
    ]
    if checks:
        raw["checks"] = [*checks, *(raw["checks"] if isinstance(raw.get("checks"), list) else ())]
    shown = f"case `{raw.get('id')}`"
    if "unanswerable" not in raw and raw.get("category") in _UNANSWERABLE:
        raw["unanswerable"] = True
        draft.notes.append(f"{shown} is unanswerable, going by its category.")
    draft.notes += _left_out(shown, (key for key in case if key not in used))
    return raw


def _left_out(of: str, keys: Iterator[str]) -> list[str]:
    names = ", ".join(f"`{key}`" for key in keys)
    return [f"{of}: {names} left out: a suite has no place for it."] if names else []
