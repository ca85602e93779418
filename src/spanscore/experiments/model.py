"""An experiment as comparisons see it: its runs by case, and the scores of each case. From a store or from a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from spanscore.statistics import Better, better_of

COST, DURATION = "cost", "run_duration"
"""Metrics that come from the runs themselves, whether they were evaluated or not."""

KEY_METRICS = (
    "task_completed",
    "numbers_grounded",
    "tool_set_match",
    "step_efficiency",
    "recovered_from_error",
    COST,
    DURATION,
)
"""What comparisons test apart from the rest, and what a gate judges, when nothing is named: few, because each can raise
a false alarm, and all pay for each."""

SHARES = ("ratio", "boolean")
"""Units of scores between 0 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of a case."""

    run_id: str
    case_id: str
    status: str | None
    is_success: bool
    is_checked: bool
    duration_s: float | None
    cost_usd: float | None
    unpriced_llm_calls: int | None
    llm_calls: int | None
    tool_calls: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What a metric measures, and by which definition: scores of two definitions are not comparable.

    Attributes:
        definition: hash over the evaluator's file and its parameters; None for what comes from the runs themselves.
    """

    id: str
    title: str | None
    question: str
    unit: str
    better: str
    definition: str | None

    @property
    def direction(self) -> Better | None:
        """Which way is better; None = neither."""
        return better_of(self.better)

    @property
    def is_share(self) -> bool:
        """Whether its values lie between 0 and 1."""
        return self.unit in SHARES


# Of a SHA-256, in a file that people read [hex digits].
_DEFINITION_LENGTH = 16

FROM_RUNS = {
    COST: Metric(id=COST, title="Cost of the run", question="efficiency", unit="usd", better="lower", definition=None),
    DURATION: Metric(
        id=DURATION, title="Time that the run took", question="efficiency", unit="s", better="lower", definition=None
    ),
}


@cache
def definition_of(evaluator_sha256: str, params: str) -> str:
    """One hash over an evaluator's file and its parameters, the same however the parameters are spaced and ordered."""
    canonical = json.dumps(json.loads(params), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{evaluator_sha256}\n{canonical}".encode()).hexdigest()[:_DEFINITION_LENGTH]


Scores = Mapping[str, Sequence[float | None]]
"""Per case, the scores of its runs; None = not applicable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One execution of a suite, or several that stand for one (a baseline).

    Attributes:
        name: what it is called in figures.
        suite_name, suite_version: None = not known.
        git_commit: of the agent's code; None = not known.
        started_at: ISO 8601, UTC.
        attempts: every run, in the order of cases and trials.
        categories: of cases that have one.
        step_caps: of cases that have one [steps].
        metrics: what was measured, by id.
        scores: per metric and case.
        notes: what to mind about it.
    """

    name: str
    experiment_id: str | None
    variant: str | None
    suite_name: str | None
    suite_version: str | None
    git_commit: str | None
    started_at: str | None
    attempts: Sequence[Attempt]
    categories: Mapping[str, str]
    step_caps: Mapping[str, int]
    metrics: Mapping[str, Metric]
    scores: Mapping[str, Scores]
    notes: Sequence[str] = field(default=())

    @property
    def cases(self) -> list[str]:
        """Its cases, sorted."""
        return sorted({attempt.case_id for attempt in self.attempts})

    def values(self, metric: str, cases: Sequence[str] | None = None) -> dict[str, list[float]]:
        """Per case, what the metric says of it; cases without a value are left out.

        Args:
            metric: its id; of one that was not measured there is no value.
            cases: only these; None = all.
        """
        wanted = None if cases is None else set(cases)
        known = {
            case: [value for value in values if value is not None]
            for case, values in self.scores.get(metric, {}).items()
            if wanted is None or case in wanted
        }
        return {case: values for case, values in sorted(known.items()) if values}


def scores_from_runs(attempts: Sequence[Attempt]) -> dict[str, dict[str, list[float | None]]]:
    """Cost and duration per case, failed runs included; what is not known is None, never 0."""
    found: dict[str, dict[str, list[float | None]]] = {COST: {}, DURATION: {}}
    for attempt in attempts:
        found[COST].setdefault(attempt.case_id, []).append(attempt.cost_usd)
        found[DURATION].setdefault(attempt.case_id, []).append(attempt.duration_s)
    return found


def pooled(name: str, experiments: Sequence[Experiment]) -> Experiment:
    """Several experiments as one: every case with the runs of all of them."""
    first = experiments[0]
    metrics = {key: metric for one in experiments for key, metric in one.metrics.items()}
    scores: dict[str, dict[str, list[float | None]]] = {}
    for one in experiments:
        for metric, cases in one.scores.items():
            for case, values in cases.items():
                scores.setdefault(metric, {}).setdefault(case, []).extend(values)
    return Experiment(
        name=name,
        experiment_id=None,
        variant=None,
        suite_name=first.suite_name,
        suite_version=first.suite_version,
        git_commit=None,
        started_at=first.started_at,
        attempts=[attempt for one in experiments for attempt in one.attempts],
        categories={case: name for one in experiments for case, name in one.categories.items()},
        step_caps={case: cap for one in experiments for case, cap in one.step_caps.items()},
        metrics=metrics,
        scores=scores,
        notes=[note for one in experiments for note in one.notes],
    )
