"""The document of a comparison."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from spanscore.experiments.figures import Bounds, Figure, Side

SCHEMA_VERSION = "1.0"
SIGNIFICANCE = 0.05
POWER = 0.8

BETTER, WORSE, DIFFERS = "better", "worse", "differs"
NOISE, SAME, NO_PAIRS = "inside_noise", "same", "no_pairs"
# Fewer changed cases than this cannot give p below 0.05, whatever they say: 2 / 2^5 is 0.0625 [cases].
LEAST_CHANGED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One metric of a candidate against the baseline, over the cases that both have a value of.

    Attributes:
        baseline, candidate: means over these cases, each case counted once.
        difference: candidate minus baseline, in the unit of the metric.
        interval: of the difference, 95%.
        p_value: of `test`; None without pairs.
        is_key: whether it is one of the few that are tested apart from the rest.
        p_adjusted: by Holm over all key metrics that can differ, or over all the others (by category likewise); None
            for one that cannot.
        changed: cases that differ [count]; with fewer than 6 no test can find anything.
        only_baseline, only_candidate: cases with a value on one side alone [count].
        detectable: the smallest difference that as many cases show with 80% power at 5%; None when it is not known.
        intervals_overlap: the rule of thumb, for those who use it; blind to the pairing.
        verdict: better, worse, differs (a metric without a good side), inside_noise, same or no_pairs.
        text: one sentence.
    """

    candidate_name: str
    metric: str
    is_key: bool
    category: str | None
    unit: str
    better: str
    baseline: Figure
    candidate: Figure
    difference: float | None
    interval: Bounds | None
    p_value: float | None
    p_adjusted: float | None
    test: str | None
    n: int
    changed: int
    only_baseline: int
    only_candidate: int
    detectable: float | None
    intervals_overlap: bool | None
    verdict: str
    text: str
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The slow end of a candidate against that of the baseline [s].

    A 95th percentile of few runs is poorly known and pairs do not help: all that is said is whether the intervals
    overlap, which is a rule of thumb.
    """

    candidate_name: str
    baseline_p95: float | None
    candidate_p95: float | None
    intervals_overlap: bool | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Experiments compared with the first of them.

    Attributes:
        sides: what each achieved, took and cost, on the cases that all have.
        cases: that all have [count].
        unpaired: cases that some lack, with the names of those that have them.
        metrics, categories: changes, the candidates in the order of `sides`.
        tail: the 95th percentile of the duration, per candidate.
        findings: what to know, in sentences.
    """

    schema_version: str
    generated_at: str
    baseline: str
    candidates: list[str]
    sides: list[Side]
    cases: int
    unpaired: dict[str, list[str]]
    metrics: list[Change]
    categories: list[Change]
    tail: list[Tail]
    findings: list[str]
    method: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The document as plain objects."""
        return asdict(self)
