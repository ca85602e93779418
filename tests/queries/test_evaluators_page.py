"""The page of evaluators says what their files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.evaluate.document import evaluators_page, prose
from spanscore.evaluate.header import Evaluator

PAGE = Path(__file__).parents[2] / "docs" / "evaluators.md"


def test_the_page_is_up_to_date() -> None:
    """Make it so with `python -m spanscore.evaluate.document docs/evaluators.md`."""
    assert evaluators_page() == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("evaluator", shipped_catalogue().evaluators, ids=lambda evaluator: evaluator.id)
def test_every_evaluator_says_what_it_counts_and_what_null_means(evaluator: Evaluator) -> None:
    text = " ".join(prose(evaluator.sql))

    assert text
    assert "NULL" in text or "not_applicable_reason" not in evaluator.sql or "not applicable" in text.lower()


def test_prose_ends_where_the_statement_begins() -> None:
    sql = "-- /// evaluator\n-- id = 'x'\n-- ///\n--\n-- One\n-- line.\n--\n-- Two.\nselect 1 -- not this\n"

    assert prose(sql) == ["One line.", "Two."]
