"""What captured runs did becomes cases to edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from spanscore.bench.suites import Suite
from spanscore.bench.suites.dump import suite_yaml
from spanscore.bench.suites.proposals import grounded_figures, propose
from spanscore.store import read_session
from spanscore.store.cases import CapturedTask, captured_tasks


def task(**fields: object) -> CapturedTask:
    given = {"run_id": "r", "runs": 1, "question": "What?", "answer": None, "tools": (), "results": ()}
    return CapturedTask(**{**given, **fields})  # type: ignore[arg-type]


def test_real_runs_become_cases(captures: Path) -> None:
    with read_session(captures) as session:
        tasks = captured_tasks(session, limit=10)
    cases = {case.input: case for case in propose("weather", tasks).suite.cases}
    paris = cases["What is the temperature in Paris?"]

    assert (paris.id, paris.expected_tools) == ("what-is-the-temperature-in-paris", ["get_weather"])
    assert [check.as_value() for check in paris.checks] == [{"kind": "contains", "value": ["18.5"], "match": "all"}]
    assert (cases["What is the capital of France?"].expected_tools, cases["What is the capital of France?"].checks) == (
        [],
        [],
    )


def test_runs_that_ask_the_same_are_one_task(captures: Path) -> None:
    with read_session(captures) as session:
        tasks = {task.question: task for task in captured_tasks(session, limit=10)}

    assert tasks["What is the temperature in Paris?"].runs == 2


def test_filters_choose_runs(captures: Path) -> None:
    with read_session(captures) as session:
        assert captured_tasks(session, limit=10, source="benchmark") == []
        assert captured_tasks(session, limit=10, service="nobody") == []
        assert len(captured_tasks(session, limit=1)) == 1


def test_a_written_proposal_loads(captures: Path, load: Callable[..., Suite]) -> None:
    with read_session(captures) as session:
        proposal = propose("weather", captured_tasks(session, limit=10))
    text = suite_yaml(proposal.suite, head="Edit me.", notes=proposal.notes)

    assert "  # It answered: " in text
    assert repr(load(text)) == repr(proposal.suite)


@pytest.mark.parametrize(
    ("answer", "results", "figures"),
    [
        ("It costs 2,999.88 USD.", ["2999.88"], ["2,999.88"]),
        ("It is 18.5 °C.", ['{"temperature": 18.5}'], ["18.5"]),
        ("An invented 18.6.", ["18.5"], []),
        ("Only 42 of them.", ["42"], []),
        ("In 2025, on 2025-01-31.", ["2025 2025-01-31"], []),
        ("Version 1.2.3 of A-113.", ["1.2.3 A-113"], []),
        ("711, then 711 again and 8234.", ["711 8,234"], ["711", "8234"]),
        (
            " ".join(str(number) for number in range(100, 120)),
            [str(list(range(100, 120)))],
            ["100", "101", "102", "103", "104"],
        ),
        ("", ["711"], []),
    ],
)
def test_figures_that_tools_gave_are_checked_for(answer: str, results: list[str], figures: list[str]) -> None:
    assert grounded_figures(answer, results) == figures


def test_hostile_words_of_a_trace_stay_comments_and_text(load: Callable[..., Suite]) -> None:
    hostile = [
        task(question="x\n  - id: b\n\x1b[2J", answer="a\n- id: c\r\nname: z\x1b[2J\u202e", tools=("bad\nname",)),
        task(question="no", tools=None, runs=2),
        task(question="no!", tools=("1e3",)),
        task(question="?!"),
    ]
    proposal = propose("s", hostile)
    text = suite_yaml(proposal.suite, notes=proposal.notes)

    assert all(line.isprintable() for line in text.splitlines())
    assert [case.id for case in load(text).cases] == ["x-id-b-2j", "no", "no-2", "case"]
    assert [case.expected_tools for case in load(text).cases] == [None, None, ["1e3"], []]
    assert [case.input for case in load(text).cases] == [one.question for one in hostile]
