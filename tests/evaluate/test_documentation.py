"""The page for authors of evaluators: its example works, and it names every key, column and table there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanscore.evaluate import header, read_evaluator
from spanscore.evaluate.cases import read_case, run_case
from spanscore.evaluate.catalogue import find_evaluators
from spanscore.evaluate.contract import TEXT_COLUMNS, check
from spanscore.store.evaluation import SCOPED_TABLES, EvaluationSession

PAGE = Path(__file__).parents[2] / "docs" / "writing-evaluators.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_example_keeps_the_contract_and_its_case_passes(tmp_path: Path, empty: EvaluationSession) -> None:
    (sql,) = blocks("sql")
    case = blocks("toml")[0]
    path = tmp_path / "slow_search.sql"
    path.write_text(sql, encoding="utf-8")
    evaluator = read_evaluator(path)
    (tmp_path / "case.toml").write_text(case, encoding="utf-8")

    assert check(evaluator, empty) == []
    assert run_case(read_case(tmp_path / "case.toml", evaluator), evaluator, empty) == []


def test_the_settings_of_the_page_are_understood(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "slow_search.sql").write_text(blocks("sql")[0], encoding="utf-8")
    (tmp_path / "spanscore.toml").write_text(blocks("toml")[1], encoding="utf-8")
    catalogue = find_evaluators(tmp_path)

    assert catalogue.bound({})["slow_search"] == {"most_seconds": 5.0}


@pytest.mark.parametrize(
    "words",
    [
        ("id", "title", "better", "sources", "tags", "needs", "overrides"),
        header.UNITS,
        header.DIRECTIONS,
        tuple(header.SUBJECT_COLUMNS),
        tuple(header.SUBJECT_COLUMNS.values()),
        tuple(header.PARAMETER_TYPES),
        (*TEXT_COLUMNS, "score_value", "evidence"),
        SCOPED_TABLES,
    ],
    ids=lambda words: words[0],
)
def test_the_page_names_all_there_is(words: tuple[str, ...]) -> None:
    assert [word for word in words if f"`{word}`" not in TEXT] == []
