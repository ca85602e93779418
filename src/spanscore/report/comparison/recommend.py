"""A recommendation as a page."""

from __future__ import annotations

from spanscore.experiments.recommend import Candidate, Recommendation
from spanscore.report import figures
from spanscore.report.comparison.page import Page, Sheet, difference_text, name_of

_COLUMNS = (
    "rank",
    "name",
    "score",
    "completion",
    "accuracy",
    "latency_s",
    "cost_usd",
    "is_on_pareto_front",
    "behind",
    "behind_low",
    "behind_high",
    "p_adjusted",
    "is_outside_noise",
)


def page_of(found: Recommendation) -> Page:
    """The page."""
    weights = ", ".join(f"{name} {weight:g}" for name, weight in found.weights.items())
    return Page(
        heading=f"{found.profile}: {name_of(found.winner)} scores best of {len(found.candidates)}",
        subtitle=(
            f"weights: {weights}; completion is {found.completion_metric.replace('_', ' ')}, accuracy is "
            f"{found.accuracy_metric}; latency counts as 1 - mean / 10 s, cost as 1 - mean / $0.05; "
            f"{figures.counted(found.cases, 'case')}"
        ),
        findings=found.findings,
        sheets=[
            Sheet(
                title="Ranking",
                headings=[
                    "",
                    "experiment",
                    "score",
                    "completion",
                    "accuracy",
                    "mean time",
                    "mean cost",
                    "Pareto front",
                    "behind the winner",
                    "in words",
                ],
                rows=[_row(one) for one in found.candidates],
                right=frozenset({0, 2, 3, 4, 5, 6}),
            )
        ],
        flat_columns=_COLUMNS,
        flat_rows=[
            [
                one.rank,
                one.name,
                one.score,
                one.completion,
                one.accuracy,
                one.latency_s,
                one.cost_usd,
                one.is_on_pareto_front,
                one.behind,
                *(one.behind_interval or (None, None)),
                one.p_adjusted,
                one.is_outside_noise,
            ]
            for one in found.candidates
        ],
        document=found.as_json(),
    )


def _row(one: Candidate) -> list[str]:
    words = ""
    if one.p_adjusted is not None:
        where = "outside" if one.is_outside_noise else "inside"
        words = f"{where} the noise, p {one.p_adjusted:.2g} adjusted"
    return [
        str(one.rank),
        name_of(one.name),
        f"{one.score:.4f}",
        f"{one.completion:.3f}",
        f"{one.accuracy:.3f}",
        figures.duration(one.latency_s),
        figures.usd(one.cost_usd),
        "on it" if one.is_on_pareto_front else "",
        "" if one.rank == 1 else difference_text(one.behind, one.behind_interval, "ratio"),
        words,
    ]
