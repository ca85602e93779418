"""Passes over a store in tests, and what they leave."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spanscore.evaluate import Catalogue, find_evaluators
from spanscore.production.events import Destination
from spanscore.production.passes import Report, run_pass
from spanscore.production.rules import Alerting
from spanscore.production.scoring import Job, ScoringScope
from spanscore.store import read_session

# One of every grain, and some that depend on calls, handoffs and content.
SELECTION = (
    "numbers_grounded",
    "agent_success",
    "handoff_success",
    "llm_error_rate",
    "orphan_spans",
    "run_error",
    "tool_error_rate",
    "own",
)

SESSION_EVALUATOR = """\
-- /// evaluator
-- id = "turns"
-- title = "Turns of a session"
-- grain = "session"
-- unit = "count"
-- better = "none"
-- ///
select session_id, count(*)::double as score_value
from runs
where session_id is not null
group by session_id
"""

ODD = """\
-- /// evaluator
-- id = "odd"
-- title = "T"
-- grain = "run"
-- unit = "ratio"
-- better = "none"
-- ///
"""
"""The header of an evaluator, to which a SELECT is added."""


def catalogue(folder: Path, selection: tuple[str, ...] = SELECTION) -> Catalogue:
    """A few evaluators that ship, and the user's own in `folder`."""
    evals = folder / "evals"
    evals.mkdir(parents=True, exist_ok=True)
    if not any(evals.iterdir()):
        (evals / "turns.sql").write_text(SESSION_EVALUATOR, encoding="utf-8")
    return find_evaluators(folder, selection=selection)


def job(store: Path, evaluators: Catalogue, **changes: Any) -> Job:
    """A job that scores everything of production at once."""
    scope = {
        name: changes.pop(name) for name in ("source", "since", "until", "service", "sample_below") if name in changes
    }
    settings: dict[str, Any] = {
        "store": store,
        "catalogue": evaluators,
        "params": {},
        "scope": ScoringScope(**{"source": "production", **scope}),
        "batch": 500,
        "settle_s": 0.0,
        "timeout_s": 60.0,
        "destination": None,
    }
    return Job(**{**settings, **changes})


def one_pass(
    what: Job,
    *,
    alerting: Alerting | None = None,
    emit: Path | str | None = None,
    environ: dict[str, str] | None = None,
    on_step: Callable[[str, int, int], None] = lambda *_: None,
    now: dt.datetime | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Report:
    """One pass."""
    destination = None if emit is None else Destination(str(emit), environ or {})
    clock = (lambda: now) if now is not None else (lambda: dt.datetime.now(dt.UTC).replace(tzinfo=None))
    return run_pass(
        what,
        alerting=alerting or Alerting(),
        destination=destination,
        environ=environ or {},
        wait_s=0,
        on_step=on_step,
        is_stopping=is_stopping,
        now=clock,  # type: ignore[arg-type]
    )


def query(store: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the store."""
    with read_session(store) as session:
        return session.rows(sql)


def scores(store: Path) -> list[tuple[Any, ...]]:
    """All scores with every column but the time."""
    return query(
        store,
        "select * exclude (scored_at) replace (params::varchar as params, evidence::varchar as evidence)"
        " from scores order by all",
    )
