"""Evaluators on real captures say what the scripted scenarios are known to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from spanscore.evaluate.catalogue import Catalogue, shipped_catalogue
from spanscore.evaluate.run import evaluate_store
from spanscore.otlp import read_paths
from spanscore.store import Store
from spanscore.store.evaluation import Scope
from tests.corpus.facts import Capture, captures

FOLDERS = ("langgraph-genai", "langgraph-openinference", "openai-genai", "pydanticai-v5", "openaiagents-openinference")

Scores = Mapping[str, list[tuple[float | None, str | None]]]

EXPECTED: dict[str, dict[str, float]] = {
    "loop": {"loop_detected": 1, "repeated_tool_calls": 4, "run_error": 0},
    "tool_retry": {"tool_error_rate": 0.5, "recovered_from_error": 1, "run_error": 0, "loop_detected": 0},
    "bad_args": {"invalid_tool_arguments": 1, "tool_error_rate": 0, "recovered_from_error": 1},
    "unknown_tool": {"unknown_tool_calls": 1, "invalid_tool_arguments": 0, "recovered_from_error": 1},
    "llm_fail": {"run_error": 1},
    "restraint": {"tool_call_count": 0, "steps": 1, "run_error": 0},
    "truncated": {"truncated_responses": 1, "run_error": 0},
    "one_tool": {"tool_call_count": 1, "unmatched_tool_calls": 0, "usage_mismatch": 0, "repeated_tool_calls": 0},
    "seq_parallel": {"tool_call_count": 4, "loop_detected": 0},
}
"""Scenario -> what evaluators must say of its runs, where they apply. Handoffs have tests of their own."""

# openai-agents ends the run at an unknown tool, before any span of it is written.
ABSENT = {("unknown_tool", "openaiagents-openinference")}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], Scores]:
    """(scenario, folder) -> evaluator -> scores and reasons."""
    chosen: list[Capture] = [
        capture for capture in captures() if capture.folder in FOLDERS and capture.name in (*EXPECTED, "multi_handoff")
    ]
    folder = tmp_path_factory.mktemp("scores") / "store"
    with Store.open(folder) as store:
        for chunk in read_paths([path for capture in chosen for path in capture.files]):
            store.load(chunk.tables, source="corpus")
        store.derive()
    catalogue = shipped_catalogue()
    wanted = Catalogue(tuple(one for one in catalogue.evaluators if one.question != "groundedness"))
    evaluation = evaluate_store(folder, wanted, scope=Scope())
    assert evaluation.failed == ()
    owner = {trace: (capture.name, capture.folder) for capture in chosen for trace in capture.trace_ids()}
    scores: dict[tuple[str, str], dict[str, list[tuple[float | None, str | None]]]] = {}
    for table in evaluation.outcomes:
        for row in table.to_pylist():
            place = owner[row["run_id"].split(":")[0]]
            evaluator = evaluation.results[row["evaluator_index"]].id
            scores.setdefault(place, {}).setdefault(evaluator, []).append(
                (row["score_value"], row["not_applicable_reason"])
            )
    return scores


@pytest.mark.parametrize("scenario", EXPECTED)
def test_a_scenario_has_the_scores_it_was_made_for(found: Mapping[tuple[str, str], Scores], scenario: str) -> None:
    seen = 0
    for (name, folder), scores in found.items():
        if name != scenario or (name, folder) in ABSENT:
            continue
        for evaluator, expected in EXPECTED[scenario].items():
            for value, reason in scores[evaluator]:
                assert value == expected or (value is None and reason is not None), (folder, evaluator, value)
                seen += value is not None

    assert seen >= len(EXPECTED[scenario])


def test_the_bounce_of_a_handoff_and_the_work_done_twice_are_found(found: Mapping[tuple[str, str], Scores]) -> None:
    """The supervisor hands over to an agent that hands straight back; later that one asks what another had asked."""
    scores: Any = found["multi_handoff", "openaiagents-openinference"]

    assert sorted(value for value, _ in scores["handoff_bounced"] if value is not None) == [0, 0, 0, 1]
    assert scores["supervisor_efficiency"] == [(0.8, None)]
    assert scores["redundant_work"] == [(1.0, None)]
    assert {value for value, _ in scores["handoff_context_kept"] if value is not None} == {1.0}
    assert {value for value, _ in scores["handoff_success"]} == {1.0}
    assert scores["handoff_ping_pong"] == [(0.0, None)]
