"""A history as a page: a line per metric with its curve, what changed, and alerts."""

from __future__ import annotations

from collections.abc import Sequence

from spanscore.experiments.history import Dashboard, Line
from spanscore.report import figures
from spanscore.report.comparison.page import Page, Sheet, commit_text, difference_text, name_of
from spanscore.report.evaluation import score

_BARS = "▁▂▃▄▅▆▇█"
# Values in a curve, the latest last.
_CURVE = 12


def page_of(dashboard: Dashboard, *, entries: int) -> Page:
    """The page.

    Args:
        dashboard: what to show.
        entries: how many the file holds [count].
    """
    version = "" if dashboard.suite_version is None else f" {dashboard.suite_version}"
    shown = len(dashboard.entries)
    findings = list(dashboard.alerts) or (["No alert."] if shown else ["The history is empty."])
    return Page(
        verdict=None,
        heading=f"History of suite {dashboard.suite_name or '(none)'}{version}: {shown} of {entries} entries",
        subtitle=f"alert: {dashboard.rule}",
        findings=findings,
        sheets=[
            Sheet(
                title="Metrics",
                headings=["metric", "latest", "change", "curve", "trend", "note"],
                rows=[_row(line) for line in dashboard.lines if any(value is not None for value in line.values)],
                right=frozenset({1, 2}),
            ),
            Sheet(
                title="Experiments",
                headings=[
                    "began",
                    "experiment",
                    "commit",
                    "runs",
                    "errors",
                    "p95",
                    "per attempt",
                    "per success",
                    "gate",
                ],
                rows=[
                    [
                        figures.when(one.started_at),
                        name_of(one.name),
                        commit_text(one.git_commit),
                        str(one.runs),
                        str(one.errors),
                        figures.duration(one.p95_s),
                        figures.usd(one.cost_usd_per_attempt),
                        figures.usd(one.cost_usd_per_success),
                        one.verdict or figures.UNKNOWN,
                    ]
                    for one in reversed(dashboard.entries)
                ],
                right=frozenset({3, 4, 5, 6, 7}),
            ),
        ],
        flat_columns=("metric", "unit", "better", "latest", "delta", "mean_of_previous", "trend", "left_out"),
        flat_rows=[
            [
                line.metric,
                line.unit,
                line.better,
                line.latest,
                line.delta,
                line.mean_of_previous,
                line.trend,
                line.left_out,
            ]
            for line in dashboard.lines
        ],
        document=dashboard.as_json(),
    )


def _row(line: Line) -> list[str]:
    left_out = f"{line.left_out} earlier values are not comparable" if line.left_out else ""
    return [
        name_of(line.metric),
        figures.UNKNOWN if line.latest is None else score(line.latest, line.unit),
        difference_text(line.delta, None, line.unit),
        curve(line.values[-_CURVE:]),
        line.trend or figures.UNKNOWN,
        left_out,
    ]


def curve(values: Sequence[float | None]) -> str:
    """Values as bars between their least and greatest; a dot for what is missing."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    middle = _BARS[len(_BARS) // 2 - 1]
    return "".join(
        "·"
        if value is None
        else middle
        if span == 0
        else _BARS[min(len(_BARS) - 1, int((value - low) / span * len(_BARS)))]
        for value in values
    )
