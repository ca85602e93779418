"""The baseline of a suite: at least three experiments in a file, with all that a gate or a comparison needs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanscore.errors import UsageError
from spanscore.experiments import files
from spanscore.experiments.figures import metric_figure
from spanscore.experiments.model import FROM_RUNS, KEY_METRICS, Attempt, Experiment, Metric, pooled, scores_from_runs
from spanscore.statistics import Baseline, baseline

KIND = "spanscore baseline"
SCHEMA_VERSION = 1
DEFAULT_FILE = Path("spanscore-baseline.json")
BASELINE = "baseline"
"""The name of the baseline among experiments."""

_REMEDY = "Make one with `spanscore baseline set EXPERIMENT EXPERIMENT EXPERIMENT`."
_RUN_FIELDS = (
    "status",
    "is_success",
    "is_checked",
    "duration_s",
    "cost_usd",
    "unpriced_llm_calls",
    "llm_calls",
    "tool_calls",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFile:
    """What the file holds.

    Attributes:
        git_commit: where the file was made.
        gated: metrics that a gate judges.
        experiments: in the order of time.
    """

    suite_name: str | None
    suite_version: str | None
    git_commit: str | None
    created_at: str
    gated: Sequence[str]
    experiments: Sequence[Experiment]

    @property
    def metrics(self) -> dict[str, Metric]:
        """What was measured, by id."""
        return {name: metric for one in self.experiments for name, metric in sorted(one.metrics.items())}

    def values(self, metric: str) -> list[float]:
        """The mean of a metric in each experiment that has one."""
        found = (
            metric_figure(one.metrics[metric], one.values(metric)).value
            for one in self.experiments
            if metric in one.metrics
        )
        return [value for value in found if value is not None]

    def reference(self, metric: str) -> Baseline | None:
        """Mean and spread of a metric over the experiments; None for fewer than three."""
        return baseline(self.values(metric))

    def as_experiment(self) -> Experiment:
        """All experiments as one side of a comparison."""
        return pooled(BASELINE, self.experiments)


def make_baseline(
    experiments: Sequence[Experiment], *, gated: Sequence[str], now: str, git_commit: str | None
) -> BaselineFile:
    """A baseline of these experiments.

    Args:
        experiments: of one suite and version, scored alike.
        gated: metrics that a gate judges; empty = those of the usual ones that all experiments have.
        now: ISO 8601.
        git_commit: where it is made.

    Raises:
        UsageError: the experiments are of different suites, or a metric has no value or no good side.
        NotComparable: scores were made by different versions of an evaluator.
    """
    from spanscore.experiments.compare import require_one_definition

    suites = {(one.suite_name, one.suite_version) for one in experiments}
    if len(suites) > 1:
        raise UsageError(
            f"A baseline is of one version of one suite, and these are of {len(suites)}.\n"
            "  Name experiments of the same suite and version."
        )
    runs = [attempt.run_id for one in experiments for attempt in one.attempts]
    if len(set(runs)) < len(runs):
        raise UsageError("An experiment is named twice.\n  A variant means its newest experiment: name ids.")
    metrics = {name: metric for one in experiments for name, metric in one.metrics.items()}
    require_one_definition(experiments, list(metrics.values()))
    everywhere = [name for name in metrics if all(one.values(name) for one in experiments)]
    for name in gated:
        if name not in everywhere:
            raise UsageError(
                f"`{name}` has no value in every one of these experiments, so it cannot be gated.\n"
                f"  There are: {', '.join(sorted(everywhere))}."
            )
        if metrics[name].direction is None:
            raise UsageError(f"`{name}` has no good side, so it cannot be gated: its evaluator says better = none.")
    return BaselineFile(
        suite_name=experiments[0].suite_name,
        suite_version=experiments[0].suite_version,
        git_commit=git_commit,
        created_at=now,
        gated=list(gated) or [name for name in KEY_METRICS if name in everywhere],
        experiments=sorted(experiments, key=lambda one: (one.started_at or "", one.name)),
    )


def write_baseline(path: Path, made: BaselineFile) -> None:
    """Write the file.

    Raises:
        UsageError: it cannot be written.
    """
    files.write(path, as_document(made))


def read_baseline(path: Path) -> BaselineFile:
    """Read the file.

    Raises:
        InputError: it is missing or no baseline.
    """
    return files.read(path, kind=KIND, schema=SCHEMA_VERSION, parse=_parsed, remedy=_REMEDY)


def as_document(made: BaselineFile) -> dict[str, Any]:
    """The document of the file: figures first, for a reader; then the runs, for comparisons."""
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "suite_name": made.suite_name,
        "suite_version": made.suite_version,
        "git_commit": made.git_commit,
        "created_at": made.created_at,
        "gated": list(made.gated),
        "metrics": {name: _metric(made, metric) for name, metric in sorted(made.metrics.items())},
        "categories": _merged(one.categories for one in made.experiments),
        "step_caps": _merged(one.step_caps for one in made.experiments),
        "experiments": [_experiment(one) for one in made.experiments],
    }


def _merged(maps: Any) -> dict[str, Any]:
    return dict(sorted({key: value for one in maps for key, value in one.items()}.items()))


def _metric(made: BaselineFile, metric: Metric) -> dict[str, Any]:
    reference = made.reference(metric.id)
    return {
        "mean": None if reference is None else files.rounded(reference.mean),
        "std": None if reference is None else files.rounded(reference.deviation),
        "values": [files.rounded(value) for value in made.values(metric.id)],
        "unit": metric.unit,
        "better": metric.better,
        "title": metric.title,
        "question": metric.question,
        "definition": metric.definition,
    }


def _experiment(one: Experiment) -> dict[str, Any]:
    by_case: dict[str, list[Attempt]] = {case: [] for case in one.cases}
    for attempt in one.attempts:
        by_case[attempt.case_id].append(attempt)
    return {
        "name": one.name,
        "experiment_id": one.experiment_id,
        "variant": one.variant,
        "git_commit": one.git_commit,
        "started_at": one.started_at,
        "cases": {
            case: {
                "runs": {
                    name: [_plain(getattr(attempt, name)) for attempt in attempts] for name in ("run_id", *_RUN_FIELDS)
                },
                "scores": {
                    metric: [files.rounded(value) for value in cases[case]]
                    for metric, cases in sorted(one.scores.items())
                    if case in cases and metric not in FROM_RUNS
                },
            }
            for case, attempts in by_case.items()
        },
    }


def _plain(value: Any) -> Any:
    return files.rounded(value) if isinstance(value, float) else value


def _parsed(document: dict[str, Any]) -> BaselineFile:
    metrics = {
        name: Metric(
            id=name,
            title=row["title"],
            question=row["question"],
            unit=row["unit"],
            better=row["better"],
            definition=row["definition"],
        )
        for name, row in document["metrics"].items()
    }
    for metric in metrics.values():
        metric.direction  # noqa: B018 a word that is no direction is found out here
    return BaselineFile(
        suite_name=document["suite_name"],
        suite_version=document["suite_version"],
        git_commit=document["git_commit"],
        created_at=document["created_at"],
        gated=document["gated"],
        experiments=[_read_experiment(row, document, metrics) for row in document["experiments"]],
    )


def _read_experiment(row: Mapping[str, Any], document: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Experiment:
    attempts = [
        Attempt(case_id=case, **{name: values[number] for name, values in those["runs"].items()})
        for case, those in row["cases"].items()
        for number in range(len(those["runs"]["run_id"]))
    ]
    scores: dict[str, dict[str, list[float | None]]] = {}
    for case, those in row["cases"].items():
        for metric, values in those["scores"].items():
            scores.setdefault(metric, {})[case] = values
    return Experiment(
        name=row["name"],
        experiment_id=row["experiment_id"],
        variant=row["variant"],
        suite_name=document["suite_name"],
        suite_version=document["suite_version"],
        git_commit=row["git_commit"],
        started_at=row["started_at"],
        attempts=attempts,
        categories={case: name for case, name in document["categories"].items() if case in row["cases"]},
        step_caps={case: cap for case, cap in document["step_caps"].items() if case in row["cases"]},
        metrics={**{name: metrics[name] for name in scores}, **FROM_RUNS},
        scores={**scores, **scores_from_runs(attempts)},
    )
