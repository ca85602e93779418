"""Checks evaluators and runs their cases: what `evaluators check` and `evaluators test` do, and our own tests."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.errors import UsageError
from spanscore.evaluate import cases, contract
from spanscore.evaluate.catalogue import find_evaluators
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.contained.evaluation import contained_empty_store
from spanscore.store.evaluation import empty_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from spanscore.evaluate.contract import Session
    from spanscore.evaluate.header import Evaluator

# An evaluator that takes longer over the few rows of a case will not end.
_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Examined:
    """One evaluator file and what was found."""

    id: str
    path: Path
    problems: tuple[str, ...]
    """What is wrong with the evaluator."""
    cases: int = 0
    """Cases that were run [count]."""
    failures: tuple[str, ...] = ()
    """What did not come out as its cases say."""


def examine(folder: Path, *, selection: Sequence[str], with_cases: bool) -> list[Examined]:
    """Checks the evaluators in `selection`; without any, those of the user.

    Args:
        folder: where `evals/` and `spanscore.toml` are looked for.
        selection: ids, questions, files or folders.
        with_cases: whether to run the cases beside each evaluator.

    Raises:
        UsageError: there is nothing to check.
    """
    catalogue = find_evaluators(folder, selection=selection)
    evaluators = [one for one in catalogue.evaluators if selection or not one.is_shipped]
    examined = [Examined(one.id, one.path, one.problems) for one in catalogue.broken]
    if not evaluators and not examined:
        raise UsageError(
            "There is no evaluator to look at.\n"
            "  Name files, folders or ids, or write one with `spanscore evaluators new ID`."
        )
    with ExitStack() as stack:
        sessions: dict[bool, Session] = {}
        for evaluator in evaluators:
            if evaluator.is_shipped not in sessions:
                sessions[evaluator.is_shipped] = stack.enter_context(_empty(evaluator))
            empty = sessions[evaluator.is_shipped]
            problems = tuple(contract.check(evaluator, empty))
            paths = cases.case_files(evaluator) if with_cases and not problems else []
            failures = [failure for _, found in cases.check_cases(evaluator, paths, empty) for failure in found]
            examined.append(Examined(evaluator.id, evaluator.path, problems, len(paths), tuple(failures)))
    return examined


def _empty(evaluator: Evaluator) -> AbstractContextManager[Session]:
    """An empty store: what ships runs here, what a user wrote in a process of its own."""
    make = empty_store if evaluator.is_shipped else contained_empty_store
    return make(macros=EVALUATOR_MACROS, timeout_s=_TIMEOUT_S)
