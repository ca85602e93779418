"""The work behind the commands: which files and experiments they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.errors import UsageError
from spanscore.experiments import baseline as baselines
from spanscore.experiments import history as histories
from spanscore.experiments.changes import Comparison
from spanscore.experiments.commit import commit_of
from spanscore.experiments.compare import compare
from spanscore.experiments.gate import GateReport, gate
from spanscore.experiments.read import read_experiments
from spanscore.experiments.recommend import Recommendation, recommend

if TYPE_CHECKING:
    from spanscore.experiments.baseline import BaselineFile
    from spanscore.experiments.gate import Bound
    from spanscore.experiments.history import Dashboard, Entry
    from spanscore.experiments.model import Experiment


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a command works: the store, the folder that it was called in, and when."""

    store: Path
    folder: Path
    now: datetime

    @property
    def moment(self) -> str:
        """When, ISO 8601, UTC."""
        return self.now.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def compare_named(
    place: Place,
    names: Sequence[str],
    *,
    baseline_file: Path,
    suite: str | None,
    metrics: Sequence[str],
    allow_different_suites: bool,
) -> Comparison:
    """Compare the experiments that `names` mean; `baseline` means all of those in the file.

    Raises:
        UsageError, InputError, NotComparable, StoreError: as the parts of it do.
    """
    stored = iter(read_experiments(place.store, [name for name in names if name != baselines.BASELINE], suite=suite))
    experiments: list[Experiment] = [
        baselines.read_baseline(baseline_file).as_experiment() if name == baselines.BASELINE else next(stored)
        for name in names
    ]
    return compare(experiments, now=place.moment, metrics=metrics, allow_different_suites=allow_different_suites)


def set_baseline(
    place: Place, names: Sequence[str], *, file: Path, suite: str | None, gated: Sequence[str]
) -> BaselineFile:
    """Make a baseline of the experiments that `names` mean, and write it.

    Raises:
        UsageError, NotComparable, StoreError: as the parts of it do.
    """
    experiments = read_experiments(place.store, names, suite=suite)
    made = baselines.make_baseline(experiments, gated=gated, now=place.moment, git_commit=commit_of(place.folder))
    baselines.write_baseline(file, made)
    return made


def judge(
    place: Place,
    candidate: str,
    *,
    baseline_file: Path | None,
    suite: str | None,
    thresholds: Mapping[str, Bound],
    history_file: Path | None,
    record_file: Path | None,
    metrics: Sequence[str],
    deviations: float,
) -> GateReport:
    """Judge the experiment that `candidate` means, and write it into the history where that is asked for.

    Args:
        place: where.
        candidate: its id or variant, or `latest`.
        baseline_file: None = the usual file, where there is one.
        suite: only runs of this suite; None = that of the baseline.
        thresholds: fixed bounds by metric.
        history_file: None = no trend rule.
        record_file: history that the candidate and the verdict are added to; None = none.
        metrics: for the baseline and trend rules; empty = those that the baseline gates.
        deviations: of the baseline that are allowed.

    Raises:
        UsageError: there is nothing to judge by.
        InputError, NotComparable, StoreError: as the parts of it do.
    """
    usual = place.folder / baselines.DEFAULT_FILE
    chosen = baseline_file if baseline_file is not None else usual if usual.exists() else None
    reference = None if chosen is None else baselines.read_baseline(chosen)
    if reference is None and not thresholds and history_file is None:
        raise UsageError(
            f"There is nothing to judge by: no `{baselines.DEFAULT_FILE}` here, no thresholds, no history.\n"
            "  Make a baseline with `spanscore baseline set`, or give --suite FILE with thresholds, --min or --max."
        )
    history = None if history_file is None else histories.read_history(history_file)
    of_suite = suite if suite is not None or reference is None else reference.suite_name
    (experiment,) = read_experiments(place.store, [candidate], suite=of_suite)
    report = gate(
        experiment,
        now=place.moment,
        reference=reference,
        thresholds=thresholds,
        history=history,
        metrics=metrics,
        deviations=deviations,
    )
    if record_file is not None:
        _record(record_file, experiment, place, verdict=report.verdict)
    return report


def look_back(
    place: Place,
    *,
    file: Path,
    add: str | None,
    suite: str | None,
    metrics: Sequence[str],
    last: int,
) -> tuple[Dashboard, list[Entry]]:
    """The history in the file, after `add` (an experiment of the store) was put into it.

    Raises:
        UsageError, InputError, NotComparable, StoreError: as the parts of it do.
    """
    if add is not None:
        (experiment,) = read_experiments(place.store, [add], suite=suite)
        entries = _record(file, experiment, place, verdict=None)
    else:
        entries = histories.read_history(file)
    own = [one for one in entries if suite is None or one.suite_name == suite]
    return histories.dashboard(own, metrics=metrics, last=last), entries


def _record(file: Path, experiment: Experiment, place: Place, *, verdict: str | None) -> list[Entry]:
    added = histories.entry(experiment, git_commit=commit_of(place.folder), verdict=verdict)
    entries = histories.with_entry(histories.read_history(file, missing_is_empty=True), added)
    histories.write_history(file, entries)
    return entries


def recommend_named(
    place: Place, names: Sequence[str], *, profile: str, suite: str | None, accuracy: str | None
) -> Recommendation:
    """Rank the experiments that `names` mean; without names the newest of every variant.

    Raises:
        UsageError, NotComparable, StoreError: as the parts of it do.
    """
    experiments = read_experiments(place.store, names, suite=suite)
    return recommend(experiments, profile=profile, now=place.moment, accuracy=accuracy)
