# ruff: noqa: INP001, S311 - a script beside the package; seeded draws are the point
"""How often `compare`, `gate` and `recommend` cry wolf, and what they find. Writes the tables into docs/statistics.md.

    python scripts/false_alarms.py            write the page (a few minutes)
    python scripts/false_alarms.py --check    exit 1 when the page holds other tables

The agent is the same in every experiment, so that each alarm is a false one, except where a change is made on purpose.
Cases differ in how hard they are: the rate of a case is beta-distributed around the mean. Everything is seeded.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from spanscore.experiments.compare import compare
from spanscore.experiments.gate import false_alarm_rate
from spanscore.experiments.model import FROM_RUNS, Attempt, Experiment, Metric, scores_from_runs
from spanscore.experiments.recommend import recommend
from spanscore.statistics import CONFIDENCE, SEED, Better, baseline, baseline_gate, intervals_overlap, share, trend

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
BEGIN, END = "<!-- false alarms: begin, written by scripts/false_alarms.py -->", "<!-- false alarms: end -->"
REPEATS = 3
SIZES = (9, 27, 99)
SCORES = ("task_completed", "tool_set_match", "numbers_grounded", "step_efficiency", "recovered_from_error")
MEAN = 0.8
# Beta weight of the rates of cases around their mean: repeats of a case correlate by 1 / (1 + weight).
WEIGHT = 1.0
BASELINES = (3, 5, 10, 20)
NOW = "2026-01-01T00:00:00Z"


def rates_of(draw: random.Random, cases: int, mean: float = MEAN) -> list[float]:
    """How likely each case succeeds."""
    return [draw.betavariate(mean * WEIGHT, (1 - mean) * WEIGHT) for _ in range(cases)]


def outcomes(draw: random.Random, rates: Sequence[float]) -> list[list[float]]:
    """Repeats of every case."""
    return [[float(draw.random() < rate) for _ in range(REPEATS)] for rate in rates]


def experiment(
    name: str, draw: random.Random, rates: Sequence[Sequence[float]], *, seconds: Sequence[float]
) -> Experiment:
    """An experiment with a yes-or-no score per list of rates; times and costs vary around those of the case."""
    columns = [outcomes(draw, one) for one in rates]
    cases = [f"c{number:03}" for number in range(len(seconds))]
    attempts = [
        Attempt(
            run_id=f"{name}-{case}-{trial}",
            case_id=case,
            status="ok",
            is_success=columns[0][number][trial] == 1,
            is_checked=True,
            duration_s=seconds[number] * draw.lognormvariate(0, 0.3),
            cost_usd=0.002 * seconds[number] * draw.lognormvariate(0, 0.3),
            unpriced_llm_calls=0,
            llm_calls=1,
            tool_calls=1,
        )
        for number, case in enumerate(cases)
        for trial in range(REPEATS)
    ]
    metrics = {
        key: Metric(id=key, title=None, question="own", unit="boolean", better="higher", definition="same")
        for key in SCORES[: len(columns)]
    }
    scores = {key: dict(zip(cases, column, strict=True)) for key, column in zip(SCORES, columns, strict=False)}
    return Experiment(
        name=name,
        experiment_id=name,
        variant=None,
        suite_name="s",
        suite_version="1",
        git_commit=None,
        started_at=NOW,
        attempts=attempts,
        categories={},
        step_caps={},
        metrics={**metrics, **FROM_RUNS},
        scores={**scores, **scores_from_runs(attempts)},
    )


def compare_alarms(cases: int, *, replications: int, fall: float = 0.0) -> tuple[float, float]:
    """How often a comparison calls anything better or worse, and how often it finds the first score worse [ratio].

    The seven key metrics are compared: five scores, cost and duration. `fall` is taken off the rate of the first.
    """
    draw = random.Random(f"{SEED} compare {cases} {fall}")
    alarms = found = 0
    for _ in range(replications):
        rates = [rates_of(draw, cases) for _ in SCORES]
        seconds = [draw.lognormvariate(0, 0.7) for _ in range(cases)]
        worse = [[max(0.0, rate - fall) for rate in rates[0]], *rates[1:]]
        comparison = compare(
            [experiment("a", draw, rates, seconds=seconds), experiment("b", draw, worse, seconds=seconds)], now=NOW
        )
        said = {one.metric: one.verdict for one in comparison.metrics if one.verdict in ("better", "worse")}
        alarms += bool(said)
        found += said.get(SCORES[0]) == "worse"
    return alarms / replications, found / replications


def overlap_alarms(cases: int, *, replications: int) -> float:
    """How often the intervals of one yes-or-no score do not overlap although nothing has changed [ratio]."""
    draw = random.Random(f"{SEED} overlap {cases}")
    alarms = 0
    for _ in range(replications):
        rates = rates_of(draw, cases)
        first, second = (
            share(
                [value for values in outcomes(draw, rates) for value in values],
                clusters=[case for case in range(cases) for _ in range(REPEATS)],
                confidence=CONFIDENCE,
            ).interval
            for _ in range(2)
        )
        assert first is not None
        assert second is not None
        alarms += not intervals_overlap(first, second)
    return alarms / replications


def gate_alarms(cases: int, experiments: int, *, metrics: int, replications: int, fall: float = 0.0) -> float:
    """How often the baseline rule fails one of these metrics; with a fall, each has fallen by as much [ratio]."""
    draw = random.Random(f"{SEED} gate {cases} {experiments} {metrics} {fall}")
    alarms = 0
    for _ in range(replications):
        is_alarm = False
        for _ in range(metrics):
            rates = rates_of(draw, cases)
            spread = baseline([_mean(outcomes(draw, rates)) for _ in range(experiments)])
            value = _mean(outcomes(draw, [max(0.0, rate - fall) for rate in rates]))
            is_alarm |= baseline_gate(value, spread, better=Better.HIGHER).verdict == "fail"
        alarms += is_alarm
    return alarms / replications


def trend_alarms(cases: int, *, replications: int, fall: float = 0.0) -> float:
    """How often the trend rule calls one metric a regression [ratio]."""
    draw = random.Random(f"{SEED} trend {cases} {fall}")
    alarms = 0
    for _ in range(replications):
        rates = rates_of(draw, cases)
        history = [_mean(outcomes(draw, rates)) for _ in range(2)]
        history.append(_mean(outcomes(draw, [max(0.0, rate - fall) for rate in rates])))
        alarms += trend(history, better=Better.HIGHER) == "regression"
    return alarms / replications


def winner_alarms(cases: int, variants: int, *, replications: int) -> float:
    """How often a winner among equals is called outside the noise [ratio]."""
    draw = random.Random(f"{SEED} winner {cases} {variants}")
    alarms = 0
    for _ in range(replications):
        rates = [rates_of(draw, cases) for _ in range(2)]
        seconds = [draw.lognormvariate(0, 0.7) for _ in range(cases)]
        names = [f"v{number}" for number in range(variants)]
        found = recommend(
            [experiment(name, draw, rates, seconds=seconds) for name in names],
            profile="balanced",
            now=NOW,
            accuracy=SCORES[1],
        )
        alarms += found.winner_is_outside_noise is True
    return alarms / replications


def _mean(cases: Sequence[Sequence[float]]) -> float:
    return sum(sum(values) for values in cases) / sum(len(values) for values in cases)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows)]


def tables(scale: int = 1) -> str:
    """The tables as Markdown; a larger scale takes fewer replications."""
    many, few = 2_000 // scale, 300 // scale
    heads = [f"{cases} cases" for cases in SIZES]
    lines = [
        f"How often something is said although nothing has changed [%]. Cases are run {REPEATS} times; their rates are",
        f"beta-distributed around {MEAN}, so that repeats of a case correlate by {1 / (1 + WEIGHT):.1f}. Seeded; {few}",
        f"replications for comparisons and recommendations, {many:,} for the rest.",
        "",
    ]
    compared = [compare_alarms(cases, replications=few) for cases in SIZES]
    fallen = [compare_alarms(cases, replications=few, fall=0.3) for cases in SIZES]
    winners = [[winner_alarms(cases, n, replications=few) for cases in SIZES] for n in (2, 4)]
    rows = [
        ["`compare`: any of 7 key metrics called better or worse", *(_percent(alarm) for alarm, _ in compared)],
        [
            "one metric whose intervals do not overlap",
            *(_percent(overlap_alarms(cases, replications=many)) for cases in SIZES),
        ],
        ["`recommend`: winner of 2 equals outside the noise", *map(_percent, winners[0])],
        ["`recommend`: winner of 4 equals outside the noise", *map(_percent, winners[1])],
        ["trend rule, one metric", *(_percent(trend_alarms(cases, replications=many)) for cases in SIZES)],
    ]
    lines += _table(["false alarms", *heads], rows)
    rows = []
    for experiments in BASELINES:
        for metrics in (1, 5):
            found = [gate_alarms(cases, experiments, metrics=metrics, replications=many // metrics) for cases in SIZES]
            rate = 1 - (1 - false_alarm_rate(experiments, 2.0)) ** metrics
            name = "1 metric" if metrics == 1 else f"any of {metrics}"
            rows.append([f"{experiments} experiments, {name}", *map(_percent, found), _percent(rate)])
    lines += ["", *_table(["`gate`, baseline rule: false alarms", *heads, "as it says"], rows)]
    rows = [
        ["`compare`, one of 7 key metrics", *(_percent(found) for _, found in fallen)],
        ["trend rule", *(_percent(trend_alarms(cases, replications=many, fall=0.3)) for cases in SIZES)],
        *(
            [
                f"`gate`, {experiments} baseline experiments",
                *(_percent(gate_alarms(cases, experiments, metrics=1, replications=many, fall=0.3)) for cases in SIZES),
            ]
            for experiments in (3, 10)
        ),
    ]
    lines += ["", *_table(["a rate that falls by 0.3 is found", *heads], rows)]
    return "\n".join(lines)


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    found = tables()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n\n{found}\n\n{END}{after}"
    if arguments.check:
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
