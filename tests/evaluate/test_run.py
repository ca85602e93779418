"""Running evaluators over a store: scope, what is kept, what a failure does."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import Any

import pytest

from spanscore.evaluate import Evaluation, evaluate_store, find_evaluators, store_evaluation
from spanscore.store import Store, read_session
from spanscore.store.evaluation import Scope
from spanscore.store.scores import ScoreCounts

COUNTED = "select run_id, tool_calls::double as score_value from runs"


def evaluate(
    store: Path, folder: Path, *, scope: Scope | None = None, selection: tuple[str, ...] = ("own",), **options: Any
) -> tuple[Evaluation, ScoreCounts]:
    """Run the user's evaluators of `folder` and keep the scores."""
    catalogue = find_evaluators(folder, selection=selection)
    evaluation = evaluate_store(store, catalogue, scope=scope or Scope(), **options)
    return evaluation, store_evaluation(store, evaluation)


def scores(store: Path, columns: str = "evaluator, run_id, subject_id, score_value", where: str = "true") -> list[Any]:
    with read_session(store) as session:
        return session.rows(f"select {columns} from scores where {where} order by all")


def change(store: Path, sql: str) -> None:
    with Store.open(store) as opened:
        opened.connection.execute(sql)


def test_every_run_in_scope_gets_its_row(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    evaluation, counts = evaluate(store, tmp_path)
    (result,) = evaluation.results

    assert scores(store) == [
        ("counted", "aa1", "aa1", 1.0),
        ("counted", "aa2", "aa2", 0.0),
        ("counted", "bb1", "bb1", 1.0),
    ]
    assert (result.n_total, result.n_scored, result.mean, result.error) == (3, 3, pytest.approx(2 / 3), None)
    assert counts == ScoreCounts(written=3, unchanged=0, removed=0)


def test_a_row_says_how_it_came_to_be(write: Any, store: Path, tmp_path: Path) -> None:
    path = write(
        "limited",
        "select run_id, 1 as score_value, 'one' as score_label, 'It is one.' as explanation, 'bob' as agent_name, "
        "to_json({'most': $most}) as evidence from runs where run_id = 'aa1'",
        more='\n[params.most]\ntype = "BIGINT"\ndefault = 3\ndoc = ""',
    )
    evaluate(store, tmp_path)

    assert scores(store, "* exclude (scored_at)") == [
        (
            "aa1",
            "limited",
            hashlib.sha256(path.read_bytes()).hexdigest(),
            '{"most":3}',
            "run",
            "aa1",
            "bob",
            1.0,
            "one",
            None,
            "It is one.",
            '{"most":3}',
            "f1",
            None,
        )
    ]
    with read_session(store) as session:
        assert session.rows("select evaluator, title, question, grain, unit, better, is_shipped from evaluators") == [
            ("limited", "A title", "own", "run", "count", "higher", False)
        ]


def test_not_applicable_is_counted_by_reason_and_not_in_the_mean(write: Any, store: Path, tmp_path: Path) -> None:
    write(
        "some",
        "select run_id, case when tool_calls > 0 then 0.5 end as score_value, "
        "case when tool_calls > 0 then null else 'no_tool_calls' end as not_applicable_reason from runs",
    )
    evaluation, _ = evaluate(store, tmp_path)
    (result,) = evaluation.results

    assert (result.n_total, result.n_scored, result.mean) == (3, 2, 0.5)
    assert result.not_applicable == {"no_tool_calls": 1}


def test_evaluating_again_writes_nothing(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    write("broken", "select run_id, 1 as score_value from nowhere")
    evaluate(store, tmp_path)
    before = scores(store, "*")
    _, counts = evaluate(store, tmp_path)

    assert counts == ScoreCounts(written=0, unchanged=4, removed=0)
    assert scores(store, "*") == before


def test_a_late_span_scores_that_run_again(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    evaluate(store, tmp_path)
    change(store, "update runs set fingerprint = 'f9', tool_calls = 5 where run_id = 'aa1'")
    _, counts = evaluate(store, tmp_path)

    assert counts == ScoreCounts(written=1, unchanged=2, removed=1)
    assert scores(store, "score_value, trace_fingerprint", "run_id = 'aa1'") == [(5.0, "f9")]


def test_another_version_or_parameter_takes_the_place_of_the_score(write: Any, store: Path, tmp_path: Path) -> None:
    more = '\n[params.most]\ntype = "BIGINT"\ndefault = 3\ndoc = ""'
    write("limited", "select run_id, $most as score_value from runs", more=more)
    evaluate(store, tmp_path)
    _, with_parameter = evaluate(store, tmp_path, params={"limited": {"most": 4}})
    write("limited", "select run_id, $most + 1 as score_value from runs", more=more)
    _, with_version = evaluate(store, tmp_path)

    assert with_parameter == with_version == ScoreCounts(written=3, unchanged=0, removed=3)
    assert scores(store, "distinct score_value, params") == [(4.0, '{"most":3}')]
    with read_session(store) as session:
        assert session.rows("select count(*) from evaluators") == [(1,)]


def test_a_row_that_is_no_longer_given_goes(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    evaluate(store, tmp_path)
    change(store, "update runs set tool_calls = 9 where run_id = 'bb1'")
    write("counted", COUNTED + " where tool_calls < 9")
    _, counts = evaluate(store, tmp_path)

    assert counts.removed == 3
    assert scores(store, "run_id") == [("aa1",), ("aa2",)]


def test_an_evaluation_leaves_the_scores_of_other_runs_and_evaluators(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    write("constant")
    evaluate(store, tmp_path)
    write("counted", "select run_id, 7 as score_value from runs")
    evaluate(store, tmp_path, scope=Scope(source="benchmark"), selection=("counted",))

    assert scores(store, "evaluator, run_id, score_value", "score_value = 7 or evaluator = 'constant'") == [
        ("constant", "aa1", 1.0),
        ("constant", "aa2", 1.0),
        ("constant", "bb1", 1.0),
        ("counted", "bb1", 7.0),
    ]
    assert len(scores(store)) == 6


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(), ["aa1", "aa2", "bb1"]),
        (Scope(source="production"), ["aa1", "aa2"]),
        (Scope(service="shop"), ["aa1", "bb1"]),
        (Scope(experiment="e1"), ["bb1"]),
        (Scope(suite="suite"), ["bb1"]),
        (Scope(suite="other"), []),
        (Scope(since=dt.datetime(2026, 1, 2)), ["aa2", "bb1"]),  # noqa: DTZ001 times of the store have no zone
        (Scope(until=dt.datetime(2026, 1, 2)), ["aa1"]),  # noqa: DTZ001
        (Scope(runs=("aa",)), ["aa1", "aa2"]),
        (Scope(runs=("aa2", "b")), ["aa2", "bb1"]),
        (Scope(runs=("a%",)), []),
        (Scope(source="production", service="shop"), ["aa1"]),
    ],
)
def test_filters_decide_which_runs_every_table_shows(
    write: Any, store: Path, tmp_path: Path, scope: Scope, expected: list[str]
) -> None:
    write("counted", COUNTED)
    for table in ("tool_calls", "spans"):
        key = "run_id" if table == "tool_calls" else "trace_id"
        write(
            f"of_{table}",
            f"select run_id, (select count(*) from {table}) - (select count(*) from {table} "
            f"where {key} in (select {key} from runs)) as score_value from runs",
            unit='"count"',
        )
    evaluation, _ = evaluate(store, tmp_path, scope=scope)

    assert [row[0] for row in scores(store, "run_id", "evaluator = 'counted'")] == expected
    assert {row[0] for row in scores(store, "score_value", "evaluator <> 'counted'")} <= {0.0}
    assert evaluation.runs.column("run_id").to_pylist() == expected


def test_a_call_is_known_by_its_id_and_its_run(write: Any, store: Path, tmp_path: Path) -> None:
    write("calls", "select run_id, tool_call_id, 1 as score_value, agent_name from tool_calls", grain='"tool_call"')
    evaluation, _ = evaluate(store, tmp_path)

    assert scores(store, "run_id, subject_id, agent_name, trace_fingerprint, error") == [
        ("aa1", "t1", "helper", "f1", None),
        ("bb1", "t1", "helper", "f3", None),
    ]
    assert evaluation.results[0].n_total == 2


def test_a_session_has_the_fingerprint_of_its_runs(write: Any, store: Path, tmp_path: Path) -> None:
    select = "select session_id, count(*) as score_value from runs where session_id is not null group by all"
    write("turns", select, grain='"session"', unit='"count"')
    evaluate(store, tmp_path)
    (before,) = scores(store, "run_id, subject_id, score_value, trace_fingerprint")
    change(store, "update runs set fingerprint = 'f9' where run_id = 'aa1'")
    _, counts = evaluate(store, tmp_path)
    ((after,),) = scores(store, "trace_fingerprint")

    assert before[:3] == (None, "s1", 2.0)
    assert counts == ScoreCounts(written=1, unchanged=0, removed=1)
    assert after not in (None, before[3])


@pytest.mark.parametrize(
    ("select", "keys", "expected"),
    [
        ("select run_id, 1 as score_value from nowhere", {}, "nowhere"),
        ("select run_id, error(run_id)::double as score_value from runs", {}, "aa1"),
        ("select run_id, 1 as score_value from runs cross join range(2)", {}, r"more than one row \(3 of them"),
        ("select run_id || 'x' as run_id, 1 as score_value from runs", {}, "what is not in scope"),
        ("select nullif(run_id, 'aa1') as run_id, 1 as score_value from runs", {}, r"no key \(1 of them"),
        ("select run_id, 'nan'::double as score_value from runs", {}, "no finite number"),
        ("select run_id, 'inf'::double as score_value from runs", {}, "no finite number"),
        ("select run_id, null as score_value from runs", {}, "neither a score nor"),
        ("select run_id, null as score_value, ' ' as not_applicable_reason from runs", {}, "neither a score nor"),
        ("select run_id, 1 as score_value, 'x' as not_applicable_reason from runs", {}, "both a score and"),
        ("select run_id, 0.5 as score_value from runs", {"unit": '"boolean"'}, "neither 1 nor 0"),
        ("select run_id, 5.0 as score_value from runs", {"unit": '"ratio"'}, "not between 0 and 1"),
        ("select run_id, -0.1 as score_value from runs", {"unit": '"ratio"'}, "not between 0 and 1"),
        ("select run_id, random() as score_value from runs", {"unit": '"ratio"'}, r":8: `random\(\)` gives another"),
        (
            "select 's2' as session_id, 1 as score_value from runs limit 1",
            {"grain": '"session"'},
            "what is not in scope",
        ),
        (
            "select run_id, (select count(*) from range(1000000000000) a(i) where i % 7 = 3) as score_value from runs",
            {},
            "ran longer than the 0.3 s",
        ),
    ],
)
def test_a_failing_evaluator_is_a_row_and_stops_nothing(
    write: Any, store: Path, tmp_path: Path, select: str, keys: Any, expected: str
) -> None:
    write("bad", select, **keys)
    write("counted", COUNTED)
    evaluation, _ = evaluate(store, tmp_path, timeout_s=0.3)
    ((evaluator, error, run_id, subject),) = scores(store, "evaluator, error, run_id, subject_id", "error is not null")

    assert (evaluator, run_id, subject) == ("bad", None, None)
    with pytest.raises(AssertionError, match=expected):
        raise AssertionError(error)
    assert [result.id for result in evaluation.failed] == ["bad"]
    assert len(scores(store, where="evaluator = 'counted' and error is null")) == 3
    assert scores(store, where="evaluator = 'bad' and error is null") == []


def test_rounding_makes_no_ratio_wrong(write: Any, store: Path, tmp_path: Path) -> None:
    write("sums", "select run_id, 0.1 + 0.2 + 0.7::double as score_value from runs", unit='"ratio"')
    evaluation, _ = evaluate(store, tmp_path)

    assert evaluation.failed == ()


def test_a_file_that_is_no_evaluator_is_a_failure_too(write: Any, store: Path, tmp_path: Path) -> None:
    write("bad", grain='"day"')
    evaluation, _ = evaluate(store, tmp_path)

    assert [result.id for result in evaluation.failed] == ["bad"]
    assert len(scores(store, where="evaluator = 'bad' and contains(error, 'grain `day`')")) == 1


def test_a_failure_is_forgotten_when_the_evaluator_works_again_or_is_gone(
    write: Any, store: Path, tmp_path: Path
) -> None:
    for name in ("mended", "gone"):
        write(name, "select run_id, 1 as score_value from nowhere")
    evaluate(store, tmp_path)
    write("mended", COUNTED)
    evaluate(store, tmp_path, selection=("mended",))
    after_mending = scores(store, "evaluator", "error is not null")
    (tmp_path / "evals" / "gone.sql").unlink()
    evaluate(store, tmp_path, selection=())

    assert after_mending == [("gone",)]
    assert scores(store, "evaluator", "error is not null and evaluator in ('mended', 'gone')") == []


def test_a_failure_leaves_the_earlier_scores(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    evaluate(store, tmp_path)
    write("counted", "select run_id, 1 as score_value from nowhere")
    evaluate(store, tmp_path)

    assert len(scores(store, where="error is null")) == 3
    assert len(scores(store, where="error is not null")) == 1


CASES = """
    insert into cases (suite_name, suite_version, case_id, input, expected_tools, stored_at) values
        ('suite', '1', 'c1', 'Who?', ['one'], '2026-01-01'), ('suite', '2', 'c1', 'Who?', ['two'], '2026-01-02'),
        ('prices', '1', 'p1', ' how much is IT? ', ['price'], '2026-01-01'), ('prices', '1', 'p2', null, null, null)
"""
EXPECTED = (
    "select runs.run_id, len(cases.expected_tools) as score_value, cases.expected_tools[1] as score_label, "
    "case when cases.run_id is null then 'no_case' end as not_applicable_reason "
    "from runs left join cases using (run_id)"
)


def test_a_case_is_found_by_its_id_and_newest_version_else_by_the_input(
    write: Any, store: Path, tmp_path: Path
) -> None:
    write("expected", EXPECTED)
    change(store, CASES)
    evaluate(store, tmp_path)

    assert scores(store, "run_id, score_label, not_applicable_reason") == [
        ("aa1", None, "no_case"),
        ("aa2", "price", None),
        ("bb1", "two", None),
    ]


def test_the_version_that_a_run_names_wins(write: Any, store: Path, tmp_path: Path) -> None:
    write("expected", EXPECTED)
    change(store, CASES)
    change(store, "update runs set suite_version = '1' where run_id = 'bb1'")
    evaluate(store, tmp_path, scope=Scope(suite="suite"))

    assert scores(store, "run_id, score_label") == [("bb1", "one")]


def test_a_suite_takes_in_the_runs_that_ask_what_it_asks(write: Any, store: Path, tmp_path: Path) -> None:
    write("expected", EXPECTED)
    change(store, CASES)
    evaluate(store, tmp_path, scope=Scope(suite="prices"))

    assert scores(store, "run_id, score_label") == [("aa2", "price")]


def test_scores_and_cases_survive_a_rebuild(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    change(store, CASES)
    evaluate(store, tmp_path)
    with Store.open(store) as opened:
        opened.rebuild()
        assert opened.connection.execute("select count(*) from cases").fetchall() == [(4,)]

    assert len(scores(store)) == 3


def test_an_empty_store_and_no_evaluator_are_no_errors(write: Any, tmp_path: Path) -> None:
    write("counted", COUNTED)
    Store.open(tmp_path / "store").close()
    evaluation, counts = evaluate(tmp_path / "store", tmp_path)
    nothing, _ = evaluate(tmp_path / "store", tmp_path, selection=(str(tmp_path / "store"),))

    assert (evaluation.results[0].n_total, evaluation.results[0].mean, counts.written) == (0, None, 0)
    assert nothing.results == ()


def test_the_store_is_free_between_reading_and_writing(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    evaluation = evaluate_store(store, find_evaluators(tmp_path, selection=["own"]), scope=Scope())
    with Store.open(store, wait_s=0) as opened:
        opened.connection.execute("delete from runs where run_id = 'aa1'")

    assert store_evaluation(store, evaluation).written == 3


def test_progress_is_told_for_every_evaluator(write: Any, store: Path, tmp_path: Path) -> None:
    write("counted", COUNTED)
    write("bad", "select 1 as score_value from nowhere")
    told: list[tuple[int, int]] = []
    evaluate(store, tmp_path, on_done=lambda done, total: told.append((done, total)))

    assert sorted(told) == [(1, 2), (2, 2)]
