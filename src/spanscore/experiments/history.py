"""The history of a suite: the figures of each experiment in a file, and where they are going."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from spanscore.experiments import files
from spanscore.experiments.figures import metric_figure, side
from spanscore.experiments.model import Experiment, Metric
from spanscore.statistics import Trend, better_of, trend
from spanscore.statistics.gates import TREND_PREVIOUS, TREND_TOLERANCE

KIND = "spanscore history"
SCHEMA_VERSION = 1
DOCUMENT_VERSION = "1.0"
DEFAULT_FILE = Path("spanscore-history.json")
_REMEDY = "Begin one with `spanscore history --add latest`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A metric in one experiment."""

    value: float | None
    n: int
    unit: str
    better: str
    definition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The figures of one experiment.

    Attributes:
        verdict: what the gate said of it; None = it was not asked.
        p50_s, p95_s: duration of its runs, nearest rank [s].
    """

    name: str
    experiment_id: str | None
    variant: str | None
    suite_name: str | None
    suite_version: str | None
    git_commit: str | None
    started_at: str | None
    verdict: str | None
    cases: int
    runs: int
    errors: int
    p50_s: float | None
    p95_s: float | None
    cost_usd_per_attempt: float | None
    cost_usd_per_success: float | None
    metrics: Mapping[str, Point]

    @property
    def key(self) -> tuple[str | None, ...]:
        """What makes an experiment the same one when it is added again."""
        return (self.suite_name, self.experiment_id, self.variant, None if self.experiment_id else self.started_at)


def entry(experiment: Experiment, *, git_commit: str | None, verdict: str | None = None) -> Entry:
    """The figures of an experiment.

    Args:
        experiment: whose.
        git_commit: taken where the experiment names none.
        verdict: of the gate.
    """
    figures = side(experiment)
    return Entry(
        name=experiment.name,
        experiment_id=experiment.experiment_id,
        variant=experiment.variant,
        suite_name=experiment.suite_name,
        suite_version=experiment.suite_version,
        git_commit=experiment.git_commit or git_commit,
        started_at=experiment.started_at,
        verdict=verdict,
        cases=figures.cases,
        runs=figures.runs,
        errors=figures.errors,
        p50_s=files.rounded(figures.latency_s.p50),
        p95_s=files.rounded(figures.latency_s.p95.value),
        cost_usd_per_attempt=files.rounded(figures.cost_usd.per_attempt.value),
        cost_usd_per_success=files.rounded(figures.cost_usd.per_success),
        metrics={name: _point(experiment, metric) for name, metric in sorted(experiment.metrics.items())},
    )


def _point(experiment: Experiment, metric: Metric) -> Point:
    found = metric_figure(metric, experiment.values(metric.id))
    return Point(
        value=files.rounded(found.value),
        n=found.n,
        unit=metric.unit,
        better=metric.better,
        definition=metric.definition,
    )


def read_history(path: Path, *, missing_is_empty: bool = False) -> list[Entry]:
    """The entries of the file, in the order of time.

    Raises:
        InputError: it is missing (unless that is allowed) or no history.
    """
    if missing_is_empty and not path.exists():
        return []
    return files.read(path, kind=KIND, schema=SCHEMA_VERSION, parse=_parsed, remedy=_REMEDY)


def write_history(path: Path, entries: Sequence[Entry]) -> None:
    """Write the file.

    Raises:
        UsageError: it cannot be written.
    """
    document = {"kind": KIND, "schema_version": SCHEMA_VERSION, "entries": [asdict(one) for one in entries]}
    files.write(path, document)


def with_entry(entries: Sequence[Entry], added: Entry) -> list[Entry]:
    """The entries with one more, in the place of an earlier one of the same experiment."""
    earlier = next((one for one in entries if one.key == added.key), None)
    if earlier is not None and added.verdict is None:
        added = replace(added, verdict=earlier.verdict)
    kept = [one for one in entries if one.key != added.key]
    return sorted([*kept, added], key=lambda one: one.started_at or "")


def comparable(entries: Sequence[Entry], metric: str, latest: Entry) -> list[float | None]:
    """The values of a metric up to the latest entry, as far as they mean the same.

    Those of other suites, other versions of the suite, or other versions of the evaluator are left out.
    """
    point = latest.metrics[metric]
    return [
        one.metrics[metric].value
        for one in entries
        if (one.suite_name, one.suite_version) == (latest.suite_name, latest.suite_version)
        and metric in one.metrics
        and one.metrics[metric].definition == point.definition
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where a metric is and where it goes.

    Attributes:
        values: comparable ones, the latest last.
        delta: latest minus the one before; None without one.
        mean_of_previous: of the two before the latest, which the trend rule compares with.
        trend: regression, ok or unknown; None for a metric without a good side.
        left_out: earlier values that another suite version or evaluator gave [count].
    """

    metric: str
    unit: str
    better: str
    values: list[float | None]
    latest: float | None
    delta: float | None
    mean_of_previous: float | None
    trend: str | None
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The history of one suite, for people and programs."""

    schema_version: str
    suite_name: str | None
    suite_version: str | None
    entries: list[Entry]
    lines: list[Line]
    alerts: list[str]
    rule: str

    def as_json(self) -> dict[str, Any]:
        """The document as plain objects."""
        return asdict(self)


def dashboard(entries: Sequence[Entry], *, metrics: Sequence[str] = (), last: int = 20) -> Dashboard:
    """Deltas and alerts of the suite of the latest entry.

    Args:
        entries: in the order of time.
        metrics: ids; empty = all.
        last: how many entries to show [count].
    """
    if not entries:
        return Dashboard(
            schema_version=DOCUMENT_VERSION,
            suite_name=None,
            suite_version=None,
            entries=[],
            lines=[],
            alerts=[],
            rule=RULE,
        )
    latest = entries[-1]
    own = [one for one in entries if one.suite_name == latest.suite_name]
    lines = [_line(own, name, latest) for name in sorted(latest.metrics) if not metrics or name in metrics]
    return Dashboard(
        schema_version=DOCUMENT_VERSION,
        suite_name=latest.suite_name,
        suite_version=latest.suite_version,
        entries=own[-last:],
        lines=lines,
        alerts=list(_alerts(latest, lines)),
        rule=RULE,
    )


RULE = f"worse than the mean of the previous {TREND_PREVIOUS} by more than {100 * TREND_TOLERANCE:g}% of it"


def _line(entries: Sequence[Entry], name: str, latest: Entry) -> Line:
    point = latest.metrics[name]
    values = comparable(entries, name, latest)
    known = [value for value in values[:-1] if value is not None]
    direction = better_of(point.better)
    return Line(
        metric=name,
        unit=point.unit,
        better=point.better,
        values=values,
        latest=point.value,
        delta=None if point.value is None or not known else files.rounded(point.value - known[-1]),
        mean_of_previous=sum(known[-TREND_PREVIOUS:]) / TREND_PREVIOUS if len(known) >= TREND_PREVIOUS else None,
        trend=None if direction is None else str(trend(values, better=direction)),
        left_out=sum(name in one.metrics for one in entries) - len(values),
    )


def _alerts(latest: Entry, lines: Sequence[Line]) -> Iterator[str]:
    if latest.verdict in ("fail", "undecidable"):
        yield f"The gate said {latest.verdict} of {latest.name}."
    for line in lines:
        if line.trend == Trend.REGRESSION:
            yield f"{line.metric} is {line.latest:.4g}, {RULE} ({line.mean_of_previous:.4g})."
        if line.latest is None and any(value is not None for value in line.values):
            yield f"{line.metric} was not measured in {latest.name}; before, it was."


def _parsed(document: dict[str, Any]) -> list[Entry]:
    return [
        Entry(**{**row, "metrics": {name: Point(**point) for name, point in row["metrics"].items()}})
        for row in document["entries"]
    ]
