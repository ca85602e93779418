"""Fills a report from the store: a few set-based queries, then statistics on what they give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.evaluate.catalogue import QUESTIONS
from spanscore.experiments.commit import commit_of
from spanscore.report.rows import Row, read_rows
from spanscore.report.scorecard import measure
from spanscore.report.scorecard.findings import findings
from spanscore.report.scorecard.measure import EvaluatorFacts, RunFacts, Score
from spanscore.report.scorecard.model import SCHEMA_VERSION, Group, Handoffs, Metric, Report, TraceQuality
from spanscore.report.scorecard.worst import LONGEST_TEXT, worst_runs
from spanscore.report.terminal import cut
from spanscore.store.evaluation import Scope, evaluation_session

if TYPE_CHECKING:
    import pyarrow as pa

    from spanscore.store.evaluation import EvaluationSession

SOURCES = ("benchmark", "production")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportScope:
    """Which runs a report is about. None passes everything; times are UTC, without zone."""

    since: datetime | None = None
    until: datetime | None = None
    source: str | None = None
    suite: str | None = None
    experiment: str | None = None
    service: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The scope as the document shows it."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: f"{value.isoformat()}Z" if isinstance(value, datetime) else value for name, value in values.items()
        }


class _Scoped:
    """Reads the scoped tables of an evaluation session, as report queries do."""

    def __init__(self, session: EvaluationSession) -> None:
        self._session = session

    def arrow(self, sql: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """The rows of one SELECT."""
        return self._session.answer(sql, parameters or {}).rows


def read_report(directory: Path, scope: ReportScope, *, now: datetime, folder: Path) -> Report:
    """The report on the runs in `scope`.

    Benchmark and production are never mixed in one figure. Where there are both and none is chosen, the report is
    about the benchmark, says so, and carries the one about production in `other_sources`.

    Args:
        directory: of the store.
        scope: which runs.
        now: when the report is made, with a zone.
        folder: whose git commit is meant where the experiments name none.

    Raises:
        StoreError: the store cannot be read.
    """
    with evaluation_session(directory, _stored(scope), macros=(), timeout_s=None) as session:
        reader = _Scoped(session)
        counts = {row["source"]: row["runs"] for row in read_rows(reader, "reports/scorecard_sources.sql")}
        present = [source for source in SOURCES if counts.get(source)]
        reports: list[Report] = []
        chosen: Sequence[str | None] = present or [scope.source]
        for source in chosen:
            if len(present) > 1:
                session.prepare(_stored(replace(scope, source=source)), macros=())
            own = replace(scope, source=source)
            reports.append(_Reading(reader, directory, own, now=now, folder=folder, sources=present).report())
    first, *others = reports
    return replace(first, other_sources={str(other.scope["source"]): other for other in others})


def _stored(scope: ReportScope) -> Scope:
    return Scope(**{one.name: getattr(scope, one.name) for one in fields(scope)})


class _Reading:
    """Everything that one report is made of, read once."""

    def __init__(
        self,
        reader: _Scoped,
        directory: Path,
        scope: ReportScope,
        *,
        now: datetime,
        folder: Path,
        sources: Sequence[str],
    ) -> None:
        self.reader, self.directory, self.scope, self.now, self.folder = reader, directory, scope, now, folder
        self.sources = sources
        self.runs = _facts(reader)
        self.by_id = {run.run_id: run for run in self.runs}
        self.evaluators = _evaluators(reader)
        self.scores, self.stale = self._scores()

    def _scores(self) -> tuple[dict[str, list[Score]], int]:
        """Scores by evaluator, and how many runs have changed since they were scored [count]."""
        from spanscore.store.queries import read_query

        table = self.reader.arrow(read_query("reports/scorecard_scores.sql"))
        columns = {name: table.column(name).to_pylist() for name in table.column_names}
        scores: dict[str, list[Score]] = defaultdict(list)
        stale = set()
        for evaluator, run_id, agent_name, value, reason, is_stale in zip(
            *(
                columns[name]
                for name in (
                    "evaluator",
                    "run_id",
                    "agent_name",
                    "score_value",
                    "not_applicable_reason",
                    "is_stale",
                )
            ),
            strict=True,
        ):
            scores[evaluator].append(Score(self.by_id[run_id], agent_name, value, reason))
            if is_stale:
                stale.add(run_id)
        return scores, len(stale)

    def report(self) -> Report:
        """The document, without the other source."""
        metrics = self._metrics(self.runs, self.scores)
        outcomes = read_rows(self.reader, "reports/scorecard_outcomes.sql")
        by_agent, by_model, by_tool = self._by_agent(outcomes), self._by_model(), self._by_tool(outcomes)
        tool_cost = read_rows(self.reader, "reports/scorecard_tool_cost.sql")[0]
        cost = replace(
            measure.cost(self.runs),
            by_agent={name: row["cost_usd"] for name, row in by_agent.items()},
            by_model={name: row["cost_usd"] for name, row in by_model.items()},
            tool_call_share=(tool_cost["asking_usd"] or 0.0) / tool_cost["total_usd"]
            if tool_cost["total_usd"]
            else None,
        )
        quality = self._trace_quality(metrics)
        by_category = self._groups(lambda run: run.category, has_none=False)
        latency = measure.latency(self.runs)
        worst = worst_runs(self.reader, self.runs, self.scores, self.evaluators)
        return Report(
            schema_version=SCHEMA_VERSION,
            generated_at=self.now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z",
            git_commit=_git_commit(self.reader, self.folder),
            scope=self.scope.as_json(),
            runs=len(self.runs),
            errors=sum(run.status == "error" for run in self.runs),
            trace_quality=quality,
            findings=findings(
                runs=self.runs,
                scores=self.scores,
                evaluators=self.evaluators,
                metrics=metrics,
                by_category=by_category,
                quality=quality,
                latency=latency,
                cost=cost,
                stale=self.stale,
                sources=self.sources,
                source=self.scope.source,
            ),
            metrics=metrics,
            latency_s=latency,
            cost_usd=cost,
            effort=measure.effort(self.runs),
            by_category=by_category,
            by_agent=by_agent,
            by_model=by_model,
            by_tool=by_tool,
            by_variant=self._groups(lambda run: run.variant, has_none=False),
            by_day=self._groups(lambda run: run.day, has_none=True),
            handoffs=self._handoffs(outcomes, metrics),
            worst_runs=worst,
        )

    def _metrics(self, runs: Sequence[RunFacts], scores: Mapping[str, Sequence[Score]]) -> dict[str, Metric]:
        return {
            evaluator.id: measure.metric(evaluator, scores.get(evaluator.id, ()), runs=len(runs))
            for evaluator in self.evaluators
        }

    def _groups(self, key: Callable[[RunFacts], str | None], *, has_none: bool) -> dict[str, Group]:
        """Figures per group of runs; empty when no run has a key. Runs without one are a group when others have one."""
        runs: dict[str | None, list[RunFacts]] = defaultdict(list)
        for run in self.runs:
            runs[key(run)].append(run)
        if set(runs) <= {None} and not has_none:
            return {}
        scores: dict[str | None, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
        for evaluator, those in self.scores.items():
            for one in those:
                scores[key(one.run)][evaluator].append(one)
        return {
            measure.named(name): Group(
                runs=len(members),
                errors=sum(run.status == "error" for run in members),
                metrics=self._metrics(members, scores[name]),
                latency_s=measure.latency(members),
                cost_usd=measure.cost(members),
            )
            for name, members in sorted(runs.items(), key=lambda item: (item[0] is None, item[0] or ""))
        }

    def _by_agent(self, outcomes: Sequence[Row]) -> dict[str, dict[str, Any]]:
        rates = self._rates(outcomes, "agent")
        agents: dict[str | None, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
        for evaluator, scores in self.scores.items():
            for one in scores:
                if one.agent_name is not None:
                    agents[one.agent_name][evaluator].append(one)
        found = {}
        own: dict[str | None, list[Row]] = defaultdict(list)
        for outcome in outcomes:
            if outcome["kind"] == "agent":
                own[outcome["name"]].append(outcome)
        for row in read_rows(self.reader, "reports/per_agent.sql"):
            name, invocations = row.pop("agent_name"), row["invocations"]
            durations = [one["duration_s"] for one in own[name] if one["duration_s"] is not None]
            found[measure.named(name)] = {
                **row,
                "successes": sum(one["is_good"] is True for one in own[name]),
                "success_rate": rates[name],
                "mean_latency_s": sum(durations) / len(durations) if durations else None,
                "mean_tool_calls": None if row["tool_calls"] is None else row["tool_calls"] / invocations,
                "metrics": {
                    evaluator.id: measure.metric(evaluator, agents[name][evaluator.id], runs=0)
                    for evaluator in self.evaluators
                    if agents[name].get(evaluator.id)
                },
            }
        return found

    def _by_model(self) -> dict[str, dict[str, Any]]:
        return {
            measure.named(row.pop("model")): {**row, "provider": _short(row["provider"])}
            for row in read_rows(self.reader, "reports/per_model.sql")
        }

    def _by_tool(self, outcomes: Sequence[Row]) -> dict[str, dict[str, Any]]:
        rates = self._rates(outcomes, "tool")
        rows = ((row.pop("tool_name"), row) for row in read_rows(self.reader, "reports/per_tool.sql"))
        return {measure.named(name): {**row, "success_rate": rates[name]} for name, row in rows}

    def _rates(self, outcomes: Iterable[Row], kind: str) -> dict[str | None, Any]:
        grouped: dict[str | None, list[tuple[bool | None, str]]] = defaultdict(list)
        for one in outcomes:
            if one["kind"] == kind:
                grouped[one["name"]].append((one["is_good"], self.by_id[one["run_id"]].cluster))
        return {name: measure.rate(those) for name, those in grouped.items()}

    def _handoffs(self, outcomes: Sequence[Row], metrics: Mapping[str, Metric]) -> Handoffs:
        pairs = [
            {**row, "from_agent": _short(row["from_agent"]), "to_agent": _short(row["to_agent"])}
            for row in read_rows(self.reader, "reports/handoffs.sql")
        ]
        return Handoffs(
            total=sum(pair["handoffs"] for pair in pairs),
            successful=sum(pair["succeeded"] for pair in pairs),
            success_rate=self._rates(outcomes, "handoff").get(None, measure.rate([])),
            back=sum(pair["back"] for pair in pairs),
            bounced=sum(pair["bounced"] for pair in pairs),
            reassignments=read_rows(self.reader, "reports/scorecard_coordination.sql")[0]["reassignments"],
            supervisor_efficiency=metrics.get("supervisor_efficiency"),
            redundant_work=metrics.get("redundant_work"),
            pairs=pairs,
        )

    def _trace_quality(self, metrics: Mapping[str, Metric]) -> TraceQuality:
        contents = read_rows(self.reader, "reports/contents.sql")[0]
        return TraceQuality(
            findings=read_rows(self.reader, "reports/findings.sql"),
            metrics={name: one for name, one in metrics.items() if one.question == "trace_quality"},
            pending_traces=contents["pending_traces"],
            spool_waiting_bytes=_waiting_bytes(self.reader, self.directory / "spool"),
        )


def _short(name: str | None) -> str | None:
    return None if name is None else measure.named(name)


def _facts(reader: _Scoped) -> list[RunFacts]:
    return [RunFacts(**row) for row in read_rows(reader, "reports/scorecard_runs.sql")]


def _evaluators(reader: _Scoped) -> list[EvaluatorFacts]:
    """The evaluators in the order of reports. One that has only ever failed has no unit."""
    order = {question: number for number, question in enumerate(QUESTIONS)}
    found = [
        EvaluatorFacts(
            id=row["evaluator"],
            title=row["title"],
            question=row["question"],
            grain=row["grain"],
            unit=row["unit"] or "none",
            better=row["better"] or "none",
            error=None if row["error"] is None else cut(row["error"], LONGEST_TEXT),
        )
        for row in read_rows(reader, "reports/scorecard_evaluators.sql")
    ]
    return sorted(found, key=lambda one: (order.get(one.question or "", len(order)), one.id))


def _waiting_bytes(reader: _Scoped, spool: Path) -> int:
    """Bytes that were acknowledged and are not in the store yet."""
    # Importing the collector takes longer than a small report.
    if not spool.is_dir() or not any(spool.iterdir()):
        return 0
    from spanscore.collector.slices import waiting

    loaded = {row["segment"]: row["end_offset"] for row in read_rows(reader, "reports/spool_manifest.sql")}
    return sum(end - start for _, start, end in waiting(spool, loaded=loaded, synced={}))


def _git_commit(reader: _Scoped, folder: Path) -> str | None:
    """The commit of the agent's code: the one that experiments name, else that of `folder`; None for several."""
    named = [row["git_commit"] for row in read_rows(reader, "reports/scorecard_commits.sql")]
    if named:
        return named[0] if len(named) == 1 else None
    return commit_of(folder)
