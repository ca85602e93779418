"""Statistics: numbers in, figures with their uncertainty out. Pure functions; no database, no files, no clock.

Every function names its formula and source; docs/statistics.md says when each is used and how well it covers.
"""

from spanscore.statistics.comparison import (
    Difference,
    McNemar,
    Pairs,
    holm,
    intervals_overlap,
    mcnemar,
    paired,
    paired_difference,
)
from spanscore.statistics.estimates import Estimate, Interval
from spanscore.statistics.gates import (
    Baseline,
    Better,
    Gate,
    Trend,
    Verdict,
    baseline,
    baseline_gate,
    better_of,
    interval_gate,
    threshold_gate,
    trend,
    verdict_of,
)
from spanscore.statistics.means import bootstrap_mean, t_mean
from spanscore.statistics.percentiles import median, nearest_rank, percentile
from spanscore.statistics.power import (
    cases_needed,
    detectable_change,
    detectable_difference,
    runs_needed,
    wald_half_width,
)
from spanscore.statistics.proportions import proportion, share, wilson_interval
from spanscore.statistics.recommendation import (
    PROFILES,
    ModelFigures,
    Weights,
    pareto_front,
    ranking,
    weighted_score,
)
from spanscore.statistics.repeats import RepeatRate, Repeats, flaky, pass_at_k, pass_hat_k
from spanscore.statistics.unpaired import unpaired_interval

CONFIDENCE = 0.95
"""Level of the intervals that reports print [ratio]."""

RESAMPLES = 1_000
"""Resamples of a bootstrap or permutation test [count]."""

SEED = 20_260_101
"""Of every random draw, so that the same numbers always give the same report."""

__all__ = [
    "CONFIDENCE",
    "PROFILES",
    "RESAMPLES",
    "SEED",
    "Baseline",
    "Better",
    "Difference",
    "Estimate",
    "Gate",
    "Interval",
    "McNemar",
    "ModelFigures",
    "Pairs",
    "RepeatRate",
    "Repeats",
    "Trend",
    "Verdict",
    "Weights",
    "baseline",
    "baseline_gate",
    "better_of",
    "bootstrap_mean",
    "cases_needed",
    "detectable_change",
    "detectable_difference",
    "flaky",
    "holm",
    "interval_gate",
    "intervals_overlap",
    "mcnemar",
    "median",
    "nearest_rank",
    "paired",
    "paired_difference",
    "pareto_front",
    "pass_at_k",
    "pass_hat_k",
    "percentile",
    "proportion",
    "ranking",
    "runs_needed",
    "share",
    "t_mean",
    "threshold_gate",
    "trend",
    "unpaired_interval",
    "verdict_of",
    "wald_half_width",
    "weighted_score",
    "wilson_interval",
]
