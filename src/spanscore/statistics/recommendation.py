"""Which of several models to take, when quality, time and cost pull in different directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanscore.statistics.estimates import checked

# The mean duration of a run that scores 0 [s], and the mean cost of one that does [USD].
SLOWEST_S = 10.0
DEAREST_USD = 0.05


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """Means of one model over the same cases: completion and tool accuracy [ratio], duration [s], cost [USD]."""

    completion: float
    accuracy: float
    latency_s: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much [ratio]; together 1."""

    completion: float
    accuracy: float
    latency: float
    cost: float


PROFILES = {
    "quality_first": Weights(completion=0.35, accuracy=0.25, latency=0.15, cost=0.25),
    "cost_first": Weights(completion=0.15, accuracy=0.15, latency=0.20, cost=0.50),
    "balanced": Weights(completion=0.25, accuracy=0.25, latency=0.20, cost=0.30),
}


def weighted_score(figures: ModelFigures, weights: Weights) -> float:
    """Weighted mean of completion, accuracy, max(0, 1 - duration / 10 s) and max(0, 1 - cost / 0.05 USD) [ratio]."""
    checked([figures.completion, figures.accuracy, figures.latency_s, figures.cost_usd])
    return (
        weights.completion * figures.completion
        + weights.accuracy * figures.accuracy
        + weights.latency * max(0.0, 1 - figures.latency_s / SLOWEST_S)
        + weights.cost * max(0.0, 1 - figures.cost_usd / DEAREST_USD)
    )


def ranking(models: Mapping[str, ModelFigures], weights: Weights) -> list[tuple[str, float]]:
    """Models and their scores, the best first; equal scores in the order of names."""
    scores = {name: weighted_score(figures, weights) for name, figures in models.items()}
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def pareto_front(models: Mapping[str, ModelFigures]) -> list[str]:
    """The models that no other beats in everything, in the order given: any of them is best for someone."""
    return [
        name
        for name, figures in models.items()
        if not any(_dominates(_goods(other), _goods(figures)) for other in models.values())
    ]


def _goods(figures: ModelFigures) -> tuple[float, ...]:
    return (figures.completion, figures.accuracy, -figures.latency_s, -figures.cost_usd)


def _dominates(first: Sequence[float], second: Sequence[float]) -> bool:
    return first != second and all(one >= other for one, other in zip(first, second, strict=True))
