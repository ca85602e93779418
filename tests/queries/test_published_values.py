"""Worked numbers of published evaluation suites come out of the evaluators: aggregates over whole suites."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from spanscore.evaluate.catalogue import Catalogue, shipped_catalogue
from spanscore.evaluate.run import evaluate
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.statistics.percentiles import nearest_rank
from spanscore.store.evaluation import EvaluationSession, Scope, empty_store

CATALOGUE = shipped_catalogue()
SUITE = "published"


@pytest.fixture(scope="module")
def empty() -> Iterator[EvaluationSession]:
    with empty_store(macros=EVALUATOR_MACROS) as session:
        yield session


def scores(
    empty: EvaluationSession,
    evaluators: Sequence[str],
    *,
    runs: Sequence[Mapping[str, Any]],
    cases: Sequence[Mapping[str, Any]],
    tool_calls: Sequence[Mapping[str, Any]] = (),
) -> dict[str, dict[str, float | None]]:
    """Evaluator -> run -> score. `case_id` of a run names its case."""
    chosen = Catalogue(tuple(one for one in CATALOGUE.evaluators if one.id in evaluators))
    assert len(chosen.evaluators) == len(evaluators)
    try:
        empty.fill("cases", [{"suite_name": SUITE, **case} for case in cases])
        empty.fill("runs", [{"suite_name": SUITE, "has_content": True, **run} for run in runs])
        empty.fill("tool_calls", tool_calls)
        empty.find_runs(Scope())
        found = evaluate(empty, chosen, scope=Scope(), values=chosen.bound({}))
    finally:
        empty.clear(["cases", "runs", "tool_calls"])
    assert found.failed == ()
    values: dict[str, dict[str, float | None]] = defaultdict(dict)
    for table in found.outcomes:
        for row in table.to_pylist():
            values[found.results[row["evaluator_index"]].id][row["run_id"]] = row["score_value"]
    return values


def scored(values: Mapping[str, float | None]) -> list[float]:
    """The scores there are."""
    return [value for value in values.values() if value is not None]


def mean(values: Mapping[str, float | None]) -> float:
    """Mean of the scores there are."""
    there = scored(values)
    return sum(there) / len(there)


def percentile(values: Mapping[str, float | None], level: float) -> float:
    """Nearest-rank percentile of the scores there are."""
    there = sorted(scored(values))
    return there[nearest_rank(level, len(there)) - 1]


def calls(run_id: str, tools: Sequence[str]) -> list[dict[str, Any]]:
    """One call of each tool, one after the other."""
    return [
        {"run_id": run_id, "tool_call_id": f"{run_id}-{seq}", "seq": seq, "tool_name": tool, "status": "ok"}
        for seq, tool in enumerate(tools, start=1)
    ]


NINE_CASES: list[dict[str, Any]] = [
    {"case_id": "calc-1", "category": "arithmetic", "tools": ["calculate"], "phrases": ["723000"]},
    {"case_id": "calc-2", "category": "arithmetic", "tools": ["calculate"], "phrases": ["29.4"]},
    {"case_id": "fact-1", "category": "background", "tools": ["wiki_lookup"], "phrases": []},
    {"case_id": "cur-1", "category": "current", "tools": ["search_web"], "phrases": []},
    {"case_id": "none-1", "category": "restraint", "tools": [], "phrases": ["Paris"]},
    {
        "case_id": "unans-1",
        "category": "unanswerable",
        "tools": [],
        "phrases": ["cannot", "not verified", "unknown", "forecast"],
    },
    {"case_id": "conflict-1", "category": "conflicting-sources", "tools": ["search_web"], "phrases": []},
    {"case_id": "multi-1", "category": "multi-step", "tools": ["search_web", "calculate"], "phrases": []},
    {"case_id": "junk-1", "category": "nonsense", "tools": [], "phrases": ["no", "not", "unable"]},
]

# Trials in which the tools were not the expected ones, by case, and the runs that used up six steps.
WRONG_TOOLS = {"none-1": 1, "unans-1": 1, "multi-1": 1, "junk-1": 2}
CAP_HITS = {("multi-1", 0), ("multi-1", 1)}


def nine_case_rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Cases, 27 runs and their tool calls."""
    cases, runs, made = [], [], []
    for case in NINE_CASES:
        check = {"kind": "contains", "value": case["phrases"]}
        cases.append(
            {
                "case_id": case["case_id"],
                "category": case["category"],
                "expected_tools": case["tools"],
                "checks": f"[{json.dumps(check)}]" if case["phrases"] else None,
            }
        )
        for trial in range(3):
            run_id = f"{case['case_id']}#{trial}"
            tools = list(case["tools"])
            if trial < WRONG_TOOLS.get(case["case_id"], 0):
                tools = ["search_web"]
            made.extend(calls(run_id, tools))
            steps = 6 if (case["case_id"], trial) in CAP_HITS else 1 if not case["tools"] else 3
            runs.append(
                {
                    "run_id": run_id,
                    "case_id": case["case_id"],
                    "trial": trial,
                    "status": "ok",
                    "llm_calls": steps - len(tools) if steps > len(tools) else 1,
                    "tool_calls": len(tools),
                    "final_answer": f"It is {case['phrases'][0].upper()}."
                    if case["phrases"]
                    else "A long enough answer to it.",
                }
            )
    return cases, runs, made


def test_the_nine_case_suite_reports_its_tool_accuracy_by_category(empty: EvaluationSession) -> None:
    cases, runs, made = nine_case_rows()
    found = scores(empty, ["tool_set_match"], runs=runs, cases=cases, tool_calls=made)["tool_set_match"]
    by_category: dict[str, list[float]] = defaultdict(list)
    category = {case["case_id"]: case["category"] for case in cases}
    for run_id, value in found.items():
        assert value is not None
        by_category[category[run_id.split("#")[0]]].append(value)

    assert round(mean(found), 3) == 0.815
    assert {name: round(sum(values) / len(values), 2) for name, values in by_category.items()} == {
        "arithmetic": 1.0,
        "background": 1.0,
        "current": 1.0,
        "restraint": 0.67,
        "unanswerable": 0.67,
        "nonsense": 0.33,
        "multi-step": 0.67,
        "conflicting-sources": 1.0,
    }


def test_the_nine_case_suite_reports_steps_and_cap_hits(empty: EvaluationSession) -> None:
    cases, runs, made = nine_case_rows()
    found = scores(empty, ["steps", "step_cap_hit"], runs=runs, cases=cases, tool_calls=made)

    assert percentile(found["steps"], 0.5) == 3
    assert sum(scored(found["step_cap_hit"])) == 2


def test_phrases_of_the_nine_case_suite_ignore_case_and_commas(empty: EvaluationSession) -> None:
    cases = [
        {"case_id": "calc-1", "checks": '[{"kind": "contains", "value": ["723000"]}]'},
        {"case_id": "junk-1", "checks": '[{"kind": "contains", "value": ["no", "not", "unable"]}]'},
        {"case_id": "none-1", "checks": '[{"kind": "contains", "value": ["Paris"]}]'},
    ]
    runs = [
        {"run_id": "commas", "case_id": "calc-1", "final_answer": "15% of 4,820,000 is 723,000."},
        {"run_id": "wrong", "case_id": "calc-1", "final_answer": "15% of 4,820,000 is 72,300."},
        {"run_id": "any", "case_id": "junk-1", "final_answer": "I am UNABLE to tell."},
        {"run_id": "case", "case_id": "none-1", "final_answer": "PARIS"},
    ]
    found = scores(empty, ["answer_contains"], runs=runs, cases=cases)["answer_contains"]

    assert found == {"commas": 1, "wrong": 0, "any": 1, "case": 1}


TEN_RESULTS: list[tuple[str, bool, list[str], int, list[str] | None]] = [
    ("T-01", True, ["calculator"], 1200, ["calculator"]),
    ("T-02", True, ["web_search"], 2500, ["web_search"]),
    ("T-03", True, ["web_search", "calculator"], 4800, ["web_search", "calculator"]),
    ("T-04", True, [], 800, None),
    ("T-05", False, [], 600, []),
    ("T-06", True, ["web_search", "calculator"], 5200, ["web_search", "calculator"]),
    ("T-07", False, [], 300, None),
    ("T-08", True, ["web_search"], 2100, ["web_search"]),
    ("T-09", True, ["calculator"], 900, ["calculator"]),
    ("T-10", True, ["web_search"], 3800, ["web_search"]),
]
TEN_COSTS = [0.001, 0.003, 0.005, 0.0005, 0.0004, 0.006, 0.0002, 0.002, 0.0006, 0.004]


def test_ten_task_results(empty: EvaluationSession) -> None:
    """Recall is counted over expected calls of all runs; runs without expected tools are not scored for tools."""
    cases = [
        {"case_id": name, "expected_tools": wanted, "checks": '[{"kind": "contains", "value": ["done"]}]'}
        for name, _, _, _, wanted in TEN_RESULTS
    ]
    runs = [
        {
            "run_id": name,
            "case_id": name,
            "status": "ok",
            "final_answer": "done" if completed else "sorry",
            "duration_s": milliseconds / 1000,
            "cost_usd": cost,
            "llm_calls": 1,
        }
        for (name, completed, _, milliseconds, _), cost in zip(TEN_RESULTS, TEN_COSTS, strict=True)
    ]
    made = [call for name, _, tools, _, _ in TEN_RESULTS for call in calls(name, tools)]
    found = scores(
        empty, ["task_completed", "tool_recall", "run_duration", "cost"], runs=runs, cases=cases, tool_calls=made
    )
    expected = {name: len(wanted) for name, _, _, _, wanted in TEN_RESULTS if wanted}

    assert mean(found["task_completed"]) == pytest.approx(0.8)
    assert sum(expected.values()) == 9
    assert {name for name, value in found["tool_recall"].items() if value is not None} == expected.keys()
    assert sum((found["tool_recall"][name] or 0) * n for name, n in expected.items()) / 9 == 1.0
    assert mean(found["run_duration"]) == pytest.approx(2.22)
    assert percentile(found["run_duration"], 0.95) == pytest.approx(5.2)
    assert mean(found["cost"]) == pytest.approx(0.00227)
    assert sum(scored(found["cost"])) == pytest.approx(0.0227)


def test_three_dimensions(empty: EvaluationSession) -> None:
    """Efficiency over completed tasks alone; recovery over tasks that met a tool error."""
    results = [("task_1", True, 5, 5, None), ("task_2", True, 8, 5, True), ("task_3", False, 12, 4, False)]
    cases = [
        {"case_id": name, "optimal_steps": optimal, "checks": '[{"kind": "contains", "value": ["done"]}]'}
        for name, _, _, optimal, _ in results
    ]
    runs = [
        {
            "run_id": name,
            "case_id": name,
            "status": "ok",
            "final_answer": "done" if completed else "sorry",
            "llm_calls": steps - 2,
            "tool_calls": 2,
        }
        for name, completed, steps, _, _ in results
    ]
    made = []
    for name, _, _, _, recovered in results:
        if recovered is not None:
            made += [
                {
                    "run_id": name,
                    "seq": 1,
                    "tool_name": "search",
                    "status": "error",
                    "started_at": "2026-01-01 00:00:01",
                },
                {
                    "run_id": name,
                    "seq": 2,
                    "tool_name": "search" if recovered else "wiki",
                    "status": "ok",
                    "started_at": "2026-01-01 00:00:02",
                },
            ]
    found = scores(
        empty,
        ["task_completed", "step_efficiency", "recovered_from_error"],
        runs=runs,
        cases=cases,
        tool_calls=made,
    )

    assert round(mean(found["task_completed"]), 3) == 0.667
    assert found["step_efficiency"] == {"task_1": 1.0, "task_2": 0.625, "task_3": None}
    assert mean(found["step_efficiency"]) == pytest.approx(0.8125)
    assert found["recovered_from_error"] == {"task_1": None, "task_2": 1.0, "task_3": 0.0}
    assert mean(found["recovered_from_error"]) == pytest.approx(0.5)


def test_bounded_agents(empty: EvaluationSession) -> None:
    """Runs that failed are in the average of calls, and calls per success divide by the successes."""
    success, made = [1, 1, 0, 1, 0], [2, 3, 5, 2, 5]
    cases = [{"case_id": "c", "checks": '[{"kind": "contains", "value": ["done"]}]'}]
    runs = [
        {
            "run_id": f"r{number}",
            "case_id": "c",
            "status": "ok" if good else "error",
            "final_answer": "done" if good else None,
            "tool_calls": n,
        }
        for number, (good, n) in enumerate(zip(success, made, strict=True))
    ]
    found = scores(empty, ["task_completed", "tool_call_count"], runs=runs, cases=cases)

    assert mean(found["task_completed"]) == pytest.approx(0.6)
    assert mean(found["tool_call_count"]) == pytest.approx(3.4)
    assert sum(scored(found["tool_call_count"])) / sum(scored(found["task_completed"])) == pytest.approx(
        5.6667, abs=1e-4
    )


@pytest.mark.parametrize(
    ("characters", "completed"), [(20, 0.0), (21, 1.0)], ids=["twenty_characters", "twenty_one_characters"]
)
def test_a_case_without_checks_asks_for_more_than_twenty_characters(
    empty: EvaluationSession, characters: int, completed: float
) -> None:
    runs = [{"run_id": "r", "case_id": "c", "status": "ok", "final_answer": "x" * characters}]
    found = scores(empty, ["task_completed"], runs=runs, cases=[{"case_id": "c"}])

    assert found["task_completed"] == {"r": completed}


@pytest.mark.parametrize(("passed", "completed"), [(7, 1.0), (6, 0.0)], ids=["seven_of_ten", "six_of_ten"])
def test_a_share_of_seven_tenths_of_the_checks_completes_a_task(
    empty: EvaluationSession, passed: int, completed: float
) -> None:
    phrases = ["yes"] * passed + ["absent"] * (10 - passed)
    checks = ", ".join(f'{{"kind": "contains", "value": ["{phrase}"]}}' for phrase in phrases)
    runs = [{"run_id": "r", "case_id": "c", "status": "ok", "final_answer": "yes"}]
    found = scores(empty, ["task_completed"], runs=runs, cases=[{"case_id": "c", "checks": f"[{checks}]"}])

    assert found["task_completed"] == {"r": completed}
