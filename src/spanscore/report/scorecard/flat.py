"""The report as one flat table: a line per figure, for CSV and spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spanscore.report.scorecard.model import Bounds, Cost, Group, Latency, Metric, Rate, Report
from spanscore.wording import counted

COLUMNS = (
    "source",
    "section",
    "name",
    "figure",
    "value",
    "low",
    "high",
    "interval_method",
    "n_scored",
    "n_total",
    "unit",
    "note",
)
Line = tuple[Any, ...]


def flat(report: Report) -> Iterator[Line]:
    """The figures of a report, and of the other source where there is one, in the order of `COLUMNS`."""
    for one in (report, *report.other_sources.values()):
        for line in _lines(one):
            yield (one.scope["source"], *line)


def _lines(report: Report) -> Iterator[Line]:
    yield _line("runs", None, "runs", report.runs, unit="count")
    yield _line("runs", None, "errors", report.errors, unit="count")
    for finding in report.findings:
        yield _line("findings", finding.topic, finding.kind, None, note=finding.text)
    yield from _figures("all", None, report.metrics, report.latency_s, report.cost_usd)
    groups: dict[str, dict[str, Group]] = {
        "by_category": report.by_category,
        "by_variant": report.by_variant,
        "by_day": report.by_day,
    }
    for section, members in groups.items():
        for name, group in members.items():
            yield _line(section, name, "runs", group.runs, unit="count")
            yield _line(section, name, "errors", group.errors, unit="count")
            yield from _figures(section, name, group.metrics, group.latency_s, group.cost_usd)
    for section, rows in (("by_agent", report.by_agent), ("by_model", report.by_model), ("by_tool", report.by_tool)):
        for name, row in rows.items():
            yield from _row(section, name, row)
    for figure in ("total", "successful", "back", "bounced", "reassignments"):
        yield _line("handoffs", None, figure, getattr(report.handoffs, figure), unit="count")
    yield _with_interval("handoffs", None, "success_rate", report.handoffs.success_rate, unit="ratio")
    for run in report.worst_runs:
        for problem in run.problems:
            yield _line("worst_runs", run.run_id, problem["evaluator"], problem["value"], note=problem["explanation"])


def _row(section: str, name: str, row: dict[str, Any]) -> Iterator[Line]:
    for figure, value in row.items():
        if isinstance(value, Rate):
            yield _with_interval(section, name, figure, value, unit="ratio")
        elif figure == "metrics":
            for metric_id, metric in value.items():
                yield _with_interval(section, name, metric_id, metric, unit=metric.unit)
        else:
            yield _line(section, name, figure, value)


def _figures(
    section: str, name: str | None, metrics: dict[str, Metric], latency: Latency, cost: Cost
) -> Iterator[Line]:
    for metric_id, metric in metrics.items():
        yield _with_interval(section, name, metric_id, metric, unit=metric.unit)
    for figure in ("p50", "median", "p95", "p99", "max", "mean"):
        yield _line(
            section,
            name,
            f"latency_{figure}",
            getattr(latency, figure),
            interval=latency.intervals.get(figure),
            method=latency.interval_methods.get(figure),
            n=(latency.n, latency.n_total),
            unit="s",
            note=latency.note,
        )
    for figure in ("total", "per_run", "per_success"):
        is_mean = figure == "per_run"
        yield _line(
            section,
            name,
            f"cost_{figure}",
            getattr(cost, figure),
            interval=cost.interval if is_mean else None,
            method=cost.interval_method if is_mean else None,
            n=(cost.n_priced, cost.n_total),
            unit="usd",
            note=f"{counted(cost.unpriced_llm_calls, 'LLM call')} without a price" if cost.unpriced_llm_calls else None,
        )


def _with_interval(section: str, name: str | None, figure: str, one: Metric | Rate, *, unit: str) -> Line:
    return _line(
        section,
        name,
        figure,
        one.value,
        interval=one.interval,
        method=one.interval_method,
        n=(one.n_scored, one.n_total),
        unit=unit,
        note=one.note,
    )


def _line(
    section: str,
    name: str | None,
    figure: str,
    value: object,
    *,
    interval: Bounds | None = None,
    method: str | None = None,
    n: tuple[int | None, int | None] = (None, None),
    unit: str | None = None,
    note: str | None = None,
) -> Line:
    low, high = interval or (None, None)
    return (section, name, figure, value, low, high, method, *n, unit, note)
