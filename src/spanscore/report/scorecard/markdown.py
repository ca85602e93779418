"""The report as Markdown, for a pull request or a wiki. No name from a trace is read as markup there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from spanscore.report import figures
from spanscore.report.evaluation import score
from spanscore.report.scorecard.model import Group, Report
from spanscore.report.scorecard.table import (
    group_metrics,
    heading,
    interval_text,
    latency_and_cost,
    reasons_text,
    shown_ids,
)
from spanscore.report.terminal import safe_text, shorten

_LIMIT = 300
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~$:@=-])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(value: object) -> str:
    """Text that Markdown and HTML show as it is, on one line; links, mentions and tables cannot be made of it."""
    text = safe_text(shorten(str(value), _LIMIT))
    text = re.sub(r"[&<>]", lambda match: _HTML[match.group()], text)
    return _MARKUP.sub(r"\\\1", text)


def markdown(report: Report, group_by: Sequence[str]) -> str:
    """The document as Markdown."""
    ids = shown_ids(report)
    lines = [line for one in (report, *report.other_sources.values()) for line in _lines(one, group_by, ids)]
    return "\n".join(lines).rstrip() + "\n"


def _lines(report: Report, group_by: Sequence[str], ids: dict[str, str]) -> Iterator[str]:
    yield f"# {escape(heading(report))}"
    yield ""
    scope = ", ".join(f"{name} {value}" for name, value in report.scope.items() if value is not None)
    commit = "" if report.git_commit is None else f"; commit {report.git_commit[:10]}"
    yield escape(f"{scope or 'everything'}; {figures.when(report.generated_at)} UTC{commit}")
    yield ""
    if report.findings:
        yield "## Findings"
        yield ""
        for number, finding in enumerate(report.findings, 1):
            runs = " ".join(ids[run_id] for run_id in finding.runs)
            yield f"{number}. {escape(finding.text)}" + (f" ({escape(runs)})" if runs else "")
        yield ""
    if not report.runs:
        return
    yield "## Metrics"
    yield ""
    yield from table_lines(
        ("metric", "mean", "95% interval", "method", "scored", "not applicable"),
        (
            (
                name,
                "failed" if one.error is not None else "-" if one.value is None else score(one.value, one.unit),
                interval_text(one.interval, one.unit),
                one.interval_method or "",
                f"{one.n_scored} / {one.n_total}",
                reasons_text(one.not_applicable),
            )
            for name, one in report.metrics.items()
        ),
    )
    yield "## Time and cost"
    yield ""
    yield from (f"- {escape_line(line)}" for line in latency_and_cost(report))
    yield ""
    for group in group_by:
        yield from _group(report, group)
    if report.handoffs.total:
        keys = ("from_agent", "to_agent", "handoffs", "succeeded", "back", "bounced", "runs")
        yield "## Handoffs"
        yield ""
        yield from table_lines(keys, ([_cell(pair[key]) for key in keys] for pair in report.handoffs.pairs))
    if report.worst_runs:
        yield "## Worst runs"
        yield ""
        for run in report.worst_runs:
            question = None if run.question is None else shorten(run.question, 100)
            words = [ids[run.run_id], run.case_id, run.status, run.error_type, question]
            yield f"- {' '.join(escape(word) for word in words if word is not None)}"
            for problem in run.problems:
                explanation = escape(problem["explanation"] or "")
                yield f"  - {escape(problem['evaluator'])} {problem['value']:.3g} {explanation}"
        yield ""


def escape_line(line: str) -> str:
    """As `escape`, for a line of our own words, which is never cut."""
    return _MARKUP.sub(r"\\\1", re.sub(r"[&<>]", lambda match: _HTML[match.group()], safe_text(line)))


def _group(report: Report, group: str) -> Iterator[str]:
    groups: dict[str, Any] = getattr(report, f"by_{group}")
    if not groups:
        return
    yield f"## By {group}"
    yield ""
    if group in ("category", "variant", "day"):
        names = group_metrics(groups)
        yield from table_lines(
            (group, "runs", "errors", *names, "median time", "cost per run"),
            ((name, *_group_cells(one, names)) for name, one in groups.items()),
        )
        return
    keys = [key for key in next(iter(groups.values())) if key not in ("metrics", "success_rate")]
    rates = any("success_rate" in one for one in groups.values())
    yield from table_lines(
        (group, *(["without error", "95% interval"] if rates else []), *keys),
        (
            (
                name,
                *(
                    [figures.ratio(one["success_rate"].value), interval_text(one["success_rate"].interval, "ratio")]
                    if rates
                    else []
                ),
                *(_cell(one[key]) for key in keys),
            )
            for name, one in groups.items()
        ),
    )


def _group_cells(group: Group, names: Sequence[str]) -> Iterator[str]:
    yield figures.count(group.runs)
    yield figures.count(group.errors)
    for name in names:
        one = group.metrics[name]
        spread = interval_text(one.interval, one.unit)
        yield "-" if one.value is None else f"{score(one.value, one.unit)} {spread} n {one.n_scored}/{one.n_total}"
    yield figures.duration(group.latency_s.median)
    yield figures.usd(group.cost_usd.per_run)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table_lines(headings: Sequence[str], rows: Any) -> Iterator[str]:
    """The lines of a table; every cell is escaped."""
    yield f"| {' | '.join(escape(heading) for heading in headings)} |"
    yield "|---" * len(headings) + "|"
    for row in rows:
        yield f"| {' | '.join(escape(cell) for cell in row)} |"
    yield ""
