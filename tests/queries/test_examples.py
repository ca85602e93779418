"""The saved queries: each answers its question on the bundled traces, with the columns that it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanscore.evaluate import evaluate_store, store_evaluation
from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.evaluate.macros import macros_used
from spanscore.ingest import ingest_files
from spanscore.store import Store, read_session, run_query
from spanscore.store.evaluation import Scope, create_macros
from spanscore.store.examples import example, examples

DEMO = Path(__file__).parents[2] / "src" / "spanscore" / "demo_data"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("examples") / "store"
    ingest_files([DEMO], directory)
    store_evaluation(directory, evaluate_store(directory, shipped_catalogue(), scope=Scope()))
    return directory


def rows(store: Path, sql: str) -> tuple[list[str], list[dict[str, object]]]:
    """The columns of a query, and its rows by column."""
    with read_session(store) as session:
        create_macros(session, macros_used(sql))
        result = run_query(session, sql)
        names = [column.name for column in result.columns]
        return names, [dict(zip(names, row, strict=True)) for row in result.rows]


EXPECTED = {
    "cache_hits_by_model": ("model", "gpt-4o-mini-2024-07-18"),
    "conversations_that_got_worse": ("session_id", "sess-42"),
    "cost_by_agent_and_day": ("agent_name", "analyst"),
    "dearest_runs": ("run_id", "87cac35c3d539f4db8e0f5978db52f95"),
    "handoff_loops": ("run_id", "54611c327883263e483c07d1eeaf6527"),
    "invented_figures": ("figure", "1,842"),
    "latency_by_hour": ("hour", "2026-11-29T20:00:00Z"),
    "prompts_in_use": ("agent_name", "analyst"),
    "repeated_tool_calls": ("tool_name", "get_weather"),
    "retries_that_succeeded": ("run_id", "4e433f56a8385c6905cb8e215116fed6"),
    "slowest_tools": ("tool_name", "lookup_price"),
    "tokens_in_failed_runs": ("failed_runs", 1),
    "tool_errors_by_message": ("message", "# upstream unavailable: rate service"),
    "unpriced_models": ("reason", "no_model"),
}
"""Name -> a column, and what must stand in it in some row."""


def test_every_saved_query_has_an_expectation() -> None:
    assert sorted(one.name for one in examples()) == sorted(EXPECTED)


def test_the_page_lists_them_all() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")

    assert [f"| `{one.name}` | {one.question} |" in page for one in examples()] == [True] * len(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_saved_query_answers_its_question(store: Path, name: str) -> None:
    saved = example(name)
    names, found = rows(store, saved.sql)
    column, value = EXPECTED[name]

    assert value in [row[column] for row in found]
    assert saved.question.endswith("?")
    # Each column stands in the text, in its place.
    places = [re.search(rf"\b{re.escape(one)}\b", saved.columns) for one in names]
    assert None not in places, (names, saved.columns)
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_saved_query_runs_on_an_empty_store(tmp_path: Path, name: str) -> None:
    Store.open(tmp_path).close()

    rows(tmp_path, example(name).sql)


def test_an_invented_figure_comes_with_its_sentence(store: Path) -> None:
    _, found = rows(store, example("invented_figures").sql)

    assert found[0]["sentence"] == (
        "There are 1,842 units in stock; order at https://deals.invalid-shop.example/a113-promo."
    )
