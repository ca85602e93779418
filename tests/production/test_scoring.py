"""What a pass scores, what it leaves, and what it says about that."""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from passes import ODD, catalogue, job, one_pass, query, scores
from telemetry import load, pieces

from spanscore.errors import ScoringRunning
from spanscore.evaluate import Catalogue, evaluate_store, store_evaluation
from spanscore.production.lease import lease
from spanscore.production.sampling import sample_below
from spanscore.production.scoring import _cut
from spanscore.store import Store
from spanscore.store.evaluation import Scope

NOW = dt.datetime.now(dt.UTC).replace(tzinfo=None)


@pytest.fixture(scope="session")
def scored_once(captured: Path, few: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that one pass has scored; for copying."""
    store = Path(shutil.copytree(captured, tmp_path_factory.mktemp("scored") / "store"))
    one_pass(job(store, few))
    return store


@pytest.fixture
def scored(scored_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored_once, tmp_path / "store"))


def change(store: Path, sql: str) -> None:
    with Store.open(store) as opened:
        opened.connection.execute(sql)


def test_a_second_pass_has_nothing_to_do_and_writes_nothing(scored: Path, few: Catalogue) -> None:
    before = (scored / "spanscore.duckdb").read_bytes()
    report = one_pass(job(scored, few))

    assert report.scored.plan.runs.unchanged == report.scored.plan.runs.considered > 5
    assert (report.scored.done, report.scored.written, report.exit_code) == (0, 0, 0)
    assert (scored / "spanscore.duckdb").read_bytes() == before


def test_only_the_run_that_got_a_span_is_scored_again(scored: Path, few: Catalogue) -> None:
    ((run_id, trace_id),) = query(
        scored,
        "select run_id, trace_id from runs where session_id is null and llm_calls > 0 order by run_id limit 1",
    )
    with Store.open(scored) as opened:
        opened.connection.execute(
            "insert into spans by name select * replace ('00000000000000aa' as span_id, 'late' as name) from spans"
            " where trace_id = ? and parent_span_id is not null limit 1",
            [trace_id],
        )
        opened.connection.execute("insert into pending_traces (trace_id) values (?)", [trace_id])
        opened.derive()
    report = one_pass(job(scored, few))

    assert (report.scored.rescored["run"], report.scored.scored["run"]) == (1, 0)
    assert query(
        scored,
        f"select count(*) from scores join runs using (run_id) where run_id = '{run_id}'"
        " and trace_fingerprint <> fingerprint",
    ) == [(0,)]


def test_a_session_is_scored_whole_when_a_turn_changes(store: Path, tmp_path: Path) -> None:
    own = catalogue(tmp_path, ("own", "run_error"))
    one_pass(job(store, own))
    scored = store
    ((session_id, turns),) = query(
        scored, "select session_id, count(*) from runs where session_id is not null group by all having count(*) > 1"
    )
    assert query(scored, f"select score_value from scores where subject_id = '{session_id}'") == [(float(turns),)]
    change(scored, f"delete from runs where run_id = (select max(run_id) from runs where session_id = '{session_id}')")
    report = one_pass(job(scored, own))

    assert (report.scored.rescored["session"], report.scored.rescored["run"]) == (1, 0)
    assert query(scored, f"select score_value from scores where subject_id = '{session_id}'") == [(turns - 1.0,)]


def test_a_run_without_an_end_waits_until_nothing_comes_any_more(store: Path, few: Catalogue) -> None:
    change(store, "update runs set status = 'incomplete', orphan_spans = 1 where llm_calls > 0")
    ((unfinished,),) = query(store, "select count(*) from runs where orphan_spans = 1")
    early = one_pass(job(store, few, settle_s=60.0), now=NOW)
    assert early.scored.plan.runs.waiting == unfinished > 0
    assert early.lag_s is not None

    ((last,),) = query(store, "select max(received_at) from spans")
    late = one_pass(job(store, few, settle_s=60.0), now=last + dt.timedelta(seconds=61))

    assert late.scored.scored["run"] == unfinished
    assert (late.scored.plan.runs.waiting, late.lag_s) == (0, None)


def test_the_age_of_a_span_is_when_it_came_and_not_when_it_began(store: Path, few: Catalogue) -> None:
    change(store, "update runs set orphan_spans = 1, started_at = '1999-01-01'")

    assert one_pass(job(store, few, settle_s=3600.0), now=NOW).scored.done == 0


def test_a_run_whose_trace_is_still_to_be_derived_waits(store: Path, few: Catalogue) -> None:
    change(store, "insert into pending_traces (trace_id) select trace_id from runs")
    report = one_pass(job(store, few))

    assert (report.scored.done, report.scored.plan.runs.waiting) == (0, report.scored.plan.runs.considered)


def test_a_sample_is_a_matter_of_the_trace_id_alone(store: Path, few: Catalogue) -> None:
    report = one_pass(job(store, few, sample_below=sample_below(0.5)))
    traces = dict(query(store, "select run_id, trace_id from runs where source = 'production'"))
    chosen = {run for run, trace in traces.items() if int(hashlib.md5(trace.encode()).hexdigest(), 16) < 2**127}

    assert {run for (run,) in query(store, "select distinct run_id from scores where run_id is not null")} == chosen
    assert report.scored.plan.runs.sampled_out == len(traces) - len(chosen) > 0
    assert report.scored.plan.runs.considered == len(traces)


@pytest.mark.parametrize(("share", "bound"), [(1.0, None), (0.0, "0" * 32), (0.25, "4" + "0" * 31)])
def test_the_bound_of_a_sample(share: float, bound: str | None) -> None:
    assert sample_below(share) == bound


def test_benchmark_runs_are_left_alone_unless_asked_for(store: Path, few: Catalogue) -> None:
    change(store, "update runs set source = 'benchmark', case_id = 'c' where session_id is null and tool_calls > 0")
    ((production, benchmark),) = query(
        store, "select count(*) filter (source = 'production'), count(*) filter (source = 'benchmark') from runs"
    )
    assert one_pass(job(store, few)).scored.done >= production
    assert query(store, "select count(*) from scores join runs using (run_id) where source = 'benchmark'") == [(0,)]
    assert one_pass(job(store, few, source=None)).scored.scored["run"] == benchmark
    scored = scores(store)
    assert one_pass(job(store, few)).scored.done == 0
    assert scores(store) == scored


def test_a_run_that_becomes_a_part_of_another_takes_its_scores_along(tmp_path: Path, few: Catalogue) -> None:
    store = tmp_path / "store"
    load(store, pieces(("openai-genai/multi_handoff",)))
    change(
        store,
        "insert into runs by name select * replace ('ee' as run_id, 'ee' as trace_id) from runs limit 1;"
        "insert into spans (trace_id, span_id) values ('ee', '01')",
    )
    one_pass(job(store, few))
    assert query(store, "select count(*) > 0 from scores where run_id = 'ee'") == [(True,)]
    change(store, "delete from runs where run_id = 'ee'; insert into pending_traces (trace_id) values ('ee')")
    one_pass(job(store, few))
    assert query(store, "select count(*) > 0 from scores where run_id = 'ee'") == [(True,)], "it waits to be derived"
    change(store, "delete from pending_traces")
    report = one_pass(job(store, few))

    assert report.scored.removed_runs == 1
    assert query(store, "select count(*) from scores where run_id = 'ee'") == [(0,)]


def test_a_window_fills_in_the_past(store: Path, few: Catalogue) -> None:
    change(
        store,
        "update runs set started_at = '2026-01-01' where tool_calls > 0;"
        "update runs set started_at = '2026-02-01' where tool_calls = 0",
    )
    since, until = dt.datetime.fromisoformat("2026-01-01"), dt.datetime.fromisoformat("2026-01-02")
    report = one_pass(job(store, few, since=since, until=until))

    assert query(store, "select distinct tool_calls > 0 from scores join runs using (run_id)") == [(True,)]
    assert report.scored.plan.runs.considered == report.scored.scored["run"] > 0


def test_a_run_that_changes_while_it_is_evaluated_is_left_to_the_next_pass(store: Path, few: Catalogue) -> None:
    ((run_id,),) = query(store, "select min(run_id) from runs where session_id is null")

    def meanwhile(step: str, *_: int) -> None:
        if step == "evaluated":
            change(store, f"update runs set fingerprint = 'moved' where run_id = '{run_id}'")

    report = one_pass(job(store, few), on_step=meanwhile)
    assert report.scored.left == 1
    assert query(store, f"select count(*) from scores where run_id = '{run_id}'") == [(0,)]

    assert one_pass(job(store, few)).scored.scored["run"] == 1
    assert query(store, f"select distinct trace_fingerprint from scores where run_id = '{run_id}'") == [("moved",)]


def test_the_store_is_free_while_evaluators_run(store: Path, few: Catalogue) -> None:
    opened = []

    def meanwhile(step: str, *_: int) -> None:
        if step in ("planned", "copied", "evaluated", "written"):
            with Store.open(store, wait_s=0):
                opened.append(step)

    one_pass(job(store, few), on_step=meanwhile)

    assert {"planned", "copied", "evaluated", "written"} <= set(opened)


def test_an_evaluator_that_is_new_runs_alone(scored: Path, few: Catalogue, tmp_path: Path) -> None:
    more = catalogue(tmp_path, (*[one.id for one in few.evaluators], "cost"))
    before = {row[:3]: row for row in query(scored, "select run_id, evaluator, subject_id, scored_at from scores")}
    seen = []
    report = one_pass(job(scored, more), on_step=lambda step, *_: seen.append(step))

    assert report.scored.rescored["run"] == report.scored.plan.runs.considered
    assert seen.count("evaluated") == 1
    after = {row[:3]: row for row in query(scored, "select run_id, evaluator, subject_id, scored_at from scores")}
    assert {key: after[key] for key in before} == before
    assert {key[1] for key in after.keys() - before.keys()} == {"cost"}
    assert one_pass(job(scored, few)).scored.done == 0, "the smaller set has seen everything still"


def test_scores_that_another_command_replaced_are_given_again(scored: Path, few: Catalogue) -> None:
    before = scores(scored)
    evaluation = evaluate_store(scored, few, scope=Scope(), params={"tool_error_rate": {"min_tool_calls": 99}})
    assert store_evaluation(scored, evaluation).written > 0
    report = one_pass(job(scored, few))

    assert report.scored.rescored["run"] > 0
    assert scores(scored) == before


def test_an_evaluator_that_fails_stops_no_other_and_is_tried_a_few_times(store: Path, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    path = tmp_path / "evals" / "odd.sql"
    path.write_text(ODD + "select run_id, 'inf'::double as score_value from runs\n", encoding="utf-8")
    broken = catalogue(tmp_path, ("odd", "run_error"))
    reports = [one_pass(job(store, broken)) for _ in range(4)]

    assert [report.scored.done > 0 for report in reports] == [True, True, True, False]
    assert all(report.exit_code == 3 and "no finite number" in report.scored.errors["odd"] for report in reports)
    assert query(
        store, "select evaluator, count(*) filter (error is not null) from scores group by all order by all"
    ) == [
        ("odd", 1),
        ("run_error", 0),
    ]

    path.write_text(ODD + "select run_id, 0.5 as score_value from runs\n", encoding="utf-8")
    mended = one_pass(job(store, catalogue(tmp_path, ("odd", "run_error"))))

    assert (mended.exit_code, mended.scored.errors) == (0, {})
    assert query(store, "select distinct error, score_value from scores where evaluator = 'odd'") == [(None, 0.5)]


def test_a_file_that_is_no_evaluator_is_told_and_kept(store: Path, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    path = tmp_path / "evals" / "odd.sql"
    path.write_text("select 1", encoding="utf-8")
    report = one_pass(job(store, catalogue(tmp_path, ("odd", "run_error"))))
    assert (report.exit_code, "odd" in report.scored.errors) == (3, True)
    assert query(store, "select evaluator from scores where error is not null") == [("odd",)]


def test_a_case_that_is_told_later_has_its_run_scored_again(scored: Path, few: Catalogue) -> None:
    assert one_pass(job(scored, few)).scored.done == 0
    change(
        scored,
        "insert into cases (suite_name, suite_version, case_id, input, stored_at)"
        " select 'suite', '1', 'c1', question, now()::timestamp from runs where question is not null limit 1",
    )
    assert one_pass(job(scored, few)).scored.rescored["run"] >= 1
    change(scored, "update cases set stored_at = '2030-01-01'")
    assert one_pass(job(scored, few)).scored.done == 0


def test_one_process_scores_a_store_at_a_time(store: Path, few: Catalogue) -> None:
    with lease(store, wait_s=0), pytest.raises(ScoringRunning, match="is being scored by process"):
        one_pass(job(store, few))
    assert one_pass(job(store, few)).scored.done > 0


def test_asked_to_stop_it_ends_after_the_batch_in_hand(store: Path, few: Catalogue) -> None:
    steps: list[str] = []
    report = one_pass(
        job(store, few, batch=2),
        on_step=lambda step, *_: steps.append(step),
        is_stopping=lambda: "written" in steps,
    )

    assert steps.count("written") == 1
    assert report.scored.skipped > 0
    one_pass(job(store, few))
    assert query(store, "select count(*) from scored_subjects where kind = 'run'") == query(
        store, "select count(*) from runs where source = 'production'"
    )


@given(
    sizes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 50))),
    most=st.tuples(st.integers(1, 12), st.integers(1, 120)),
)
def test_batches_are_as_large_as_both_bounds_allow(sizes: list[tuple[int, int]], most: tuple[int, int]) -> None:
    batches = list(_cut(range(len(sizes)), sizes, most))

    def is_allowed(rows: list[int]) -> bool:
        return all(sum(sizes[row][n] for row in rows) <= most[n] for n in (0, 1))

    assert [row for rows in batches for row in rows] == list(range(len(sizes)))
    assert all(len(rows) == 1 or is_allowed(rows) for rows in batches)
    assert not any(is_allowed([*rows, following[0]]) for rows, following in itertools.pairwise(batches))


def test_a_run_with_more_spans_than_a_batch_may_have_is_one(
    store: Path, few: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.production.scoring.BATCH_SPANS", 4)
    steps: list[str] = []
    report = one_pass(job(store, few), on_step=lambda step, *_: steps.append(step))
    scored = query(store, "select count(*), count(*) filter (where n.spans > 4) from scored_subjects"
                          " inner join runs as n on n.run_id = subject_id where kind = 'run'")  # fmt: skip

    assert [(report.scored.plan.runs.considered, scored[0][1] > 0)] == [(scored[0][0], True)]
    assert steps.count("written") > 4


def test_the_work_is_planned_in_parts(store: Path, few: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanscore.production.scoring.PLANNED", 4)
    report = one_pass(job(store, few, batch=3))

    assert report.scored.scored["run"] == report.scored.plan.runs.considered > 4
    assert json.dumps(report.scored.errors) == "{}"
