# ruff: noqa: INP001, S311 - a script beside the package; seeded draws are the point
"""How often the intervals of `spanscore.statistics` hold the true value. Writes the tables into docs/statistics.md.

    python scripts/coverage.py            write the page
    python scripts/coverage.py --check    exit 1 when the page holds other tables

An interval of 95% should hold it in 95 of 100 experiments. Everything is seeded: the same code gives the same tables.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spanscore.statistics import CONFIDENCE, RESAMPLES, SEED, Estimate, bootstrap_mean, share, t_mean

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
BEGIN, END = "<!-- coverage: begin, written by scripts/coverage.py -->", "<!-- coverage: end -->"
REPLICATIONS = 2_000
SHARES = (0.05, 0.1, 0.3, 0.5, 0.7, 0.93)
CLUSTER_SIZE = 3
# Correlation of two repeats of one case.
CORRELATIONS = (0.0, 0.3, 0.8)
COUNTS = (9, 27, 99)
MEANS = {
    "normal": lambda draw: draw.gauss(0, 1),
    "exponential": lambda draw: draw.expovariate(1),
    "lognormal": lambda draw: math.exp(draw.gauss(0, 1)),
}
TRUE_MEANS = {"normal": 0.0, "exponential": 1.0, "lognormal": math.exp(0.5)}


@dataclass(frozen=True, slots=True)
class Cell:
    """How often an interval held the truth [ratio], and its mean width."""

    coverage: float
    width: float


def yes_or_no_clusters(
    draw: random.Random, *, p: float, correlation: float, clusters: int, size: int
) -> list[list[float]]:
    """Clusters of yes and no, beta-binomial: each has its own rate, which varies around p."""
    if correlation == 0:
        return [[float(draw.random() < p) for _ in range(size)] for _ in range(clusters)]
    weight = (1 - correlation) / correlation
    rates = [draw.betavariate(p * weight, (1 - p) * weight) for _ in range(clusters)]
    return [[float(draw.random() < rate) for _ in range(size)] for rate in rates]


@cache
def clustered_share(totals: tuple[int, ...], size: int) -> Estimate:
    """The estimate from clusters of one size with these successes; few different ones come up."""
    values = [float(index < total) for total in totals for index in range(size)]
    names = [cluster for cluster in range(len(totals)) for _ in range(size)]
    return share(values, clusters=names, confidence=CONFIDENCE)


@cache
def independent_share(successes: int, n: int) -> Estimate:
    """The estimate from n values of which this many are yes."""
    return share([True] * successes + [False] * (n - successes), confidence=CONFIDENCE)


def cell(truth: float, estimates: Sequence[Estimate]) -> Cell:
    """Coverage and mean width over replications; one without an interval does not hold the truth."""
    held, width = 0, 0.0
    for estimate in estimates:
        interval = estimate.interval
        if interval is not None and interval.low is not None and interval.high is not None:
            held += interval.contains(truth)
            width += interval.high - interval.low
    return Cell(held / len(estimates), width / len(estimates))


def independent_cell(p: float, n: int, *, replications: int) -> Cell:
    """Wilson's interval on independent runs."""
    draw = random.Random(f"{SEED} independent {p} {n}")
    seen = (sum(draw.random() < p for _ in range(n)) for _ in range(replications))
    return cell(p, [independent_share(successes, n) for successes in seen])


def clustered_cell(p: float, n: int, correlation: float, *, replications: int, size: int = CLUSTER_SIZE) -> Cell:
    """The clustered interval on cases that were repeated."""
    draw = random.Random(f"{SEED} clustered {p} {n} {correlation} {size}")
    found = []
    for _ in range(replications):
        groups = yes_or_no_clusters(draw, p=p, correlation=correlation, clusters=n // size, size=size)
        found.append(clustered_share(tuple(sorted(int(sum(group)) for group in groups)), size))
    return cell(p, found)


def mean_cell(shape: str, n: int, correlation: float | None, method: str, *, replications: int) -> Cell:
    """Intervals of means: independent values (correlation None), or clusters that share a part of their value."""
    draw = random.Random(f"{SEED} {shape} {n} {correlation}")
    make: Callable[[random.Random], float] = MEANS[shape]
    found = []
    for _ in range(replications):
        names = None
        if correlation is None:
            values = [make(draw) for _ in range(n)]
        else:
            # A repeat takes the value of its case with this probability, so that two repeats correlate as asked.
            own = math.sqrt(correlation)
            cases = [make(draw) for _ in range(n // CLUSTER_SIZE)]
            names = [index // CLUSTER_SIZE for index in range(n)]
            values = [cases[name] if draw.random() < own else make(draw) for name in names]
        if method == "t":
            found.append(t_mean(values, clusters=names, confidence=CONFIDENCE))
        else:
            found.append(bootstrap_mean(values, clusters=names, confidence=CONFIDENCE, resamples=RESAMPLES, seed=SEED))
    return cell(TRUE_MEANS[shape], found)


def scores_cell(perfect: float, n: int, method: str, *, replications: int) -> Cell:
    """Scores such as the share of grounded claims: 1 with probability `perfect`, else 0, 1/4, 1/2 or 3/4."""
    draw = random.Random(f"{SEED} scores {perfect} {n}")
    found = []
    for _ in range(replications):
        values = [1.0 if draw.random() < perfect else draw.randrange(4) / 4 for _ in range(n)]
        found.append(
            share(values, confidence=CONFIDENCE) if method == "wilson" else t_mean(values, confidence=CONFIDENCE)
        )
    return cell(perfect + (1 - perfect) * 0.375, found)


def _line(label: str, cells: Sequence[Cell]) -> str:
    mean = sum(one.coverage for one in cells) / len(cells)
    return f"| {label} | {' | '.join(f'{100 * one.coverage:.1f}' for one in cells)} | **{100 * mean:.1f}** |"


def tables(replications: int) -> str:
    """The tables as Markdown."""
    rows = [
        f"Coverage of nominal 95% intervals [%], {replications:,} replications a cell, seeded.",
        "",
        "Yes or no. `independent`: runs that have nothing to do with each other, Wilson. `ICC`: cases run three times,",
        "two repeats of a case correlated as much; clustered Wilson.",
        "",
        f"| | {' | '.join(f'p = {p}' for p in SHARES)} | mean |",
        "|---" * (len(SHARES) + 2) + "|",
    ]
    for n in COUNTS:
        cells = [independent_cell(p, n, replications=replications) for p in SHARES]
        rows.append(_line(f"n = {n}, independent", cells))
        for correlation in CORRELATIONS:
            cells = [clustered_cell(p, n, correlation, replications=replications) for p in SHARES]
            rows.append(_line(f"n = {n}, ICC {correlation}", cells))
    rows += ["", "Few cases repeated often, ICC 0.3; clustered Wilson.", ""]
    rows += [f"| | {' | '.join(f'p = {p}' for p in SHARES)} | mean |", "|---" * (len(SHARES) + 2) + "|"]
    for cases, repeats in ((3, 10), (5, 10), (9, 10), (20, 10), (5, 30), (20, 30)):
        cells = [clustered_cell(p, cases * repeats, 0.3, replications=replications, size=repeats) for p in SHARES]
        rows.append(_line(f"{cases} cases x {repeats}", cells))
    rows += ["", "Scores between 0 and 1, most of them 1 (share of runs with a perfect score on top).", ""]
    perfect = (0.5, 0.8, 0.9, 0.95)
    rows += [f"| | {' | '.join(f'{p:.0%}' for p in perfect)} | mean |", "|---" * (len(perfect) + 2) + "|"]
    for n in COUNTS:
        for method, name in (("wilson", "Wilson, effective n (used)"), ("t", "t (not used)")):
            cells = [scores_cell(p, n, method, replications=replications) for p in perfect]
            rows.append(_line(f"n = {n}, {name}", cells))
    rows += [
        "",
        "Means of values without bounds, such as seconds or dollars; bootstrap with 500 replications a cell.",
        "",
    ]
    rows += [f"| | {' | '.join(MEANS)} | mean |", "|---" * (len(MEANS) + 2) + "|"]
    for n in COUNTS:
        for method, repeat in (("t", replications), ("bootstrap", replications // 4)):
            for correlation, name in ((None, "independent"), (0.3, "ICC 0.3"), (0.8, "ICC 0.8")):
                cells = [mean_cell(shape, n, correlation, method, replications=repeat) for shape in MEANS]
                rows.append(_line(f"n = {n}, {method}, {name}", cells))
    return "\n".join(rows)


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n\n{tables(REPLICATIONS)}\n\n{END}{after}"
    if arguments.check:
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
