"""The trajectories derived from real captures, against what really happened.

`expected.json` holds the verdict of every fact of every capture. A right fact that turns is a failure; so is a fact
that becomes wrong. Facts that became right: write the file anew with `python -m tests.corpus.table`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.facts import HERE, Capture, captures, derived, facts
from tests.corpus.table import derive_all, verdict_table

# Captures whose prompts are not ours to publish are read beside the project where they exist.
ELSEWHERE = Path(os.environ.get("SPANSCORE_CORPUS", HERE.parents[2] / "shared" / "corpus"))
EXPECTED: dict[str, dict[str, str]] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[str, Any, Any]]]:
    return derive_all(captures(), tmp_path_factory.mktemp("corpus"))


def test_every_capture_has_its_expected_verdicts(outcomes: dict[str, dict[str, tuple[str, Any, Any]]]) -> None:
    known = {key for key in EXPECTED if (HERE / key).with_suffix(".truth.json").exists()}

    assert known == set(outcomes)


def test_no_right_fact_turns_and_none_becomes_wrong(outcomes: dict[str, dict[str, tuple[str, Any, Any]]]) -> None:
    worse = _worse(outcomes)

    assert not worse, "\n".join(worse) + "\n\n" + verdict_table(outcomes)


def test_right_and_wrong_shares(outcomes: dict[str, dict[str, tuple[str, Any, Any]]]) -> None:
    """Facts that no span, event or log record of a capture carries are missing, and UNRECOVERABLE.md says why."""
    verdicts = [verdict for facts_ in outcomes.values() for verdict, _, _ in facts_.values()]

    assert verdicts.count("wrong") <= 0.015 * len(verdicts), verdict_table(outcomes)


@pytest.mark.skipif(not ELSEWHERE.is_dir(), reason=f"captures that are not in the project are not at {ELSEWHERE}")
def test_captures_outside_the_project(tmp_path: Path) -> None:
    outside = [c for c in captures(ELSEWHERE) if not (HERE / c.folder).exists() and c.key in EXPECTED]
    if not outside:
        pytest.skip("no capture beside the project is missing in it")

    worse = _worse(derive_all(outside, tmp_path))

    assert not worse, "\n".join(worse)


@pytest.mark.slow
def test_files_in_any_order_give_the_same_facts(tmp_path: Path) -> None:
    some = [c for c in captures() if c.name in ("multi_handoff", "session", "one_tool")]
    forward = derive_all(some, tmp_path / "forward")
    backward = derive_all(some[::-1], tmp_path / "backward")

    assert forward == backward


def _worse(outcomes: dict[str, dict[str, tuple[str, Any, Any]]]) -> list[str]:
    rank = {"right": 2, "missing": 1, "wrong": 0}
    return [
        f"{key} | {fact}: expected {EXPECTED[key].get(fact, 'right')}, is {verdict}: {actual!r} for {wanted!r}"
        for key, capture_facts in outcomes.items()
        for fact, (verdict, actual, wanted) in capture_facts.items()
        if rank[verdict] < rank[EXPECTED[key].get(fact, "right")]
    ]


def test_a_fact_that_turns_is_seen() -> None:
    key = next(key for key, verdicts in EXPECTED.items() if verdicts["runs"] == "right")

    assert _worse({key: {"runs": ("wrong", 2, 1)}})


def test_verdicts_tell_wrong_from_missing() -> None:
    truth = {
        "turns": [{"input": "q"}],
        "final_answer": "a",
        "ended_in_error": False,
        "tool_calls": [],
        "agents": ["main"],
        "handoffs": [],
        "llm_calls": {"succeeded": 1},
        "session_id": None,
        "usage_total": {"input": 1, "output": 1, "cached": 0, "reasoning": 0},
    }
    stated = facts(Capture("folder", "name", (), truth), derived(_NoRows()))

    assert stated["final answer"][0] == "missing"
    assert stated["successful LLM calls"][0] == "wrong"
    assert stated["handoffs"][0] == "right"


class _NoRows:
    """A store without rows."""

    description = (("run_id",),)

    def execute(self, _query: str) -> _NoRows:
        return self

    def fetchall(self) -> list[Any]:
        return []
