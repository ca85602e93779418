"""Which variant to take: weighted score, Pareto front, and whether the winner is outside the noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.changes import SIGNIFICANCE
from spanscore.experiments.compare import require_one_definition
from spanscore.experiments.figures import Bounds, success_word
from spanscore.experiments.model import Experiment
from spanscore.statistics import (
    CONFIDENCE,
    PROFILES,
    RESAMPLES,
    SEED,
    ModelFigures,
    Weights,
    holm,
    pareto_front,
    ranking,
)
from spanscore.statistics.means import percentile_interval
from spanscore.statistics.recommendation import weighted_score
from spanscore.statistics.resampling import members, random_subsets, resampled
from spanscore.wording import agreeing, counted

SCHEMA_VERSION = "1.0"
COMPLETED = "task_completed"
ACCURACY = ("tool_set_match", "tool_f1", "tool_recall", "tool_sequence_match", "tool_arguments_match")
"""What is taken for tool accuracy: the first of these that all experiments have."""

GROUNDEDNESS = ("numbers_grounded", "urls_grounded", "quotes_grounded")
"""What the score has no part for, and must not be lost sight of: a variant may be quick, cheap and make figures up."""

# Up to this many cases every swap is looked at: 4,096 of them [cases].
_EXACT_UP_TO = 12
# Of one case: sums of completion, accuracy, duration and cost, and how many values each has.
_Sums = tuple[float, int, float, int, float, int, float, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One variant: its four means, its score, and how far it is from the winner.

    Attributes:
        rank: 1 is the winner.
        behind: score of the winner minus its own [ratio].
        behind_interval: of it, 95%, over resampled cases; None for the winner.
        p_adjusted: that the two are alike, by swapping cases, adjusted by Holm for all others; None for the winner.
        is_outside_noise: whether the winner is better beyond chance, p at most 5%; None for the winner.
    """

    name: str
    experiment_id: str | None
    rank: int
    score: float
    completion: float
    accuracy: float
    latency_s: float
    cost_usd: float
    is_on_pareto_front: bool
    behind: float
    behind_interval: Bounds | None
    p_adjusted: float | None
    is_outside_noise: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Variants in the order of their weighted score.

    Attributes:
        winner_is_outside_noise: whether it beats every other beyond chance.
        not_ranked: variants that a figure is missing of, with what.
    """

    schema_version: str
    generated_at: str
    profile: str
    weights: dict[str, float]
    completion_metric: str
    accuracy_metric: str
    cases: int
    winner: str
    winner_is_outside_noise: bool | None
    candidates: list[Candidate]
    pareto_front: list[str]
    not_ranked: dict[str, str]
    findings: list[str]

    def as_json(self) -> dict[str, Any]:
        """The document as plain objects."""
        return asdict(self)


def recommend(
    experiments: Sequence[Experiment], *, profile: str, now: str, accuracy: str | None = None
) -> Recommendation:
    """Rank experiments by the weights of a profile, on the cases that all of them have.

    Args:
        experiments: two or more, of one suite.
        profile: quality_first, balanced or cost_first.
        now: ISO 8601.
        accuracy: metric that is taken for tool accuracy; None = the first usual one that all have.

    Raises:
        UsageError: there are too few, of different suites, or the metric is no share.
        NotComparable: they were scored differently, share no case, or none can be ranked.
    """
    _check_suites(experiments)
    metric = accuracy or next(
        (name for name in ACCURACY if all(one.values(name) for one in experiments)),
        None,
    )
    if metric is None:
        raise NotComparable(
            f"No metric of tool accuracy ({', '.join(ACCURACY)}) has a value in every experiment.\n"
            "  Score them with `spanscore evaluate`, or name another metric with --accuracy."
        )
    known = [one.metrics[metric] for one in experiments if metric in one.metrics]
    if not known or not known[0].is_share or known[0].better != "higher":
        raise UsageError(f"--accuracy `{metric}` must be a share, better when higher, that the experiments have.")
    checked = [one.metrics[COMPLETED] for one in experiments if COMPLETED in one.metrics]
    require_one_definition(experiments, [*known[:1], *checked[:1]])
    common = sorted(set.intersection(*(set(one.cases) for one in experiments)))
    if not common:
        raise NotComparable("No case is in all experiments.\n  Rank experiments of one suite.")
    sums = {one.name: _sums(one, common, metric) for one in experiments}
    figures, not_ranked = {}, {}
    for name, those in sums.items():
        means = _means(_totals(list(those.values())))
        if isinstance(means, str):
            not_ranked[name] = means
        else:
            figures[name] = means
    if not figures:
        raise NotComparable("No experiment can be ranked: " + "; ".join(f"{k}: {v}" for k, v in not_ranked.items()))
    weights = PROFILES[profile]
    ranked = ranking(figures, weights)
    winner = ranked[0][0]
    front = pareto_front(figures)
    others = [name for name, _ in ranked[1:]]
    behind = _behind(sums, winner, others, weights, common)
    adjusted = holm({name: _swap_test(sums[winner], sums[name], weights, common) for name in others})
    ids = {one.name: one.experiment_id for one in experiments}
    candidates = [
        Candidate(
            name=name,
            experiment_id=ids[name],
            rank=rank,
            score=score,
            completion=figures[name].completion,
            accuracy=figures[name].accuracy,
            latency_s=figures[name].latency_s,
            cost_usd=figures[name].cost_usd,
            is_on_pareto_front=name in front,
            behind=ranked[0][1] - score,
            behind_interval=behind.get(name),
            p_adjusted=adjusted.get(name),
            is_outside_noise=None if name == winner else adjusted[name] <= SIGNIFICANCE,
        )
        for rank, (name, score) in enumerate(ranked, 1)
    ]
    outside = all(one.is_outside_noise for one in candidates[1:]) if len(candidates) > 1 else None
    return Recommendation(
        schema_version=SCHEMA_VERSION,
        generated_at=now,
        profile=profile,
        weights=asdict(weights),
        completion_metric=success_word([attempt for one in experiments for attempt in one.attempts]),
        accuracy_metric=metric,
        cases=len(common),
        winner=winner,
        winner_is_outside_noise=outside,
        candidates=candidates,
        pareto_front=front,
        not_ranked=not_ranked,
        findings=[
            *_words(experiments, candidates, not_ranked, len(common), outside=outside),
            *_ungrounded(experiments, winner, common),
        ],
    )


def _check_suites(experiments: Sequence[Experiment]) -> None:
    if len(experiments) < 2:
        raise UsageError(
            "A recommendation takes two experiments or more.\n  Name them, or run the suite with another --variant."
        )
    suites = {(one.suite_name, one.suite_version) for one in experiments}
    if len(suites) > 1:
        raise UsageError(
            f"The experiments are of {len(suites)} suites or versions.\n"
            "  Name experiments of one, or choose one with --suite."
        )
    if len({one.name for one in experiments}) < len(experiments):
        raise UsageError("An experiment is named twice.")


def _sums(experiment: Experiment, cases: Sequence[str], metric: str) -> dict[str, _Sums]:
    accuracy = experiment.values(metric, cases)
    found = {}
    for case in cases:
        runs = [attempt for attempt in experiment.attempts if attempt.case_id == case]
        durations = [attempt.duration_s for attempt in runs if attempt.duration_s is not None]
        costs = [attempt.cost_usd for attempt in runs if attempt.cost_usd is not None]
        right = accuracy.get(case, [])
        found[case] = (
            float(sum(attempt.is_success for attempt in runs)),
            len(runs),
            sum(right),
            len(right),
            sum(durations),
            len(durations),
            sum(costs),
            len(costs),
        )
    return found


def _means(totals: Sequence[float]) -> ModelFigures | str:
    """The four means, or what is missing."""
    for number, what in enumerate(("runs", "tool accuracy", "duration", "cost")):
        if not totals[2 * number + 1]:
            return f"no {what} is known"
    completion, accuracy, latency, cost = (totals[2 * number] / totals[2 * number + 1] for number in range(4))
    return ModelFigures(completion=completion, accuracy=accuracy, latency_s=latency, cost_usd=cost)


def _behind(
    sums: Mapping[str, Mapping[str, _Sums]], winner: str, others: Sequence[str], weights: Weights, cases: Sequence[str]
) -> dict[str, Bounds]:
    """Intervals of how far the others are behind, from resampled cases.

    The same cases are drawn for all, so that what makes a case hard for everyone cancels out.
    """
    if len(cases) < 2 or not others:
        return {}
    drawn: dict[str, list[float]] = {name: [] for name in others}
    for sample in resampled(cases, resamples=RESAMPLES, seed=SEED):
        first = _score(_totals([sums[winner][case] for case in sample]), weights)
        for name in others:
            second = _score(_totals([sums[name][case] for case in sample]), weights)
            if first is not None and second is not None:
                drawn[name].append(first - second)
    found = {}
    for name, values in drawn.items():
        # A draw without any value of a figure is rare; where it is not, nothing can be said.
        if len(values) >= 0.95 * RESAMPLES:
            interval = percentile_interval(values, confidence=CONFIDENCE)
            found[name] = (interval.low, interval.high)
    return found


def _swap_test(
    first: Mapping[str, _Sums], second: Mapping[str, _Sums], weights: Weights, cases: Sequence[str]
) -> float:
    """How often two variants that are alike would be as far apart, whichever of them is ahead: a two-sided p value.

    Were they alike, either could have made the runs of a case: p is the share of swaps, case by case, whose scores are
    at least as far apart as those seen. Up to 12 cases every swap is looked at; beyond that 1,000 are drawn and p =
    (hits + 1) / 1,001. Few cases make it cautious, where an interval from resampled cases is too narrow.

    Source: as `spanscore.statistics.paired_difference`, for a score that is no mean of cases.
    """
    ours, theirs = (_totals([side[case] for case in cases]) for side in (first, second))
    steps = [[b - a for a, b in zip(first[case], second[case], strict=True)] for case in cases]
    seen = _apart(ours, theirs, weights)
    if seen is None:
        return 1.0
    # Scores that differ by rounding alone are equal.
    seen -= 1e-12
    is_exact = len(cases) <= _EXACT_UP_TO
    n_cases = len(cases)
    swaps = range(2**n_cases) if is_exact else random_subsets(n_cases, resamples=RESAMPLES, seed=SEED)
    hits = n = 0
    for bits in swaps:
        swapped = _totals(list(members(steps, bits)))
        apart = _apart(
            [a + step for a, step in zip(ours, swapped, strict=True)],
            [b - step for b, step in zip(theirs, swapped, strict=True)],
            weights,
        )
        # A swap that leaves one without a value of a figure tells nothing, and is counted against the winner.
        hits += apart is None or apart >= seen
        n += 1
    return hits / n if is_exact else (hits + 1) / (n + 1)


def _totals(cases: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*cases, strict=True)] if cases else [0.0] * 8


def _score(totals: Sequence[float], weights: Weights) -> float | None:
    means = _means(totals)
    return None if isinstance(means, str) else weighted_score(means, weights)


def _apart(first: Sequence[float], second: Sequence[float], weights: Weights) -> float | None:
    one, other = _score(first, weights), _score(second, weights)
    return None if one is None or other is None else abs(one - other)


def _words(
    experiments: Sequence[Experiment],
    candidates: Sequence[Candidate],
    not_ranked: Mapping[str, str],
    cases: int,
    *,
    outside: bool | None,
) -> Iterator[str]:
    yield from (f"{one.name}: {note}." for one in experiments for note in one.notes)
    for one in experiments:
        unpriced = sum(attempt.unpriced_llm_calls or 0 for attempt in one.attempts)
        if unpriced:
            yield (
                f"{one.name}: {counted(unpriced, 'LLM call')} {agreeing(unpriced, 'has', 'have')} no price, "
                "so its cost is a lower bound."
            )
    yield from (f"{name} is not ranked: {reason}." for name, reason in not_ranked.items())
    winner, *rest = candidates
    near = [one.name for one in rest if not one.is_outside_noise]
    if outside:
        yield (
            f"{winner.name} wins, outside the noise: it is better than every other beyond chance "
            f"({counted(cases, 'case')})."
        )
    elif near:
        yield (
            f"{winner.name} has the highest score, but the difference from {', '.join(near)} is inside the noise of "
            f"{counted(cases, 'case')}: any of them may be the best."
        )
    beaten = [one.name for one in candidates if not one.is_on_pareto_front]
    if beaten:
        yield f"Another one is at least as good in everything: {', '.join(beaten)}."


def _ungrounded(experiments: Sequence[Experiment], winner: str, cases: Sequence[str]) -> Iterator[str]:
    """Where another variant invents less than the winner."""
    for metric in GROUNDEDNESS:
        means = {}
        for one in experiments:
            values = [value for of_case in one.values(metric, cases).values() for value in of_case]
            if values:
                means[one.name] = sum(values) / len(values)
        better = {name: mean for name, mean in means.items() if mean > means.get(winner, 1.0) + 0.0005}
        if better:
            told = ", ".join(
                f"{mean:.1%} for {name}" for name, mean in sorted(better.items(), key=lambda item: -item[1])
            )
            yield f"Groundedness has no part in the score: {metric} is {means[winner]:.1%} for {winner} and {told}."
