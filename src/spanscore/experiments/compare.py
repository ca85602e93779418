"""Compares experiments: paired by case, per metric and per category, and says what is inside the noise."""

from __future__ import annotations

import statistics as spread
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.changes import (
    BETTER,
    DIFFERS,
    LEAST_CHANGED,
    NO_PAIRS,
    NOISE,
    POWER,
    SAME,
    SCHEMA_VERSION,
    SIGNIFICANCE,
    WORSE,
    Change,
    Comparison,
    Tail,
)
from spanscore.experiments.figures import Bounds, Side, case_mean_figure, side
from spanscore.experiments.model import KEY_METRICS, Experiment, Metric
from spanscore.statistics import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Better,
    Interval,
    detectable_difference,
    holm,
    intervals_overlap,
    mcnemar,
    paired,
    paired_difference,
)
from spanscore.wording import agreeing, counted

# Two values that differ by less than this share of them are equal: files keep nine digits [ratio].
_EQUAL = 1e-8


def compare(
    experiments: Sequence[Experiment],
    *,
    now: str,
    metrics: Sequence[str] = (),
    allow_different_suites: bool = False,
) -> Comparison:
    """Compare the first experiment with each of the others.

    Args:
        experiments: two or more.
        now: when, ISO 8601.
        metrics: ids of those to compare; empty = all, with the usual few as key metrics. The fewer are named
            beforehand, the more can be seen.
        allow_different_suites: pair cases by id although the suites or their versions differ.

    Raises:
        UsageError: the suites differ, or a metric is not known.
        NotComparable: scores were made by different versions of an evaluator, or no case is on all sides.
    """
    experiments = _distinct(experiments)
    first, *others = experiments
    findings = list(_different_suites(experiments, is_allowed=allow_different_suites))
    chosen = _chosen(experiments, metrics)
    require_one_definition(experiments, chosen)
    everywhere = set.intersection(*(set(one.cases) for one in experiments))
    if not everywhere:
        raise NotComparable(
            f"No case is in all of {', '.join(f'`{one.name}`' for one in experiments)}: there is nothing to pair.\n"
            "  Compare experiments of one suite."
        )
    cases = sorted(everywhere)
    unpaired = {
        case: [one.name for one in experiments if case in one.cases]
        for case in sorted({case for one in experiments for case in one.cases} - everywhere)
    }
    if unpaired:
        findings.append(
            f"{counted(len(unpaired), 'case')} not on all sides, in no figure: "
            f"{', '.join(list(unpaired)[:10])}{', …' if len(unpaired) > 10 else ''}."
        )
    findings += [f"{one.name}: {note}." for one in experiments for note in one.notes]
    keys = set(metrics or KEY_METRICS)

    def change(other: Experiment, metric: Metric, members: Sequence[str], category: str | None) -> Change:
        return _change(first, other, metric, members, category=category, is_key=metric.id in keys)

    overall = [change(other, metric, cases, None) for other in others for metric in chosen]
    by_category: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        category = next((one.categories[case] for one in experiments if case in one.categories), None)
        if category is not None:
            by_category[category].append(case)
    parts = [
        change(other, metric, members, category)
        for other in others
        for metric in chosen
        for category, members in sorted(by_category.items())
    ]
    changes, parts = _judged(overall), _judged([one for one in parts if one.n])
    sides = [side(one, cases) for one in experiments]
    tail = [_tail(sides[0], one) for one in sides[1:]]
    return Comparison(
        schema_version=SCHEMA_VERSION,
        generated_at=now,
        baseline=first.name,
        candidates=[one.name for one in others],
        sides=sides,
        cases=len(cases),
        unpaired=unpaired,
        metrics=changes,
        categories=parts,
        tail=tail,
        findings=[*findings, *_summary(changes, others), *(one.text for one in tail if one.text)],
        method={
            "confidence": CONFIDENCE,
            "significance": SIGNIFICANCE,
            "power": POWER,
            "resamples": RESAMPLES,
            "seed": SEED,
            "adjustment": "Holm over the key metrics in which at least 6 cases differ, and over such others",
            "key_metrics": [one.id for one in chosen if one.id in keys],
        },
    )


def _distinct(experiments: Sequence[Experiment]) -> list[Experiment]:
    if len(experiments) < 2:
        raise UsageError("A comparison takes two experiments or more.")
    runs = Counter(attempt.run_id for one in experiments for attempt in one.attempts)
    if runs and max(runs.values()) > 1:
        raise UsageError(
            "The same runs are on two sides; compare different experiments.\n"
            "  A variant means its newest experiment: name others by their id."
        )
    names = Counter(one.name for one in experiments)
    return [
        one if names[one.name] == 1 else replace(one, name=f"{one.name} ({one.experiment_id})") for one in experiments
    ]


def _different_suites(experiments: Sequence[Experiment], *, is_allowed: bool) -> Iterator[str]:
    suites = {one.name: (one.suite_name, one.suite_version) for one in experiments}
    if len(set(suites.values())) == 1:
        return
    said = ", ".join(
        f"`{name}` is of {'no suite' if suite is None else f'suite `{suite}`'}"
        f"{'' if version is None else f' version `{version}`'}"
        for name, (suite, version) in suites.items()
    )
    if not is_allowed:
        raise UsageError(
            f"The suites differ: {said}.\n"
            "  Run one of them again on the suite of the other, or pair cases by id with --allow-different-suites."
        )
    yield f"The suites differ: {said}. Cases are paired by id although what is expected of them may have changed."


def _chosen(experiments: Sequence[Experiment], wanted: Sequence[str]) -> list[Metric]:
    known = {name: metric for one in experiments for name, metric in one.metrics.items()}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(
            f"No score of {', '.join(f'`{name}`' for name in unknown)} in these experiments.\n"
            f"  There are: {', '.join(sorted(known))}."
        )
    return [known[name] for name in sorted(set(wanted or known), key=lambda name: (_place(known[name]), name))]


_ORDER = ("outcome", "groundedness", "tools", "agents", "own", "reliability", "efficiency", "trace_quality")


def _place(metric: Metric) -> int:
    if metric.id in KEY_METRICS:
        return KEY_METRICS.index(metric.id) - len(KEY_METRICS)
    return _ORDER.index(metric.question) if metric.question in _ORDER else len(_ORDER)


def require_one_definition(experiments: Sequence[Experiment], metrics: Sequence[Metric]) -> None:
    """Refuse scores of different versions of one evaluator.

    Raises:
        NotComparable: there are such.
    """
    mixed = [
        metric.id
        for metric in metrics
        if len({one.metrics[metric.id].definition for one in experiments if metric.id in one.metrics}) > 1
    ]
    if mixed:
        raise NotComparable(
            f"Different versions of {', '.join(f'`{name}`' for name in mixed)} scored these experiments: the file or"
            " its parameters have changed between them.\n"
            "  Score all of them again with `spanscore evaluate`, make the baseline anew, or leave these metrics out"
            " with --metric."
        )


def _change(
    first: Experiment, other: Experiment, metric: Metric, cases: Sequence[str], *, category: str | None, is_key: bool
) -> Change:
    """The change of one metric, not yet judged."""
    before, after = first.values(metric.id, cases), other.values(metric.id, cases)
    pairs = paired(before, after)
    largest = max((abs(value) for case in pairs.cases for value in (*before[case], *after[case])), default=0.0)
    differences = [0.0 if abs(one) <= _EQUAL * largest else one for one in pairs.differences]
    difference = paired_difference(differences, confidence=CONFIDENCE, resamples=RESAMPLES, seed=SEED)
    changed = [one for one in differences if one != 0]
    outcomes = {case: [*before[case], *after[case]] for case in pairs.cases}
    p_value, test = difference.p_value, "sign_flip_exact" if difference.is_exact else "sign_flip"
    if metric.unit == "boolean" and all(len(values) == 2 and set(values) <= {0, 1} for values in outcomes.values()):
        worse, better = sum(one < 0 for one in changed), sum(one > 0 for one in changed)
        p_value, test = mcnemar(worse, better).p_value, "mcnemar"
    figures = [case_mean_figure(metric, {case: values[case] for case in pairs.cases}) for values in (before, after)]
    deviation = spread.stdev(differences) if len(differences) > 1 else 0.0
    return Change(
        candidate_name=other.name,
        metric=metric.id,
        is_key=is_key,
        category=category,
        unit=metric.unit,
        better=metric.better,
        baseline=figures[0],
        candidate=figures[1],
        difference=difference.value,
        interval=None if difference.interval is None else (difference.interval.low, difference.interval.high),
        p_value=p_value,
        p_adjusted=None,
        test=test if pairs.cases else None,
        n=len(pairs.cases),
        changed=len(changed),
        only_baseline=pairs.only_baseline,
        only_candidate=pairs.only_candidate,
        detectable=detectable_difference(deviation, len(pairs.cases), significance=SIGNIFICANCE, power=POWER)
        if deviation > 0
        else None,
        intervals_overlap=_overlap(figures[0].interval, figures[1].interval),
        verdict=NO_PAIRS,
        text="",
        note=difference.note,
    )


def _overlap(first: Bounds | None, second: Bounds | None) -> bool | None:
    if first is None or second is None:
        return None
    return intervals_overlap(Interval(*first), Interval(*second))


def _tail(before: Side, after: Side) -> Tail:
    first, second = before.latency_s.p95, after.latency_s.p95
    overlap = _overlap(first.interval, second.interval)
    text = ""
    if first.value is not None and second.value is not None:
        said = {
            None: "without intervals nothing can be said",
            True: "the intervals overlap: inside the noise, by rule of thumb",
            False: "the intervals do not overlap, a rule of thumb for outside the noise",
        }[overlap]
        text = f"{after.name}: p95 of the time is {second.value:.3g} s, after {first.value:.3g} s; {said}."
    return Tail(
        candidate_name=after.name,
        baseline_p95=first.value,
        candidate_p95=second.value,
        intervals_overlap=overlap,
        text=text,
    )


def _judged(changes: Sequence[Change]) -> list[Change]:
    """The changes with adjusted p values and verdicts. Key metrics are one family of tests, the others another.

    A test of fewer than six changed cases cannot reach 5% whatever they say, so it can raise no false alarm and the
    others need not pay for it (Tarone 1990, https://doi.org/10.2307/2531456).
    """
    adjusted: dict[str, float] = {}
    for is_key in (True, False):
        tested = {
            str(index): one.p_value
            for index, one in enumerate(changes)
            if one.is_key is is_key and one.p_value is not None and one.changed >= LEAST_CHANGED
        }
        adjusted |= holm(tested)
    return [_worded(replace(one, p_adjusted=adjusted.get(str(index)))) for index, one in enumerate(changes)]


def _worded(change: Change) -> Change:
    lost = ""
    if change.only_baseline or change.only_candidate:
        n = change.only_baseline + change.only_candidate
        lost = f" {counted(n, 'case')} {agreeing(n, 'has', 'have')} a value on one side alone."
    if change.n == 0:
        return replace(change, verdict=NO_PAIRS, text=f"No case has a value on both sides.{lost}")
    if change.changed == 0:
        return replace(
            change,
            verdict=SAME,
            text=f"The same in {'the only case' if change.n == 1 else f'all {change.n} cases'}.{lost}",
        )
    assert change.difference is not None
    assert change.p_value is not None
    where = f"{change.changed} of {counted(change.n, 'case')} differ"
    if change.p_adjusted is None:
        text = f"Inside the noise: {where}, too few to tell; {LEAST_CHANGED} could."
    elif change.p_adjusted > SIGNIFICANCE:
        smallest = "" if change.detectable is None else f"; a difference of {change.detectable:.3g} could be seen"
        text = f"Inside the noise: {where}, p {change.p_adjusted:.2g} adjusted{smallest}."
    else:
        direction = _direction(change)
        return replace(
            change,
            verdict=direction,
            text=f"{direction.capitalize()}: {where}, p {change.p_adjusted:.2g} adjusted.{lost}",
        )
    return replace(change, verdict=NOISE, text=text + lost)


def _direction(change: Change) -> str:
    if change.better not in (Better.HIGHER, Better.LOWER) or not change.difference:
        return DIFFERS
    return BETTER if (change.difference > 0) == (change.better == Better.HIGHER) else WORSE


def _summary(changes: Sequence[Change], others: Sequence[Experiment]) -> Iterator[str]:
    for name in (one.name for one in others):
        those = [change for change in changes if change.candidate_name == name]
        for verdict in (WORSE, BETTER, DIFFERS):
            found = [one.metric for one in those if one.verdict == verdict]
            if found:
                yield f"{name} {'differs' if verdict == DIFFERS else f'is {verdict}'} in {', '.join(found)}."
        noise, same = (sum(one.verdict == verdict for one in those) for verdict in (NOISE, SAME))
        if any(one.verdict in (WORSE, BETTER, DIFFERS) for one in those):
            yield f"{name}: {counted(noise, 'more metric')} inside the noise, {same} the same in every case."
        else:
            yield (
                f"{name}: nothing is outside the noise ({counted(noise, 'metric')} inside it, {same} the same "
                "in every case)."
            )
        one_sided = [one for one in those if one.is_key and one.only_baseline + one.only_candidate > 0]
        if one_sided:
            counts = ", ".join(f"{one.metric} ({one.only_baseline + one.only_candidate})" for one in one_sided)
            yield f"{name}: cases with a value on one side alone are not compared: {counts}."
