"""A comparison as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spanscore.experiments.changes import NO_PAIRS, SAME, Change, Comparison
from spanscore.experiments.figures import Side
from spanscore.report import figures
from spanscore.report.comparison.page import Page, Sheet, commit_text, difference_text, name_of, with_interval
from spanscore.report.evaluation import score

# Lines of the table by category; JSON and CSV have them all.
_CATEGORY_LINES = 30

_COLUMNS = (
    "section",
    "candidate",
    "category",
    "metric",
    "is_key",
    "unit",
    "better",
    "baseline",
    "value",
    "difference",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "test",
    "cases",
    "changed",
    "detectable",
    "verdict",
    "note",
)


def page_of(comparison: Comparison) -> Page:
    """The page."""
    versions = dict.fromkeys(
        f"suite {side.suite_name or '(none)'}{'' if side.suite_version is None else f' {side.suite_version}'}"
        for side in comparison.sides
    )
    return Page(
        heading=f"{', '.join(name_of(name) for name in comparison.candidates)} compared with"
        f" {name_of(comparison.baseline)}, paired by {figures.counted(comparison.cases, 'case')}",
        subtitle=f"{', '.join(versions)}; {figures.when(comparison.generated_at)} UTC",
        findings=comparison.findings,
        sheets=[_sides(comparison.sides), _metrics(comparison), *_categories(comparison)],
        flat_columns=_COLUMNS,
        flat_rows=list(_flat(comparison)),
        document=comparison.as_json(),
    )


def _sides(sides: Sequence[Side]) -> Sheet:
    """A line per figure, a column per experiment."""
    lines: list[tuple[str, Callable[[Side], str]]] = [
        ("runs (cases)", lambda one: f"{one.runs} ({one.cases})"),
        ("ended in an error", lambda one: figures.count(one.errors)),
        ("successes", lambda one: f"{one.successes} of {one.runs}"),
        ("success rate", lambda one: with_interval(one.success_rate.value, one.success_rate.interval, "ratio")),
        ("success is", lambda one: one.success_is.replace("_", " ")),
        ("cost per attempt", _cost),
        ("cost per success", lambda one: figures.usd(one.cost_usd.per_success)),
        ("time, mean", lambda one: with_interval(one.latency_s.mean.value, one.latency_s.mean.interval, "s")),
        ("time, median", lambda one: with_interval(one.latency_s.median.value, one.latency_s.median.interval, "s")),
        ("time, p95", lambda one: with_interval(one.latency_s.p95.value, one.latency_s.p95.interval, "s")),
        ("time, slowest", lambda one: figures.duration(one.latency_s.max)),
        ("tool calls per attempt", lambda one: _number(one.tool_calls_per_attempt)),
        ("tool calls per success", lambda one: _number(one.tool_calls_per_success)),
        ("LLM calls per attempt", lambda one: _number(one.llm_calls_per_attempt)),
        ("step budget", lambda one: ", ".join(map(str, one.step_caps)) or "none known"),
        ("commit", lambda one: commit_text(one.git_commit)),
    ]
    return Sheet(
        title="Time, cost and work (failed runs included; 95% intervals)",
        headings=["", *(name_of(one.name) for one in sides)],
        rows=[[title, *(cell(one) for one in sides)] for title, cell in lines],
        right=frozenset(range(1, len(sides) + 1)),
        notes=list(_tail_notes(sides)),
    )


def _cost(one: Side) -> str:
    text = with_interval(one.cost_usd.per_attempt.value, one.cost_usd.per_attempt.interval, "usd")
    return f"{text} +{one.cost_usd.unpriced_llm_calls}?" if one.cost_usd.unpriced_llm_calls else text


def _number(value: float | None) -> str:
    return figures.UNKNOWN if value is None else f"{value:.2f}"


def _tail_notes(sides: Sequence[Side]) -> Iterator[str]:
    yield f"Time: {sides[0].latency_s.method}."
    for one in sides:
        if one.latency_s.p95.note is not None:
            yield f"{name_of(one.name)}: {one.latency_s.p95.note}."
        missing = one.cost_usd.n_total - one.cost_usd.n_priced
        if one.cost_usd.per_attempt.value is None:
            yield f"{name_of(one.name)}: no run has a price."
        elif missing or one.cost_usd.unpriced_llm_calls:
            yield (
                f"{name_of(one.name)}: {missing} of {figures.counted(one.cost_usd.n_total, 'run')} and "
                f"{figures.counted(one.cost_usd.unpriced_llm_calls, 'LLM call')} without a price; its cost is a "
                "lower bound."
            )


def _metrics(comparison: Comparison) -> Sheet:
    shown = [one for one in comparison.metrics if one.verdict not in (SAME, NO_PAIRS)]
    several = len(comparison.candidates) > 1
    notes = []
    for verdict, words in ((SAME, "The same in every case"), (NO_PAIRS, "Without a value on both sides")):
        names = dict.fromkeys(one.metric for one in comparison.metrics if one.verdict == verdict)
        if names:
            notes.append(f"{words}: {', '.join(names)}.")
    return Sheet(
        title="Metrics (means over cases; difference and its 95% interval; * key metrics, tested apart)",
        headings=[*(["candidate"] if several else []), "metric", "baseline", "candidate", "difference", "in words"],
        rows=[
            [*([name_of(one.candidate_name)] if several else []), _name(one), *_cells(one), one.text] for one in shown
        ],
        right=frozenset({2, 3} if several else {1, 2}),
        notes=notes,
    )


def _name(one: Change) -> str:
    return name_of(one.metric) + (" *" if one.is_key else "")


def _cells(one: Change) -> list[str]:
    return [
        figures.UNKNOWN if one.baseline.value is None else score(one.baseline.value, one.unit),
        figures.UNKNOWN if one.candidate.value is None else score(one.candidate.value, one.unit),
        difference_text(one.difference, one.interval, one.unit),
    ]


def _categories(comparison: Comparison) -> Iterator[Sheet]:
    shown = [one for one in comparison.categories if one.changed]
    if not shown:
        return
    several = len(comparison.candidates) > 1
    more = len(shown) - _CATEGORY_LINES
    yield Sheet(
        title="By category, where cases differ",
        headings=[
            *(["candidate"] if several else []),
            "category",
            "metric",
            "baseline",
            "candidate",
            "difference",
            "in words",
        ],
        rows=[
            [
                *([name_of(one.candidate_name)] if several else []),
                name_of(one.category or ""),
                _name(one),
                *_cells(one),
                one.text,
            ]
            for one in shown[:_CATEGORY_LINES]
        ],
        right=frozenset({3, 4} if several else {2, 3}),
        notes=[f"{more} more lines: --format json or csv has them all."] if more > 0 else [],
    )


def _flat(comparison: Comparison) -> Iterator[list[Any]]:
    for section, changes in (("metrics", comparison.metrics), ("categories", comparison.categories)):
        for one in changes:
            low, high = one.interval or (None, None)
            yield [
                section,
                one.candidate_name,
                one.category,
                one.metric,
                one.is_key,
                one.unit,
                one.better,
                one.baseline.value,
                one.candidate.value,
                one.difference,
                low,
                high,
                one.p_value,
                one.p_adjusted,
                one.test,
                one.n,
                one.changed,
                one.detectable,
                one.verdict,
                one.text,
            ]
    for side in comparison.sides:
        for figure, unit, value in _side_figures(side):
            head = ["sides", side.name, None, figure, None, unit, None, None, value]
            yield [*head, *([None] * (len(_COLUMNS) - len(head)))]


def _side_figures(side: Side) -> Iterator[tuple[str, str, float | None]]:
    yield "runs", "count", side.runs
    yield "errors", "count", side.errors
    yield "successes", "count", side.successes
    yield "success_rate", "ratio", side.success_rate.value
    yield "cost_per_attempt", "usd", side.cost_usd.per_attempt.value
    yield "cost_per_success", "usd", side.cost_usd.per_success
    yield "unpriced_llm_calls", "count", side.cost_usd.unpriced_llm_calls
    yield "duration_p50", "s", side.latency_s.p50
    yield "duration_p95", "s", side.latency_s.p95.value
    yield "duration_max", "s", side.latency_s.max
    yield "tool_calls_per_attempt", "calls", side.tool_calls_per_attempt
    yield "tool_calls_per_success", "calls", side.tool_calls_per_success
