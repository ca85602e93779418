"""Reads experiments from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.model import FROM_RUNS, Attempt, Experiment, Metric, definition_of, scores_from_runs
from spanscore.store.evaluation import Scope, evaluation_session
from spanscore.store.queries import read_query
from spanscore.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.store.evaluation import EvaluationSession

LATEST = "latest"
"""Names the experiment that began last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An experiment in the store, before its runs are read."""

    experiment_id: str | None
    variant: str | None
    suite_name: str | None
    suite_version: str | None
    git_commit: str | None
    started_at: str | None
    runs: int

    @property
    def name(self) -> str:
        """What finds it again: its id and variant, or the one that it has."""
        return "/".join(part for part in (self.experiment_id, self.variant) if part is not None)


class Experiments:
    """The experiments of a store, read when they are asked for."""

    def __init__(self, session: EvaluationSession) -> None:
        self._session = session
        self.listed = [_listed(row) for row in self._rows("experiments")]

    def _rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._session.answer(
            read_query(f"reports/{query}.sql"), parameters or {}
        ).rows.to_pylist()
        return rows

    def find(self, name: str) -> tuple[Listed, list[str]]:
        """The experiment that `name` means, and what to mind about the choice.

        An id comes before a variant. Variants of one experiment that is named by its id alone are taken together; of
        several experiments of one variant the newest is taken.

        Raises:
            UsageError: there is none.
        """
        if name == LATEST and self.listed:
            return self.listed[-1], []
        exact = [one for one in self.listed if one.name == name]
        if exact:
            return exact[-1], []
        arms = [one for one in self.listed if one.experiment_id == name]
        if arms:
            return _together(arms), [] if len(arms) == 1 else [f"its runs are of {len(arms)} variants"]
        of_variant = [one for one in self.listed if one.variant == name]
        if of_variant:
            newest = of_variant[-1]
            several = f"{len(of_variant)} experiments are of variant `{name}`; this is the newest, `{newest.name}`"
            return newest, [several] if len(of_variant) > 1 else []
        raise UsageError(_unknown(name, self.listed))

    def read(self, name: str) -> Experiment:
        """The experiment that `name` means, with its runs and scores.

        Raises:
            UsageError: there is none.
            NotComparable: its scores were made by two versions of one evaluator.
        """
        listed, notes = self.find(name)
        which = {"experiment": listed.experiment_id, "variant": listed.variant}
        rows = self._rows("experiment_runs", which)
        attempts = [Attempt(**{field: row[field] for field in Attempt.__dataclass_fields__}) for row in rows]
        scores: dict[str, dict[str, list[float | None]]] = {}
        metrics: dict[str, Metric] = {}
        case_of = {attempt.run_id: attempt.case_id for attempt in attempts}
        stale, mixed = set(), set()
        scored = self._rows("experiment_scores", {"runs": list(case_of)})
        for row in scored:
            metric = _metric(row)
            mixed |= {metric.id} if metrics.setdefault(metric.id, metric).definition != metric.definition else set()
            scores.setdefault(metric.id, {}).setdefault(case_of[row["run_id"]], []).append(row["score_value"])
            stale |= {row["run_id"]} if row["is_stale"] else set()
        if mixed:
            raise NotComparable(
                f"Experiment `{listed.name}`: runs were scored by different versions of {_quoted(sorted(mixed))}.\n"
                f"  Score them alike: `spanscore evaluate`, without filters or with the same ones for all runs."
            )
        notes += _notes(attempts, scored_runs={row["run_id"] for row in scored}, stale=len(stale))
        return Experiment(
            name=name if name != LATEST else listed.name,
            experiment_id=listed.experiment_id,
            variant=listed.variant,
            suite_name=listed.suite_name,
            suite_version=listed.suite_version,
            git_commit=listed.git_commit,
            started_at=listed.started_at,
            attempts=attempts,
            categories={row["case_id"]: row["category"] for row in rows if row["category"] is not None},
            step_caps={row["case_id"]: row["step_cap"] for row in rows if row["step_cap"] is not None},
            metrics={**metrics, **FROM_RUNS},
            scores={**scores, **scores_from_runs(attempts)},
            notes=notes,
        )


def read_experiments(directory: Path, names: Sequence[str], *, suite: str | None = None) -> list[Experiment]:
    """The experiments that `names` mean; without names the newest of every variant, in the order of their beginning.

    Args:
        directory: of the store.
        names: ids, variants or `latest`.
        suite: only runs of this suite; None = of any.

    Raises:
        UsageError: one of them is not in the store, or there is none.
        NotComparable: scores of one of them were made by two versions of one evaluator.
        StoreError: the store cannot be read.
    """
    with evaluation_session(directory, Scope(suite=suite), macros=(), timeout_s=None) as session:
        experiments = Experiments(session)
        if not experiments.listed:
            raise UsageError(_unknown(names[0] if names else None, []))
        chosen = list(names) or list(dict.fromkeys(one.variant or one.name for one in experiments.listed))
        return [experiments.read(name) for name in chosen]


def _listed(row: Mapping[str, Any]) -> Listed:
    suites, versions = row["suites"] or [], row["versions"] or []
    return Listed(
        experiment_id=row["experiment_id"],
        variant=row["variant"],
        suite_name=" and ".join(suites) or None,
        suite_version=" and ".join(versions) or None,
        git_commit=row["git_commit"],
        started_at=None if row["started_at"] is None else _iso(row["started_at"]),
        runs=row["runs"],
    )


def _together(arms: Sequence[Listed]) -> Listed:
    first = arms[0]
    if len(arms) == 1:
        return first
    suites = list(dict.fromkeys(one.suite_name for one in arms if one.suite_name is not None))
    versions = list(dict.fromkeys(one.suite_version for one in arms if one.suite_version is not None))
    return replace(
        first,
        variant=None,
        suite_name=" and ".join(suites) or None,
        suite_version=" and ".join(versions) or None,
        runs=sum(one.runs for one in arms),
    )


def _iso(moment: Any) -> str:
    return f"{moment.isoformat()[:19]}Z"


def _metric(row: Mapping[str, Any]) -> Metric:
    return Metric(
        id=row["evaluator"],
        title=row["title"],
        question=row["question"],
        unit=row["unit"],
        better=row["better"],
        definition=definition_of(row["evaluator_sha256"], row["params"]),
    )


def _notes(attempts: Sequence[Attempt], *, scored_runs: set[str], stale: int) -> list[str]:
    notes = []
    missing = len(attempts) - len(scored_runs)
    if missing:
        have = agreeing(missing, "has", "have")
        notes.append(f"{missing} of {counted(len(attempts), 'run')} {have} no scores: run `spanscore evaluate`")
    if stale:
        have = agreeing(stale, "has got spans since it was", "have got spans since they were")
        notes.append(f"{counted(stale, 'run')} {have} scored: run `spanscore evaluate`")
    return notes


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_SHOWN = 10


def _unknown(name: str | None, listed: Sequence[Listed]) -> str:
    if not listed:
        return (
            "The store holds no experiment: no run has a case and the name of an experiment or variant.\n"
            "  `spanscore bench run` makes one; runs that were captured need the span attribute spanscore.experiment.id"
            " or spanscore.variant, and their suite in the store (`spanscore evaluate --suite FILE`)."
        )
    newest = [one.name for one in listed]
    return (
        f"There is no experiment or variant `{name}` in the store.\n"
        f"  There {'is' if len(newest) == 1 else 'are'}: {', '.join(reversed(newest[-_SHOWN:]))}."
    )
