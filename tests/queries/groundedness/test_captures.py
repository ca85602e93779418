"""Real runs of real frameworks: what is called unsupported is what the run's author invented, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.otlp import read_paths
from spanscore.store import Store
from spanscore.store.evaluation import Scope, evaluation_session
from tests.corpus.facts import Capture, captures

CAPTURES = [
    capture for capture in captures() if capture.name in ("ungrounded", "tool_retry", "session", "seq_parallel")
]
NOT_CAPTURED = {"autogen-native", "openai-genainocontent", "semantickernel-native"}
"""No message of a model, or no result of a tool, is in the telemetry."""
UNANSWERED = {"openaiagents-traceloop"}
"""No answer is in the telemetry."""
BY_ID = {evaluator.id: evaluator for evaluator in shipped_catalogue().evaluators}


@pytest.fixture(scope="module")
def unsupported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str] | None]:
    """Per capture the texts of its unsupported numbers and links; None when none of its runs could be judged."""
    directory: Path = tmp_path_factory.mktemp("captures")
    with Store.open(directory) as store:
        for chunk in read_paths([path for capture in CAPTURES for path in capture.files]):
            store.load(chunk.tables, source=str(chunk.path))
        store.derive()
    found: dict[str, list[dict[str, object]]] = {}
    with evaluation_session(directory, scope=Scope(), macros=EVALUATOR_MACROS, timeout_s=None) as session:
        for identifier in ("numbers_grounded", "urls_grounded"):
            evaluator = BY_ID[identifier]
            for row in session.answer(evaluator.sql, evaluator.bound({})).rows.to_pylist():
                if row["evidence"] is not None:
                    found.setdefault(row["run_id"].split(":")[0], []).append(json.loads(row["evidence"]))
    return {capture.key: _texts(capture, found) for capture in CAPTURES}


def _texts(capture: Capture, found: dict[str, list[dict[str, object]]]) -> list[str] | None:
    evidence = [item for trace in capture.trace_ids() for item in found.get(trace, [])]
    if not evidence:
        return None
    return sorted({claim["text"] for item in evidence for claim in item["unsupported"]})  # type: ignore[attr-defined]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.key)
def test_unsupported_claims_are_those_of_the_truth(capture: Capture, unsupported: dict[str, list[str] | None]) -> None:
    if capture.folder in NOT_CAPTURED | UNANSWERED:
        assert unsupported[capture.key] is None
    else:
        assert unsupported[capture.key] == sorted(capture.truth["numbers"]["ungrounded"])
