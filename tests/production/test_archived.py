"""Runs whose raw rows have moved to the archive are scored like others; those that were purged leave nothing behind."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pytest
from passes import job, one_pass, query, scores
from test_events import records

from spanscore.evaluate import Catalogue
from spanscore.production.events import Destination
from spanscore.retention.archive import archive_store
from spanscore.retention.purge import purge_store
from spanscore.store.purge import Purgeable

LATER = dt.datetime.fromisoformat("2100-01-01")


@pytest.mark.slow
def test_archived_runs_are_scored_as_live_ones(store: Path, evaluators: Catalogue, tmp_path: Path) -> None:
    live = Path(shutil.copytree(store, tmp_path / "live"))
    one_pass(job(live, evaluators))
    archive_store(store, LATER)
    assert query(store, "select count(*) from spanscore.main.spans") == [(0,)]
    events = tmp_path / "events.jsonl"
    report = one_pass(job(store, evaluators, destination=Destination(str(events), {}).name), emit=events)

    assert scores(store) == scores(live)
    assert report.emitted == len(scores(store))
    assert all("spanId" in one for one in records(events) if "traceId" in one)
    assert one_pass(job(store, evaluators)).scored.done == 0


def test_archiving_what_was_scored_changes_nothing(store: Path, few: Catalogue) -> None:
    one_pass(job(store, few))
    before = scores(store)
    archive_store(store, LATER)

    assert one_pass(job(store, few)).scored.done == 0
    assert scores(store) == before


@pytest.mark.slow
def test_a_purge_takes_what_is_known_of_the_run(store: Path, evaluators: Catalogue) -> None:
    one_pass(job(store, evaluators, destination="elsewhere"))
    ((session_id,),) = query(store, "select session_id from runs where session_id is not null group by 1 limit 1")
    traces = [
        trace for (trace,) in query(store, f"select distinct trace_id from runs where session_id = '{session_id}'")
    ]
    (store / "scoring" / "batch").mkdir(parents=True)
    purge_store(store, Purgeable(traces=tuple(traces)), compact=False)

    for table in ("scored_subjects", "score_outbox"):
        left = {subject for (subject,) in query(store, f"select subject_id from {table}")}
        assert not left & {session_id, *traces}
        assert left
    assert not (store / "scoring").exists()
