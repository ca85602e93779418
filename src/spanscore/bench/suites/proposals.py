"""Proposes cases from captured runs: what was asked, which tools ran, and which of their figures the answer states.

A proposal says what the agent did, not what is right: it is written to be edited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanscore.bench.suites.checks import is_name
from spanscore.bench.suites.model import Suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.store.cases import CapturedTask

LEAST_DIGITS = 3
MOST_FIGURES = 5
_ID_WORDS = 6
_LONGEST_ID = 60
_ANSWER_SHOWN = 200

# Digits with groups and decimals, not a part of a word, a date or a version.
_FIGURE = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w:/-]|[.,]\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A suite, and where each of its cases comes from."""

    suite: Suite
    notes: dict[str, str]
    """Comment on a case, by its id."""


def propose(name: str, tasks: Sequence[CapturedTask]) -> Proposal:
    """A suite called `name` with a case per task, in their order."""
    notes: dict[str, str] = {}
    cases: list[dict[str, Any]] = []
    for task in tasks:
        case_id = _free_id(_id_of(task.question), notes)
        cases.append(_case(case_id, task))
        notes[case_id] = "\n".join(_notes(task))
    return Proposal(Suite.model_validate({"name": name, "version": "1", "cases": cases}), notes)


def _case(case_id: str, task: CapturedTask) -> dict[str, Any]:
    case: dict[str, Any] = {"id": case_id, "input": task.question}
    if task.tools is not None and all(is_name(tool) for tool in task.tools):
        case["expected_tools"] = list(task.tools)
    figures = grounded_figures(task.answer or "", task.results)
    if figures:
        case["checks"] = [{"kind": "contains", "value": figures, "match": "all"}]
    return case


def _notes(task: CapturedTask) -> Iterator[str]:
    yield f"From run {task.run_id}" + (f" and {task.runs - 1} more that ask the same." if task.runs > 1 else ".")
    if task.tools is None:
        yield "These runs called different tools: say which are expected."
    if task.answer is not None:
        answer = " ".join(task.answer.split())
        shown = answer if len(answer) <= _ANSWER_SHOWN else f"{answer[:_ANSWER_SHOWN]}…"
        yield "It answered: " + "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)


def grounded_figures(answer: str, results: Sequence[str]) -> list[str]:
    """Figures of the answer that a tool gave in the same digits, in their order; groups aside. Years are none."""
    given = {_digits(figure) for result in results for figure in _FIGURE.findall(result)}
    figures = [
        figure
        for figure in _FIGURE.findall(answer)
        if len(_digits(figure)) >= LEAST_DIGITS and not _YEAR.fullmatch(figure) and _digits(figure) in given
    ]
    return list(dict.fromkeys(figures))[:MOST_FIGURES]


def _digits(figure: str) -> str:
    return figure.replace(",", "")


def _id_of(question: str) -> str:
    words = re.findall(r"[^\W_]+", question.lower())[:_ID_WORDS]
    return "-".join(words)[:_LONGEST_ID].strip("-") or "case"


def _free_id(wanted: str, taken: dict[str, str]) -> str:
    number = 1
    free = wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free
