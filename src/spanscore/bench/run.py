"""Runs a suite: one experiment per variant and budget, into one store."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.addresses import read_address
from spanscore.bench.capture import arrivals, captured
from spanscore.bench.harness import Harness, Limits, Tally
from spanscore.bench.journal import Journal, journal_path
from spanscore.bench.root_span import Sender
from spanscore.bench.suites.checks import is_name
from spanscore.bench.trial import Arm, Budget, Ending, check_baggage
from spanscore.errors import UsageError
from spanscore.store import Store, database_path
from spanscore.store.cases import store_suite
from spanscore.store.experiments import ExperimentRow, TrialTrace, store_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spanscore.bench.agents import Agent
    from spanscore.bench.capture import Capture
    from spanscore.bench.suites import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a suite is run.

    Attributes:
        experiment: id of the experiment, or what the ids of several begin with; None = a new one is made up.
        variants: what is varied; empty = nothing.
        budgets: each makes an experiment of its own.
        limits: of the trials.
        endpoint: of an OTLP/HTTP receiver that runs already; None = one is started.
        listen: `HOST:PORT` of the receiver that is started.
        listen_grpc: the same for gRPC; None = none.
        settle_s: how long to wait for spans that are missing [s]; None = what suits the agent.
    """

    experiment: str | None = None
    variants: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = (Budget(),)
    limits: Limits = field(default_factory=Limits)
    endpoint: str | None = None
    listen: str = "127.0.0.1:0"
    listen_grpc: str | None = None
    settle_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of one experiment.

    Attributes:
        arm: what was run.
        tally: what became of its trials.
        traces: what arrived of each trial whose agent answered; None = there is no store here to look at.
        endpoint: where spans were sent.
    """

    arm: Arm
    tally: Tally
    traces: Mapping[tuple[str, int], TrialTrace] | None
    endpoint: str

    @property
    def without_run(self) -> int:
        """Trials whose agent answered and left nothing that can be scored [count]."""
        return sum(not one.runs for one in (self.traces or {}).values())

    @property
    def without_spans(self) -> int:
        """Those of them of which nothing arrived at all [count]."""
        return sum(not one.runs and not one.agent_spans for one in (self.traces or {}).values())

    @property
    def over_budget(self) -> int:
        """Trials that took more than they were told they may [count]."""
        budget = self.arm.budget
        return sum(
            (budget.steps is not None and one.steps is not None and one.steps > budget.steps)
            or (budget.cost_usd is not None and one.cost_usd is not None and one.cost_usd > budget.cost_usd)
            for one in (self.traces or {}).values()
        )

    @property
    def is_complete(self) -> bool:
        """Whether every trial was made and can be scored."""
        return self.tally.not_made == 0 and self.traces is not None and self.without_run == 0


def plan(suite: Suite, settings: Settings) -> list[Arm]:
    """The experiments: one per variant and budget. Of several, each has the id with its variant and budget behind it.

    Raises:
        UsageError: a name cannot be used, or two experiments would have the same.
    """
    base = settings.experiment or _new_id(suite)
    for word, text in [("--experiment", base), *(("--variant", variant) for variant in settings.variants)]:
        if not is_name(text):
            raise UsageError(f"{word} must be one line of printable characters, at most 200 of them.")
    pairs = [(variant, budget) for variant in settings.variants or (None,) for budget in settings.budgets]
    arms = [Arm(experiment_id=base, suite=suite, variant=variant, budget=budget) for variant, budget in pairs]
    if len(arms) > 1:
        arms = [replace(arm, experiment_id=f"{base}-{_slug(arm.label or 'plain')}") for arm in arms]
    ids = [arm.experiment_id for arm in arms]
    repeated = sorted({one for one in ids if ids.count(one) > 1})
    if repeated:
        raise UsageError(f"Two experiments would be called `{repeated[0]}`. Give every --variant another name.")
    return arms


def run_suite(
    store: Path,
    arms: Sequence[Arm],
    agent: Agent,
    settings: Settings,
    *,
    on_listening: Callable[[Capture], None] | None = None,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Ran]:
    """Runs the experiments one after another, going on where an earlier process stopped.

    Args:
        store: directory of the store, where the journals are too.
        arms: as `plan` gives them.
        agent: to ask; opened and closed here.
        settings: how.
        on_listening: told where spans are received, before the first trial.
        on_done: told (trials done, trials in all) of the experiment under way.

    Raises:
        UsageError: an experiment was begun with something else, or the agent cannot be used.
        BenchError, StoreError, CollectorError: it could not be run to its end.
    """
    check_baggage(arms[0].suite)
    commit = git_commit(Path.cwd())
    rows = [_row(arm, agent, settings, commit) for arm in arms]
    with ExitStack() as stack:
        journals = [
            stack.enter_context(Journal(journal_path(store, arm.experiment_id), _header(arm, row)))
            for arm, row in zip(arms, rows, strict=True)
        ]
        _note(store, arms[0].suite, rows, settings, is_finished=False)
        results = []
        with captured(
            store, endpoint=settings.endpoint, listen=settings.listen, listen_grpc=settings.listen_grpc
        ) as capture:
            if on_listening is not None:
                on_listening(capture)
            agent.open(capture.endpoint)
            try:
                for arm, journal in zip(arms, journals, strict=True):
                    harness = Harness(arm, agent, journal, Sender(capture.endpoint), settings.limits)
                    tally = harness.run(on_done)
                    results.append((arm, journal, tally))
            finally:
                agent.close()
            settle_s = agent.settle_s if settings.settle_s is None else settings.settle_s
            ran = [
                Ran(
                    arm=arm,
                    tally=tally,
                    traces=arrivals(
                        capture, store, arm.experiment_id, _answered(journal, settings.limits), settle_s=settle_s
                    ),
                    endpoint=capture.shown,
                )
                for arm, journal, tally in results
            ]
        finished = [row for row, one in zip(rows, ran, strict=True) if one.tally.not_made == 0]
        _note(store, arms[0].suite, finished, settings, is_finished=True)
    return ran


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out in `folder`; None = none, or no git."""
    git = shutil.which("git")
    if git is None:
        return None
    found = subprocess.run(  # noqa: S603 - a fixed command
        [git, "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False
    )
    return found.stdout.strip() or None if found.returncode == 0 else None


def _answered(journal: Journal, limits: Limits) -> list[tuple[str, int, str]]:
    return [
        (attempt.case_id, attempt.trial, attempt.trace_id)
        for attempt in journal.trials.values()
        if attempt.ending is Ending.OK and attempt.trial < limits.repeats
    ]


def _note(store: Path, suite: Suite, rows: Sequence[ExperimentRow], settings: Settings, *, is_finished: bool) -> None:
    """Writes suite and experiments into the store; where a collector elsewhere fills it, only if it is here."""
    if settings.endpoint is not None and not database_path(store).exists():
        return
    with Store.open(store) as opened:
        if not is_finished:
            store_suite(opened, suite)
        for row in rows:
            store_experiment(opened, row, is_finished=is_finished)


def _row(arm: Arm, agent: Agent, settings: Settings, commit: str | None) -> ExperimentRow:
    return ExperimentRow(
        experiment_id=arm.experiment_id,
        suite_name=arm.suite.name,
        suite_version=arm.suite.version,
        variant=arm.label,
        agent=agent.description,
        repeats=settings.limits.repeats,
        git_commit=commit,
        settings={
            **asdict(settings.limits),
            "budget_steps": arm.budget.steps,
            "budget_cost_usd": arm.budget.cost_usd,
            "endpoint": None if settings.endpoint is None else read_address(settings.endpoint, called="--endpoint").url,
        },
    )


def _header(arm: Arm, row: ExperimentRow) -> dict[str, Any]:
    return {
        "experiment_id": arm.experiment_id,
        "suite_name": arm.suite.name,
        "suite_version": arm.suite.version,
        "suite_sha256": hashlib.sha256(arm.suite.model_dump_json().encode()).hexdigest(),
        "agent": row.agent,
        "variant": arm.variant,
        "steps": arm.budget.steps,
        "cost_usd": arm.budget.cost_usd,
        "cases": len(arm.suite.cases),
        "repeats": row.repeats,
        "git_commit": row.git_commit,
        "begun_at": datetime.now(UTC).isoformat(),
        "process": os.getpid(),
    }


def _new_id(suite: Suite) -> str:
    return f"{_slug(suite.name)}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=]+", "-", text).strip("-").replace("=", "") or "experiment"
