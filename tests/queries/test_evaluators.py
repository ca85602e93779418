"""Every evaluator that ships keeps its contract, and every case of it comes out as written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanscore.evaluate.cases import case_files, read_case, run_case
from spanscore.evaluate.catalogue import QUESTIONS, shipped_catalogue
from spanscore.evaluate.contract import check
from spanscore.evaluate.header import Evaluator
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.evaluation import EvaluationSession, empty_store

CASES = Path(__file__).with_name("evaluators")
LEAST_CASES = 3
LONGEST = 120

CATALOGUE = shipped_catalogue()
BY_ID = {evaluator.id: evaluator for evaluator in CATALOGUE.evaluators}
CASE_FILES = [(evaluator, path) for evaluator in CATALOGUE.evaluators for path in case_files(evaluator, folder=CASES)]


@pytest.fixture(scope="module")
def empty() -> Iterator[EvaluationSession]:
    with empty_store(macros=EVALUATOR_MACROS) as session:
        yield session


def test_every_shipped_file_is_an_evaluator() -> None:
    assert [problem for broken in CATALOGUE.broken for problem in broken.problems] == []
    assert BY_ID


def test_every_shipped_evaluator_answers_one_question_under_one_id() -> None:
    assert {evaluator.question for evaluator in CATALOGUE.evaluators} <= set(QUESTIONS)
    assert len(BY_ID) == len(CATALOGUE.evaluators)


@pytest.mark.parametrize("evaluator", CATALOGUE.evaluators, ids=lambda evaluator: evaluator.id)
def test_a_shipped_evaluator_keeps_the_contract(evaluator: Evaluator, empty: EvaluationSession) -> None:
    assert check(evaluator, empty) == []
    assert evaluator.sql.count("\n") <= LONGEST


@pytest.mark.parametrize("evaluator", CATALOGUE.evaluators, ids=lambda evaluator: evaluator.id)
def test_a_shipped_evaluator_has_cases_and_one_in_which_it_does_not_apply(evaluator: Evaluator) -> None:
    expected: list[Any] = []
    paths = case_files(evaluator, folder=CASES)
    for path in paths:
        expected.extend(read_case(path, evaluator).expect)

    assert len(paths) >= LEAST_CASES
    # An evaluator without that column says that it always applies.
    assert "not_applicable_reason" not in evaluator.sql or any("not_applicable_reason" in row for row in expected)
    assert any("score_value" in row for row in expected)


@pytest.mark.parametrize(
    ("evaluator", "path"), CASE_FILES, ids=[f"{evaluator.id}-{path.stem}" for evaluator, path in CASE_FILES]
)
def test_case(evaluator: Evaluator, path: Path, empty: EvaluationSession) -> None:
    assert run_case(read_case(path, evaluator), evaluator, empty) == []


def test_every_case_belongs_to_an_evaluator() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir()} <= BY_ID.keys()
