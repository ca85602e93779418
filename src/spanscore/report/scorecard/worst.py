"""The runs to look at first, with what the evaluators say about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spanscore.report.rows import read_rows
from spanscore.report.scorecard.measure import EvaluatorFacts, RunFacts, Score, shortfall
from spanscore.report.scorecard.model import WorstRun
from spanscore.report.terminal import cut

if TYPE_CHECKING:
    from spanscore.report.rows import Reader

MOST_RUNS = 10
# Longer texts are cut, with their length [characters].
LONGEST_TEXT = 2_000
# What is wrong with a trace is no fault of the run; what costs is no error.
_QUESTIONS = {"groundedness", "outcome", "tools", "agents", "reliability", "own"}


def judging(evaluators: Sequence[EvaluatorFacts]) -> list[EvaluatorFacts]:
    """The evaluators that say whether a run was good."""
    return [one for one in evaluators if one.question in _QUESTIONS and one.grain == "run"]


def worst_runs(
    reader: Reader,
    runs: Sequence[RunFacts],
    scores: Mapping[str, Sequence[Score]],
    evaluators: Sequence[EvaluatorFacts],
) -> list[WorstRun]:
    """Up to ten runs: those that ended in an error, then those furthest from the best scores; none without fault."""
    faults: dict[str, float] = defaultdict(float)
    for run in runs:
        if run.status == "error":
            faults[run.run_id] += 1000.0
    judges = judging(evaluators)
    for evaluator in judges:
        for one in scores.get(evaluator.id, ()):
            fault = shortfall(evaluator, one.value)
            if fault > 0:
                faults[one.run.run_id] += fault
    chosen = sorted(faults, key=lambda run_id: (-faults[run_id], run_id))[:MOST_RUNS]
    if not chosen:
        return []
    rows = {row["run_id"]: row for row in read_rows(reader, "reports/scorecard_worst.sql", {"runs": chosen})}
    problems = _problems(reader, chosen, judges)
    return [
        WorstRun(**{name: _cut(value) for name, value in rows[run_id].items()}, problems=problems[run_id])
        for run_id in chosen
    ]


def _problems(
    reader: Reader, chosen: Sequence[str], judges: Sequence[EvaluatorFacts]
) -> dict[str, list[dict[str, Any]]]:
    by_id = {one.id: one for one in judges}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    parameters = {"runs": list(chosen), "evaluators": list(by_id), "longest": LONGEST_TEXT}
    for row in read_rows(reader, "reports/scorecard_evidence.sql", parameters):
        if shortfall(by_id[row["evaluator"]], row["score_value"]) <= 0:
            continue
        found[row["run_id"]].append(
            {
                "evaluator": row["evaluator"],
                "value": row["score_value"],
                "label": row["score_label"],
                "explanation": _text(row["explanation"]),
                "evidence": _evidence(row["evidence"], row["evidence_length"]),
            }
        )
    return found


def _evidence(text: str | None, length: int | None) -> Any:
    """The evidence as JSON; as cut text where it is too long."""
    import json

    if text is None or length is None:
        return None
    if length > len(text):
        return f"{text}… ({length:,} characters)"
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except ValueError:
        return text


def _cut(value: Any) -> Any:
    return cut(value, LONGEST_TEXT) if isinstance(value, str) else value


def _text(value: str | None) -> str | None:
    return None if value is None else cut(value, LONGEST_TEXT)
