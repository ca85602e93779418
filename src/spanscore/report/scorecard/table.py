"""The report for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.evaluation import score
from spanscore.report.scorecard.model import Bounds, Group, Metric, Rate, Report
from spanscore.report.tables import Column, counted, grid, named, timed
from spanscore.report.terminal import console, plain, shorten

if TYPE_CHECKING:
    from rich.console import Console

GROUPS = ("category", "agent", "model", "tool", "variant", "day")
_TEXT_LIMIT = 300
_REASONS_SHOWN = 2
# Metrics that a table of groups has room for.
_GROUP_METRICS = 4
# The width from which a table of agents has room for their calls [columns].
_ROOM_FOR_CALLS = 110
# From here on the table of metrics names the method of each interval; below, all are named together [columns].
_ROOM_FOR_METHODS = 110
_TOPIC_STYLES = {"trace_quality": "yellow", "groundedness": "red", "outcome": "red"}


def print_table(report: Report, group_by: list[str]) -> None:
    """Print the report on standard output: findings, then figures, then the groups asked for, then the worst runs."""
    out = console()
    ids = shown_ids(report)
    for one in (report, *report.other_sources.values()):
        _print(out, one, group_by, ids)
        out.print()


def heading(report: Report) -> str:
    """How many runs of what source, and how many of them failed."""
    words = [figures.count(report.runs), report.scope["source"], figures.agreeing(report.runs, "run", "runs")]
    return f"{' '.join(word for word in words if word)}, {figures.count(report.errors)} ended in an error"


def _print(out: Console, report: Report, group_by: list[str], ids: dict[str, str]) -> None:
    out.print(plain(heading(report), "bold"), soft_wrap=True)
    scope = ", ".join(f"{name} {value}" for name, value in report.scope.items() if value is not None)
    commit = "" if report.git_commit is None else f"; commit {report.git_commit[:10]}"
    out.print(plain(f"{scope or 'everything'}; {figures.when(report.generated_at)} UTC{commit}", "dim"), soft_wrap=True)
    if report.findings:
        _heading(out, "Findings")
        for number, finding in enumerate(report.findings, 1):
            line = Text(f"{number:>2}. ").append_text(
                plain(shorten(finding.text, _TEXT_LIMIT), _TOPIC_STYLES.get(finding.topic, ""))
            )
            if finding.runs:
                line.append_text(plain(f"  {' '.join(ids[run_id] for run_id in finding.runs)}", "dim"))
            out.print(line, soft_wrap=True)
    if not report.runs:
        return
    # A metric that applies nowhere, for one reason, needs no line of its own.
    unscored = {name: one for name, one in report.metrics.items() if _is_nowhere(one)}
    rows = [{"id": name, "metric": one} for name, one in report.metrics.items() if name not in unscored]
    if rows or unscored:
        _heading(out, "Metrics (mean and 95% interval)")
    if rows:
        out.print(grid(rows, _METRIC_COLUMNS, width=out.width))
        methods = sorted({one.interval_method for one in report.metrics.values() if one.interval_method is not None})
        if out.width < _ROOM_FOR_METHODS and methods:
            out.print(plain(f"intervals: {', '.join(methods)}", "dim"), soft_wrap=True)
    for reason in dict.fromkeys(next(iter(one.not_applicable)) for one in unscored.values()):
        names = [name for name, one in unscored.items() if reason in one.not_applicable]
        out.print(plain(f"not applicable to any run, {reason}: {', '.join(names)}", "dim"), soft_wrap=True)
    _heading(out, "Time and cost")
    for figures_line in latency_and_cost(report):
        out.print(plain(figures_line), soft_wrap=True)
    for group in group_by:
        _print_group(out, report, group)
    if report.handoffs.total:
        _heading(out, "Handoffs")
        rate = interval_text(report.handoffs.success_rate.interval, "ratio")
        out.print(
            plain(
                f"{report.handoffs.successful} of {report.handoffs.total} arrived {rate}, {report.handoffs.back} back, "
                f"{report.handoffs.bounced} bounced"
            ),
            soft_wrap=True,
        )
        columns = [named("from_agent", "from", limit=40), named("to_agent", "to", limit=40)]
        kinds = ("handoffs", "succeeded", "back", "bounced", "runs")
        out.print(grid(report.handoffs.pairs, [*columns, *(counted(kind) for kind in kinds)]))
    _print_worst(out, report, ids)


def latency_and_cost(report: Report) -> list[str]:
    """How long runs take and what they cost, in lines that name n and the method."""
    latency, cost, effort = report.latency_s, report.cost_usd, report.effort
    spread, tail = (interval_text(latency.intervals[name], "s") for name in ("median", "p95"))
    method = "" if cost.interval_method is None else f"; {cost.interval_method}"
    note = "" if latency.note is None else f"; {latency.note}"
    lines = [
        (
            f"time: median {figures.duration(latency.median)} {spread}, p95 {figures.duration(latency.p95)} {tail}, "
            f"p99 {figures.duration(latency.p99)}, slowest {figures.duration(latency.max)}, "
            f"mean {figures.duration(latency.mean)}; "
            f"{latency.n} of {figures.counted(latency.n_total, 'run')}; {latency.method}{note}"
        ),
        (
            f"cost: {figures.usd(cost.per_run)} per run {interval_text(cost.interval, 'usd')}, "
            f"{figures.usd(cost.per_success)} per success ({cost.successes} of {cost.n_total}, "
            f"{cost.success_is.replace('_', ' ')}), {figures.usd(cost.total)} in all; "
            f"{cost.n_priced} of {figures.counted(cost.n_total, 'run')} priced, "
            f"{figures.counted(cost.unpriced_llm_calls, 'LLM call')} without a price{method}"
        ),
    ]
    calls = ", ".join(
        f"{value:.1f} {name}"
        for name, value in (
            ("LLM calls per run", effort.llm_calls_per_run),
            ("tool calls per run", effort.tool_calls_per_run),
            ("tool calls per success", effort.tool_calls_per_success),
        )
        if value is not None
    )
    caps = ", ".join(map(str, effort.step_caps)) or "none known"
    if calls:
        lines.append(f"work: {calls}; step cap {caps}")
    if cost.tool_call_share is not None:
        lines.append(f"of the cost, {figures.ratio(cost.tool_call_share)} went to LLM calls that asked for tools")
    return lines


def _is_nowhere(metric: Metric) -> bool:
    return metric.error is None and metric.n_scored == 0 and len(metric.not_applicable) == 1


def interval_text(interval: Bounds | None, unit: str) -> str:
    """An interval in brackets; an open end is an ellipsis; nothing for none."""
    if interval is None:
        return ""
    low, high = ("…" if end is None else score(end, unit) for end in interval)
    return f"[{low}, {high}]"


def reasons_text(not_applicable: dict[str, int]) -> str:
    """Why scores are missing: the commonest reasons with their counts."""
    parts = [f"{figures.count(n)} {reason}" for reason, n in not_applicable.items()]
    more = len(parts) - _REASONS_SHOWN
    return ", ".join(parts[:_REASONS_SHOWN]) + (f", {more} more" if more > 0 else "")


def _value(row: dict[str, Any]) -> object:
    metric: Metric = row["metric"]
    if metric.error is not None:
        return plain("failed", "bold red")
    return None if metric.value is None else score(metric.value, metric.unit)


_METRIC_COLUMNS = (
    Column("metric", lambda row: row["id"], style="cyan", limit=40),
    Column("mean", _value, right=True),
    Column("interval", lambda row: interval_text(row["metric"].interval, row["metric"].unit), whole=True),
    Column("method", lambda row: row["metric"].interval_method, style="dim", from_width=_ROOM_FOR_METHODS),
    Column("scored", lambda row: f"{row['metric'].n_scored} / {row['metric'].n_total}", right=True),
    Column(
        "not applicable",
        lambda row: reasons_text(row["metric"].not_applicable),
        flexible=True,
        limit=_TEXT_LIMIT,
        from_width=80,
    ),
)


def _print_group(out: Console, report: Report, group: str) -> None:
    groups: dict[str, Any] = getattr(report, f"by_{group}")
    if not groups:
        return
    _heading(out, f"By {group}")
    if group in ("category", "variant", "day"):
        out.print(grid([{"name": name, "group": one} for name, one in groups.items()], _group_columns(groups, group)))
        return
    rows = [{"name": name, **one} for name, one in groups.items()]
    median, p95 = timed("median_s", "median"), timed("p95_s", "p95")
    spent = Column("cost", lambda row: figures.usd(row["cost_usd"], row.get("unpriced_llm_calls")), right=True)
    columns = {
        "agent": [
            counted("invocations", from_width=_ROOM_FOR_CALLS),
            counted("runs"),
            _RATE,
            counted("llm_calls", "llm", from_width=_ROOM_FOR_CALLS),
            counted("tool_calls", "tools", from_width=_ROOM_FOR_CALLS),
            spent,
        ],
        "model": [counted("llm_calls", "calls"), counted("errors"), counted("input_tokens", "tokens in"), spent],
        "tool": [counted("tool_calls", "calls"), counted("runs"), _RATE],
    }[group]
    out.print(grid(rows, [named("name", group, limit=40), *columns, median, p95]))


def _rate(row: dict[str, Any]) -> str:
    rate: Rate = row["success_rate"]
    spread = interval_text(rate.interval, "ratio")
    return (
        figures.UNKNOWN
        if rate.value is None
        else f"{score(rate.value, 'ratio')} {spread} n {rate.n_scored}/{rate.n_total}"
    )


_RATE = Column("without error", _rate, whole=True)


def _group_columns(groups: dict[str, Group], heading: str) -> list[Column]:
    """Runs, errors, the few metrics that most groups have a value of, median time and cost."""
    names = group_metrics(groups)[:_GROUP_METRICS]
    return [
        named("name", heading, limit=40),
        Column("runs", lambda row: figures.count(row["group"].runs), right=True),
        Column("errors", lambda row: figures.count(row["group"].errors), right=True),
        *(Column(name, _metric_cell(name), right=True) for name in names),
        Column("median", lambda row: figures.duration(row["group"].latency_s.median), right=True),
        Column("per run", lambda row: figures.usd(row["group"].cost_usd.per_run), right=True),
    ]


def group_metrics(groups: dict[str, Group]) -> list[str]:
    """Ids of the metrics worth a column, outcome first: those that have a value in some group."""
    order = ("outcome", "groundedness", "tools", "agents", "own", "reliability", "efficiency")
    metrics = {name: one for group in groups.values() for name, one in group.metrics.items() if one.value is not None}
    shown = {name: one for name, one in metrics.items() if one.question in order}
    return sorted(shown, key=lambda name: (order.index(str(shown[name].question)), name))


def _metric_cell(name: str) -> Any:
    def cell(row: dict[str, Any]) -> str | None:
        metric: Metric = row["group"].metrics[name]
        if metric.value is None:
            return None
        return f"{score(metric.value, metric.unit)} ({metric.n_scored})"

    return cell


def shown_ids(report: Report) -> dict[str, str]:
    """The ids of all runs that the report and those in it name, as short as they can be told apart."""
    reports = (report, *report.other_sources.values())
    named = [run_id for one in reports for finding in one.findings for run_id in finding.runs]
    return figures.short_ids([*named, *(run.run_id for one in reports for run in one.worst_runs)])


def _print_worst(out: Console, report: Report, ids: dict[str, str]) -> None:
    if not report.worst_runs:
        return
    _heading(out, "Worst runs")
    for run in report.worst_runs:
        case = "" if run.case_id is None else f" {run.case_id}"
        question = "" if run.question is None else shorten(run.question, 100)
        out.print(
            plain(ids[run.run_id], "cyan").append_text(plain(f"{case} {run.status} {question}")),
            soft_wrap=True,
        )
        if run.error_type is not None:
            out.print(
                plain(f"   {run.error_type}: {shorten(run.error_message or '', _TEXT_LIMIT)}", "red"), soft_wrap=True
            )
        for problem in run.problems:
            words = shorten(problem["explanation"] or "", _TEXT_LIMIT)
            out.print(plain(f"   {problem['evaluator']} {problem['value']:.3g}  {words}"), soft_wrap=True)


def _heading(out: Console, title: str) -> None:
    out.print()
    out.print(plain(title, "bold"))
