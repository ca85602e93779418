"""Keeps what was run as an experiment, and tells what of it has arrived."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from spanscore.store.queries import read_query
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.store.session import ReadSession
    from spanscore.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow:
    """A row for the table `experiments`, without its times."""

    experiment_id: str
    suite_name: str
    suite_version: str | None
    variant: str | None
    agent: str
    repeats: int
    git_commit: str | None
    settings: Mapping[str, Any]


def store_experiment(store: Store, row: ExperimentRow, *, is_finished: bool) -> None:
    """Stores the row in place of an earlier one, which gives it the time of its beginning.

    Args:
        store: to write to.
        row: what is run.
        is_finished: whether every trial has been made.
    """
    connection = store.connection
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.begin()
    try:
        before = connection.execute(
            "select min(started_at) from experiments where experiment_id = ?", [row.experiment_id]
        ).fetchall()
        connection.execute("delete from experiments where experiment_id = ?", [row.experiment_id])
        connection.execute(
            read_query("bench/insert_experiment.sql"),
            {
                **{name: getattr(row, name) for name in ExperimentRow.__slots__},
                "settings": json.dumps(dict(row.settings), sort_keys=True),
                "started_at": before[0][0] or now,
                "ended_at": now if is_finished else None,
            },
        )
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise


@dataclass(frozen=True, slots=True)
class TrialTrace:
    """What has arrived of one trial."""

    agent_spans: int
    """Spans in the trace of the trial that are not the harness's [count]."""
    runs: int
    """Runs that say they are this trial [count]."""
    steps: int | None
    """LLM calls and tool calls of these [steps]; None = there is no run."""
    cost_usd: float | None
    """None = there is no run, or no price."""


def trial_traces(
    session: ReadSession, experiment_id: str, trials: Sequence[tuple[str, int, str]]
) -> dict[tuple[str, int], TrialTrace]:
    """What has arrived of each trial.

    Args:
        session: to read with.
        experiment_id: of the trials.
        trials: case id, trial, and id of the trace that the harness began.
    """
    if not trials:
        return {}
    rows = session.rows(
        read_query("bench/trial_traces.sql"),
        {
            "experiment_id": experiment_id,
            "case_ids": [case_id for case_id, _, _ in trials],
            "trials": [trial for _, trial, _ in trials],
            "trace_ids": [trace_id for _, _, trace_id in trials],
        },
    )
    return {(case_id, trial): TrialTrace(*found) for case_id, trial, *found in rows}
