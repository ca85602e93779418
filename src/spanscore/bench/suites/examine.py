"""Examines suite files one by one: all that is wrong, and what is only odd."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.bench.suites.load import load_suite, threshold_problems
from spanscore.errors import SuiteInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from spanscore.bench.suites.model import Suite


@dataclass(frozen=True, slots=True)
class Examined:
    """A suite file and what was found."""

    path: Path
    suite: Suite | None
    """None when it cannot be used."""
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    """What is right and may yet not be meant."""


def examine(paths: Sequence[Path], *, units: Mapping[str, str]) -> list[Examined]:
    """Every file, in order.

    Args:
        paths: of the files.
        units: unit of every evaluator by its id, for the thresholds.
    """
    return [_examined(path, units) for path in paths]


def _examined(path: Path, units: Mapping[str, str]) -> Examined:
    try:
        suite = load_suite(path)
    except SuiteInvalid as error:
        return Examined(path, None, error.problems, ())
    problems = tuple(f"{path}: {text}" for text in threshold_problems(suite, units))
    return Examined(path, suite, problems, tuple(f"{path}: {text}" for text in _notes(suite)))


def _notes(suite: Suite) -> Iterator[str]:
    if suite.version is None:
        yield "it has no version: runs before and after a change of the cases cannot be told apart."
    same: dict[str, list[str]] = {}
    for case in suite.cases:
        same.setdefault(comparable_text(case.input), []).append(case.id)
    for ids in same.values():
        if len(ids) > 1:
            names = ", ".join(f"`{name}`" for name in ids)
            yield f"cases {names} ask the same: only runs that carry a case id can be told apart."


def comparable_text(text: str) -> str:
    """What of an input counts when a run without a case id is matched: as `queries/evaluation/run_cases.sql` has it."""
    return unicodedata.normalize("NFC", " ".join(text.split())).lower()
