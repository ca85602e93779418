"""What stands on top of a report: what to know before believing it, then what to mend, by what it pays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spanscore.report import figures
from spanscore.report.scorecard.measure import EvaluatorFacts, RunFacts, Score, shortfall
from spanscore.report.scorecard.model import Cost, Finding, Group, Latency, Metric, TraceQuality

# Runs named in one finding.
_EXAMPLES = 3
# Categories whose cases have no answer: an agent that invents one there invents elsewhere.
_WITHOUT_ANSWER = ("nonsense", "unanswerable")
# A 95th percentile this many times the median is a tail.
_TAIL = 3.0
# A success that costs this many times what a run does: failures are what is paid for.
_WASTE = 1.5


def findings(
    *,
    runs: Sequence[RunFacts],
    scores: Mapping[str, Sequence[Score]],
    evaluators: Sequence[EvaluatorFacts],
    metrics: Mapping[str, Metric],
    by_category: Mapping[str, Group],
    quality: TraceQuality,
    latency: Latency,
    cost: Cost,
    stale: int,
    sources: Sequence[str],
    source: str | None,
) -> list[Finding]:
    """Trace quality, groundedness, cases without an answer, outcome, latency tail, tools, agents, cost."""
    by_question: dict[str, list[EvaluatorFacts]] = {}
    for evaluator in evaluators:
        by_question.setdefault(evaluator.question or "", []).append(evaluator)

    def imperfect(question: str) -> Iterator[Finding]:
        for evaluator in by_question.get(question, ()):
            finding = _imperfect(evaluator, scores.get(evaluator.id, ()), metrics[evaluator.id], topic=question)
            if finding is not None:
                yield finding

    return [
        *_about_the_report(runs, evaluators, metrics, stale=stale, sources=sources, source=source),
        *_about_the_traces(quality),
        *imperfect("groundedness"),
        *_without_answer(by_category, evaluators),
        *_errors(runs),
        *imperfect("outcome"),
        *_tail(latency),
        *imperfect("tools"),
        *imperfect("agents"),
        *imperfect("reliability"),
        *imperfect("own"),
        *_cost(cost, runs),
    ]


def _about_the_report(
    runs: Sequence[RunFacts],
    evaluators: Sequence[EvaluatorFacts],
    metrics: Mapping[str, Metric],
    *,
    stale: int,
    sources: Sequence[str],
    source: str | None,
) -> Iterator[Finding]:
    if not runs:
        yield Finding(kind="no_runs", topic="trace_quality", text="No run is in scope.")
        return
    if len(sources) > 1:
        yield Finding(
            kind="two_sources",
            topic="trace_quality",
            text=f"There are benchmark and production runs; these figures are of {source} alone. "
            "Choose one with --source.",
        )
    if not evaluators:
        yield Finding(
            kind="not_evaluated", topic="trace_quality", text="Nothing has been scored yet: run `spanscore evaluate`."
        )
    missing = max(
        (metrics[one.id].not_applicable.get("not_evaluated", 0) for one in evaluators if one.error is None), default=0
    )
    if missing:
        yield Finding(
            kind="not_evaluated",
            topic="trace_quality",
            text=f"{missing} of {figures.counted(len(runs), 'run')} "
            f"{figures.agreeing(missing, 'lacks', 'lack')} a score of some evaluator: run `spanscore evaluate`.",
        )
    if stale:
        yield Finding(
            kind="stale_scores",
            topic="trace_quality",
            text=f"{figures.counted(stale, 'run')} "
            f"{figures.agreeing(stale, 'has got spans since it was', 'have got spans since they were')} scored: "
            "run `spanscore evaluate`.",
        )
    for evaluator in evaluators:
        if evaluator.error is not None:
            yield Finding(
                kind="evaluator_failed", topic="trace_quality", text=f"`{evaluator.id}` failed: {evaluator.error}"
            )


def _about_the_traces(quality: TraceQuality) -> Iterator[Finding]:
    for row in quality.findings:
        example = row["example_run_id"]
        where = "" if example is not None else f" Look at trace {row['example_trace_id']}."
        yield Finding(
            kind=row["kind"],
            topic="trace_quality",
            text=f"{row['kind'].replace('_', ' ')}: {row['n']} in {figures.counted(row['traces'], 'trace')}.{where}",
            runs=[] if example is None else [example],
        )
    if quality.pending_traces:
        yield Finding(
            kind="pending_traces",
            topic="trace_quality",
            text=f"{figures.counted(quality.pending_traces, 'trace')} "
            f"{figures.agreeing(quality.pending_traces, 'has', 'have')} rows that the trajectory does not know yet.",
        )
    if quality.spool_waiting_bytes:
        yield Finding(
            kind="spool_waiting",
            topic="trace_quality",
            text=f"{figures.size(quality.spool_waiting_bytes)} of received spans wait to be loaded.",
        )


def _imperfect(evaluator: EvaluatorFacts, scores: Sequence[Score], metric: Metric, *, topic: str) -> Finding | None:
    """What is not as good as it could be, with the runs that are worst."""
    faulty = [(shortfall(evaluator, one.value), one.run.run_id) for one in scores]
    bad = sorted(((fault, run_id) for fault, run_id in faulty if fault > 0), key=lambda item: (-item[0], item[1]))
    if not bad or metric.value is None:
        return None
    thing = evaluator.grain.replace("_", " ")
    direction = "below 1" if evaluator.better == "higher" else "above 0"
    return Finding(
        kind=evaluator.id,
        topic=topic,
        text=f"{evaluator.id} is {metric.value:.3g}: {len(bad)} of "
        f"{figures.counted(metric.n_scored, f'scored {thing}')} "
        f"{figures.agreeing(len(bad), 'is', 'are')} {direction}.",
        runs=list(dict.fromkeys(run_id for _, run_id in bad))[:_EXAMPLES],
    )


def _without_answer(by_category: Mapping[str, Group], evaluators: Sequence[EvaluatorFacts]) -> Iterator[Finding]:
    for name, group in by_category.items():
        if name.lower() not in _WITHOUT_ANSWER:
            continue
        for evaluator in evaluators:
            metric = group.metrics[evaluator.id]
            if evaluator.question in ("outcome", "tools") and shortfall(evaluator, metric.value) > 0:
                yield Finding(
                    kind="case_without_answer",
                    topic="outcome",
                    text=f"{evaluator.id} is {metric.value:.3g} on {figures.counted(metric.n_scored, 'run')} of "
                    f"the category `{name}`.",
                )


def _errors(runs: Sequence[RunFacts]) -> Iterator[Finding]:
    failed = [run.run_id for run in runs if run.status == "error"]
    if failed:
        yield Finding(
            kind="run_errors",
            topic="outcome",
            text=f"{len(failed)} of {figures.counted(len(runs), 'run')} ended in an error.",
            runs=failed[:_EXAMPLES],
        )


def _tail(latency: Latency) -> Iterator[Finding]:
    if latency.p95 is not None and latency.median and latency.p95 > _TAIL * latency.median:
        yield Finding(
            kind="latency_tail",
            topic="latency",
            text=f"p95 is {latency.p95 / latency.median:.1f} times the median: {figures.duration(latency.p95)} against "
            f"{figures.duration(latency.median)} over {figures.counted(latency.n, 'run')}.",
        )


def _cost(cost: Cost, runs: Sequence[RunFacts]) -> Iterator[Finding]:
    n = cost.unpriced_llm_calls
    if n:
        failed = sum(run.unpriced_failed_calls or 0 for run in runs)
        aside = f" ({failed} of them failed, which `unpriced_calls` leaves out)" if failed else ""
        yield Finding(
            kind="unpriced_calls",
            topic="cost",
            text=f"{figures.counted(n, 'LLM call')} {figures.agreeing(n, 'has', 'have')} no known price{aside}: "
            "costs are lower bounds. See `spanscore prices check`.",
        )
    if cost.per_run and cost.per_success is not None and cost.per_success > _WASTE * cost.per_run:
        yield Finding(
            kind="cost_of_failures",
            topic="cost",
            text=f"A success costs {figures.usd(cost.per_success)}, a run {figures.usd(cost.per_run)}: "
            f"{cost.n_total - cost.successes} of {figures.counted(cost.n_total, 'run')} did not succeed.",
        )
