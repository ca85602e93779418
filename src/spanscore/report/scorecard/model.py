"""The report document. Its fields are the JSON keys; report.schema.json beside this file is the contract."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA_VERSION = "1.0"

Bounds = tuple[float | None, float | None]
"""Ends of a 95% interval; None is an open end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """The scores of one evaluator.

    n_scored + the sum of not_applicable = n_total: nothing leaves the count unseen.
    """

    value: float | None
    interval: Bounds | None
    interval_method: str | None
    n_scored: int
    n_total: int
    not_applicable: dict[str, int]
    unit: str
    better: str
    title: str | None = None
    question: str | None = None
    grain: str = "run"
    median: float | None = None
    clusters: int | None = None
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of calls, invocations or handoffs [ratio]."""

    value: float | None
    interval: Bounds | None
    interval_method: str | None
    n_scored: int
    n_total: int
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long runs take [s]. A run without a known duration is in n_total and not in n."""

    p50: float | None
    median: float | None
    p95: float | None
    p99: float | None
    max: float | None
    mean: float | None
    n: int
    n_total: int
    method: str
    intervals: dict[str, Bounds | None]
    interval_methods: dict[str, str | None]
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What runs cost [USD]. A run without any priced call is in n_total and not in n_priced; never 0."""

    total: float | None
    per_run: float | None
    interval: Bounds | None
    interval_method: str | None
    per_success: float | None
    successes: int
    success_is: str
    n_priced: int
    n_total: int
    unpriced_llm_calls: int
    reported_total: float | None
    tool_call_share: float | None = None
    by_agent: dict[str, float | None] = field(default_factory=dict)
    by_model: dict[str, float | None] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much work runs take, failed ones included, beside the budget of steps that their suite allows."""

    llm_calls_per_run: float | None
    tool_calls_per_run: float | None
    tool_calls_per_success: float | None
    step_caps: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs that share a category, a variant or a day."""

    runs: int
    errors: int
    metrics: dict[str, Metric]
    latency_s: Latency
    cost_usd: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoffs:
    """How agents hand over. What there is nothing to count of is None."""

    total: int
    successful: int
    success_rate: Rate
    back: int
    bounced: int
    reassignments: int | None
    supervisor_efficiency: Metric | None
    redundant_work: Metric | None
    pairs: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceQuality:
    """Whether the rest can be believed: oddities of the traces, and what the store does not know yet."""

    findings: list[dict[str, Any]]
    metrics: dict[str, Metric]
    pending_traces: int
    spool_waiting_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to know or to mend, in the order in which it pays.

    Attributes:
        kind: one word for programs.
        topic: trace_quality, groundedness, outcome, latency, tools, agents or cost.
        text: one factual sentence.
        runs: runs to look at first.
    """

    kind: str
    topic: str
    text: str
    runs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRun:
    """A run that did worst, with what its evaluators say."""

    run_id: str
    case_id: str | None
    trial: int | None
    entry_agent: str | None
    status: str | None
    error_type: str | None
    error_message: str | None
    question: str | None
    duration_s: float | None
    cost_usd: float | None
    problems: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report on the runs of one source. `other_sources` holds that on the other where both were asked for."""

    schema_version: str
    generated_at: str
    git_commit: str | None
    scope: dict[str, Any]
    runs: int
    errors: int
    trace_quality: TraceQuality
    findings: list[Finding]
    metrics: dict[str, Metric]
    latency_s: Latency
    cost_usd: Cost
    effort: Effort
    by_category: dict[str, Group]
    by_agent: dict[str, dict[str, Any]]
    by_model: dict[str, dict[str, Any]]
    by_tool: dict[str, dict[str, Any]]
    by_variant: dict[str, Group]
    by_day: dict[str, Group]
    handoffs: Handoffs
    worst_runs: list[WorstRun]
    other_sources: dict[str, Report] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The document as plain objects."""
        return asdict(self)
