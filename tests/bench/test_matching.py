"""Captured runs find their cases, and where several fit they find none."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from spanscore.bench.suites import Suite
from spanscore.bench.suites.examine import comparable_text
from spanscore.store import Store
from spanscore.store.cases import store_suite
from spanscore.store.evaluation import Scope, evaluation_session

PARIS = "What is the temperature in Paris?"
FRANCE = "What is the capital of France?"


def suite(name: str = "weather", version: str | None = "1", **cases: str) -> Suite:
    """A suite with a case per id and input."""
    listed = [{"id": case_id.replace("_", "-"), "input": text} for case_id, text in cases.items()]
    return Suite.model_validate({"name": name, "version": version, "cases": listed})


def matches(store: Path, asked_for: str | None = None) -> dict[str, tuple[str | None, ...]]:
    """Question of a run -> cases that its runs found, as suite/version/case; None where several fit."""
    with evaluation_session(store, Scope(suite=asked_for), macros=(), timeout_s=None) as session:
        rows = session.answer(
            """
            select runs.question, list(distinct cases.suite_name || '/' || cases.suite_version || '/' || cases.case_id)
            from spanscore.main.runs as runs
            inner join run_cases using (run_id)
            left join spanscore.main.cases as cases on cases.rowid = run_cases.case_row
            group by all
            """,
            {},
        ).rows
    return {question: tuple(found or [None]) for question, found in (row.values() for row in rows.to_pylist())}


def undecided(store: Path, asked_for: str | None = None) -> set[tuple[str, ...]]:
    with evaluation_session(store, Scope(suite=asked_for), macros=(), timeout_s=None) as session:
        return set(session.undecided_runs().values())


def keep(store: Any, *suites: Suite, changes: str | None = None) -> Path:
    for one in suites:
        store_suite(store, one)
    if changes is not None:
        store.connection.execute(changes)
    store.close()
    return Path(store.directory)


@pytest.mark.parametrize(
    "text",
    [
        PARIS,
        "  what IS the\n temperature\tin Paris? ",
        "What is the temperature in\N{NO-BREAK SPACE}Paris?",
        "What\N{EM SPACE}is the temperature in Paris?\N{IDEOGRAPHIC SPACE}",
    ],
)
def test_a_run_is_found_by_what_it_was_asked(text: str, captured: Store) -> None:
    assert matches(keep(captured, suite(paris=text, other="Something else?"))) == {PARIS: ("weather/1/paris",)}


@pytest.mark.parametrize("text", ["What is the temperature in Paris", "What is the temperature in Pariss?", "Paris?"])
def test_what_only_resembles_the_input_is_no_match(text: str, captured: Store) -> None:
    assert matches(keep(captured, suite(paris=text))) == {}


def test_accents_are_the_same_however_they_are_written(captured: Store) -> None:
    composed = unicodedata.normalize("NFC", "Où est Orléans ?")
    store = keep(
        captured,
        suite(orleans=unicodedata.normalize("NFD", composed.upper())),
        changes=f"update runs set question = '{composed}' where question = '{PARIS}'",
    )

    assert matches(store) == {composed: ("weather/1/orleans",)}


def test_the_case_id_decides_before_the_text(captured: Store) -> None:
    store = keep(
        captured,
        suite(paris=PARIS, asked="Anything?"),
        changes=f"update runs set case_id = 'asked' where question = '{PARIS}'",
    )

    assert matches(store) == {PARIS: ("weather/1/asked",)}


def test_an_unknown_case_id_leaves_the_text_to_decide(captured: Store) -> None:
    store = keep(captured, suite(paris=PARIS), changes="update runs set case_id = 'renamed', suite_name = 'weather'")

    assert matches(store) == {PARIS: ("weather/1/paris",)}


def test_a_run_of_another_suite_is_not_taken(captured: Store) -> None:
    store = keep(captured, suite(paris=PARIS), changes="update runs set suite_name = 'other'")

    assert matches(store) == {}
    assert matches(store, "weather") == {}


def test_two_cases_that_ask_the_same_find_no_run(captured: Store) -> None:
    store = keep(captured, suite(one=PARIS, two=PARIS.upper(), france=FRANCE))

    assert matches(store) == {PARIS: (None,), FRANCE: ("weather/1/france",)}
    assert undecided(store) == {("weather/one", "weather/two")}


def test_two_suites_that_ask_the_same_must_be_told_apart(captured: Store) -> None:
    store = keep(captured, suite("a", paris=PARIS), suite("b", paris=PARIS))

    assert undecided(store) == {("a/paris", "b/paris")}
    assert matches(store, "b") == {PARIS: ("b/1/paris",)}
    assert undecided(store, "b") == set()


def test_the_same_id_in_two_suites_is_settled_by_what_was_asked(captured: Store) -> None:
    store = keep(captured, suite("a", one=PARIS), suite("b", one=FRANCE), changes="update runs set case_id = 'one'")

    assert matches(store)[PARIS] == ("a/1/one",)
    assert matches(store)[FRANCE] == ("b/1/one",)


def test_the_version_that_a_run_names_counts_else_the_one_stored_last(captured: Store) -> None:
    store = keep(
        captured,
        suite(version="2", paris=PARIS, france=FRANCE),
        suite(version="1", paris=PARIS),
        changes=f"update runs set suite_name = 'weather', suite_version = '2' where question = '{FRANCE}'",
    )

    assert matches(store) == {PARIS: ("weather/1/paris",), FRANCE: ("weather/2/france",)}


def test_a_case_that_the_newest_version_lacks_is_not_dug_up(captured: Store) -> None:
    store = keep(captured, suite(version="1", paris=PARIS), suite(version="2", france=FRANCE))

    assert matches(store) == {FRANCE: ("weather/2/france",)}


@pytest.mark.parametrize("version", ["1", None])
def test_a_suite_takes_the_place_of_its_version(version: str | None, captured: Store) -> None:
    store_suite(captured, suite(version="other", paris=PARIS))
    store_suite(captured, suite(version=version, paris=PARIS, france=FRANCE))
    assert store_suite(captured, suite(version=version, rome="Rome?")) == 1

    rows = captured.connection.execute("select suite_version, case_id from cases order by all").fetchall()
    assert sorted(rows, key=str) == sorted([("other", "paris"), (version, "rome")], key=str)


def test_every_field_arrives_in_the_table(captured: Store) -> None:
    store_suite(
        captured,
        Suite.model_validate(
            {
                "name": "s",
                "version": "3",
                "step_cap": 9,
                "defaults": {
                    "category": "all",
                    "tags": ["every"],
                    "arguments_mode": "subset",
                    "tiers": ["fast", "deep", "oracle"],
                    "completion_threshold": 0.5,
                    "checks": [{"kind": "excludes", "value": "sorry"}],
                },
                "cases": [
                    {
                        "id": "a",
                        "input": "x",
                        "tags": ["own", "every"],
                        "expected_tools": [],
                        "expected_agent": "deep",
                        "expected_sources": ["https://a.example"],
                        "checks": [{"kind": "numeric", "value": 2}],
                        "optimal_steps": 2,
                    },
                    {
                        "id": "b",
                        "input": "y",
                        "category": "own",
                        "expected_calls": [{"tool": "t", "arguments": {"n": 1}}, {"tool": "t", "mode": "exact"}],
                        "expected_steps": ["t", "t"],
                        "expected_agent": "oracle",
                        "acceptable_agents": [],
                        "unanswerable": True,
                        "step_cap": 4,
                    },
                ],
            }
        ),
    )
    rows = captured.connection.sql("select * exclude (stored_at) from cases order by case_id").to_arrow_table()
    checks = '{"kind": "excludes", "value": ["sorry"]}'
    defaults = (
        '{"arguments_mode": "subset", "completion_threshold": 0.5, "tiers": ["fast", "deep", "oracle"], "step_cap": 9}'
    )
    suite_columns = {"suite_name": "s", "suite_version": "3", "defaults": defaults}

    assert rows.to_pylist() == [
        {
            **suite_columns,
            "case_id": "a",
            "category": "all",
            "tags": ["own", "every"],
            "input": "x",
            "expected_tools": [],
            "expected_calls": None,
            "expected_steps": None,
            "expected_agent": "deep",
            "acceptable_agents": ["fast", "oracle"],
            "expected_sources": ["https://a.example"],
            "checks": f'[{{"kind": "numeric", "value": 2.0}}, {checks}]',
            "optimal_steps": 2,
            "step_cap": 9,
            "unanswerable": False,
        },
        {
            **suite_columns,
            "case_id": "b",
            "category": "own",
            "tags": ["every"],
            "input": "y",
            "expected_tools": None,
            "expected_calls": '[{"tool": "t", "arguments": {"n": 1}, "mode": "subset"}, '
            '{"tool": "t", "arguments": {}, "mode": "exact"}]',
            "expected_steps": ["t", "t"],
            "expected_agent": "oracle",
            "acceptable_agents": [],
            "expected_sources": None,
            "checks": f"[{checks}]",
            "optimal_steps": None,
            "step_cap": 4,
            "unanswerable": True,
        },
    ]


def test_python_and_the_store_compare_inputs_alike(captured: Store) -> None:
    texts = [
        "  A\t b\n\nC ",
        "É",
        "E\N{COMBINING ACUTE ACCENT}",
        "a\N{NO-BREAK SPACE}b",
        "ÄÖÜ ß",
        "x\N{THIN SPACE}y",
        "\N{NARROW NO-BREAK SPACE}z",
    ]
    for text in texts:
        store_suite(captured, suite(a=text))
        captured.connection.execute("update runs set question = $1", [comparable_text(text)])
        with_text = captured.connection.execute(
            "select lower(nfc_normalize(trim(regexp_replace($1, '[\\s\\pZ]+', ' ', 'g'))))", [text]
        ).fetchall()

        assert with_text == [(comparable_text(text),)], text
