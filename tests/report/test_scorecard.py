"""The report document: published numbers, missing scores, sources apart, findings in order, and its schema."""

import json
import time
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import jsonschema
import pytest
from scorecards import Filling, published_suite

from spanscore.report.scorecard import model

LATENCY_S = [1.8, 1.9, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0, 3.1, 3.3, 3.6, 4.2, 7.8, 12.4, 41.0]
SCHEMA = json.loads((Path(model.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return published_suite(tmp_path_factory.mktemp("suite")).report()


def test_the_published_report_of_27_runs(suite):
    metrics = suite.metrics

    assert (suite.runs, suite.errors) == (27, 0)
    assert metrics["tool_set_match"].value == pytest.approx(0.815, abs=5e-4)
    assert metrics["numbers_grounded"].value == pytest.approx(0.926, abs=5e-4)
    assert metrics["sources_cited"].value == 1.0
    assert metrics["steps"].median == 3
    assert metrics["step_cap_hit"].value * 27 == pytest.approx(2)
    assert suite.effort.step_caps == [6]
    assert {name: round(group.metrics["tool_set_match"].value, 2) for name, group in suite.by_category.items()} == {
        "arithmetic": 1.0,
        "background": 1.0,
        "conflicting-sources": 1.0,
        "current": 1.0,
        "multi-step": 0.67,
        "nonsense": 0.33,
        "restraint": 0.67,
        "unanswerable": 0.67,
    }


def test_repeats_of_a_case_are_one_cluster(suite):
    metric = suite.metrics["tool_set_match"]

    assert (metric.n_scored, metric.n_total, metric.clusters, metric.interval_method) == (27, 27, 9, "cluster_wilson")
    assert metric.interval[0] < 0.6331
    assert suite.latency_s.interval_methods["median"] == "cluster_order_statistic"
    assert suite.by_category["nonsense"].metrics["tool_set_match"].interval_method == "wilson"
    assert "one cluster" in suite.by_category["nonsense"].metrics["tool_set_match"].note


def test_findings_come_in_the_order_in_which_they_pay(suite):
    kinds = [finding.kind for finding in suite.findings]

    assert kinds == ["numbers_grounded", "case_without_answer", "case_without_answer", "tool_set_match"]
    assert len(suite.findings[0].runs) == 2


def test_the_worst_run_brings_its_evidence(suite):
    worst = suite.worst_runs[0]

    assert worst.case_id == "junk-1"
    assert [problem["evaluator"] for problem in worst.problems] == ["numbers_grounded", "tool_set_match"]
    assert worst.problems[0]["evidence"]["unsupported"][0]["text"] == "711"


def test_the_published_latency_tail(tmp_path):
    filling = Filling(tmp_path / "s")
    for number, seconds in enumerate(LATENCY_S):
        filling.run(f"r{number}", number=number, duration_s=seconds)
    filling.run("unfinished", number=50, duration_s=None, status="incomplete")
    report = filling.report()
    latency = report.latency_s

    assert (latency.p50, latency.median, latency.p95, latency.max) == (2.7, 2.75, 12.4, 41.0)
    assert latency.mean == pytest.approx(5.33)
    assert (latency.n, latency.n_total) == (20, 21)
    assert "nearest rank" in latency.method
    assert latency.intervals["p95"][1] is None
    assert "p99 of 20 values is the largest one" in latency.note
    assert [finding.kind for finding in report.findings] == ["not_evaluated", "latency_tail"]


def test_fewer_than_20_runs_say_that_p95_is_the_slowest(tmp_path):
    filling = Filling(tmp_path / "s")
    for number in range(19):
        filling.run(f"r{number}", duration_s=float(number))

    assert "p95 of 19 values is the largest one" in filling.report().latency_s.note


def test_failed_runs_are_in_the_averages_and_success_costs_more(tmp_path):
    """Five bounded runs, three of which succeed: 3.4 calls per attempt, 17 / 3 per success."""
    filling = Filling(tmp_path / "s")
    for number, (success, calls) in enumerate(zip([1, 1, 0, 1, 0], [2, 3, 5, 2, 5], strict=True)):
        filling.run(
            f"r{number}",
            tool_calls=calls,
            cost_usd=0.01 * calls,
            status="ok" if success else "error",
            unpriced_llm_calls=0,
        )
    report = filling.report()

    assert report.errors == 2
    assert report.effort.tool_calls_per_run == pytest.approx(3.4)
    assert report.effort.tool_calls_per_success == pytest.approx(5.6667, abs=5e-5)
    assert report.cost_usd.per_run == pytest.approx(0.034)
    assert report.cost_usd.per_success == pytest.approx(0.17 / 3)
    assert [finding.kind for finding in report.findings][-1] == "cost_of_failures"


def test_checks_decide_what_a_success_is(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.know("task_completed")
    for number, completed in enumerate([1.0, 0.0]):
        filling.run(f"r{number}", cost_usd=1.0)
        filling.score(f"r{number}", "task_completed", completed)
    cost = filling.report().cost_usd

    assert (cost.successes, cost.success_is, cost.per_success) == (1, "task_completed", 2.0)


def test_a_success_without_a_price_makes_no_other_cheaper(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.run("priced", cost_usd=0.02)
    for name in ("one", "two"):
        filling.run(name, cost_usd=None, unpriced_llm_calls=1)
    cost = filling.report().cost_usd

    assert (cost.successes, cost.n_priced, cost.per_run, cost.per_success) == (3, 1, 0.02, 0.02)


def test_an_unknown_cost_is_not_free(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.run("priced", cost_usd=0.02, unpriced_llm_calls=1)
    filling.run("unpriced", cost_usd=None, unpriced_llm_calls=3)
    filling.run("free", cost_usd=0.0, unpriced_llm_calls=0)
    cost = filling.report().cost_usd

    assert (cost.per_run, cost.n_priced, cost.n_total, cost.unpriced_llm_calls) == (0.01, 2, 3, 4)


def test_what_was_not_scored_stays_in_the_count(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.know("numbers_grounded")
    for number in range(5):
        filling.run(f"r{number}")
    filling.score("r0", "numbers_grounded", 1.0)
    filling.score("r1", "numbers_grounded", None, reason="no_claims")
    filling.score("r2", "numbers_grounded", float("nan"))
    report = filling.report()
    metric = report.metrics["numbers_grounded"]

    assert (metric.value, metric.n_scored, metric.n_total) == (1.0, 1, 5)
    assert metric.not_applicable == {"not_evaluated": 2, "no_claims": 1, "not_finite": 1}
    assert report.findings[0].text.startswith("2 of 5 runs lack a score")


def test_an_evaluator_that_failed_is_seen(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.run("r0")
    filling.score(None, "broken", None, error="no such column", subject_id=None)
    report = filling.report()

    assert report.metrics["broken"].value is None
    assert report.metrics["broken"].not_applicable == {"evaluator_failed": 1}
    assert report.findings[0].kind == "evaluator_failed"
    assert "no such column" in report.findings[0].text


def test_scores_of_another_version_of_the_trace_are_told(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.know("steps")
    filling.run("r0", fingerprint="new")
    filling.score("r0", "steps", 3.0, trace_fingerprint="old")

    assert [finding.kind for finding in filling.report().findings] == ["stale_scores"]


@pytest.fixture
def both(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.know("task_completed")
    for number in range(4):
        is_benchmark = number == 0
        filling.run(
            f"r{number}",
            duration_s=100.0 if is_benchmark else 1.0,
            source="benchmark" if is_benchmark else "production",
            case_id="c" if is_benchmark else None,
        )
        filling.score(f"r{number}", "task_completed", float(is_benchmark))
    return filling


def test_benchmark_and_production_are_never_one_figure(both):
    report = both.report()
    production = report.other_sources["production"]

    assert (report.scope["source"], report.runs, report.latency_s.max) == ("benchmark", 1, 100.0)
    assert (production.scope["source"], production.runs, production.latency_s.max) == ("production", 3, 1.0)
    assert (report.metrics["task_completed"].value, production.metrics["task_completed"].value) == (1.0, 0.0)
    assert report.findings[0].kind == production.findings[0].kind == "two_sources"


def test_a_chosen_source_stands_alone(both):
    report = both.report(source="production")

    assert (report.runs, report.other_sources) == (3, {})
    assert "two_sources" not in [finding.kind for finding in report.findings]


def test_turns_of_a_session_are_one_cluster(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.know("task_completed")
    for number in range(12):
        filling.run(f"r{number}", session_id=f"s{number // 3}")
        filling.score(f"r{number}", "task_completed", float(number // 3 % 2))
    metric = filling.report().metrics["task_completed"]

    assert (metric.clusters, metric.interval_method) == (4, "cluster_wilson")


def test_an_empty_store_has_a_report_that_says_so(tmp_path):
    report = Filling(tmp_path / "s").report()

    assert (report.runs, report.metrics, report.latency_s.p95, report.cost_usd.total) == (0, {}, None, None)
    assert [finding.kind for finding in report.findings] == ["no_runs"]
    jsonschema.validate(json.loads(json.dumps(report.as_json())), SCHEMA)


def test_agents_tools_and_handoffs(tmp_path):
    filling = Filling(tmp_path / "s")
    filling.run("r0")
    for number, (name, status) in enumerate([("a", "ok"), ("a", "error"), ("b", "ok")]):
        filling.insert(
            "agent_invocations",
            [
                {
                    "agent_invocation_id": f"i{number}",
                    "run_id": "r0",
                    "agent_name": name,
                    "status": status,
                    "duration_s": float(number),
                    "tool_calls": number,
                }
            ],
        )
    for number, (tool, status, handoff) in enumerate([("t", "ok", False), ("t", "error", False), ("go", "ok", True)]):
        row = {"tool_call_id": f"t{number}", "run_id": "r0", "tool_name": tool, "status": status}
        filling.insert("tool_calls", [{**row, "is_handoff": handoff, "is_agent_tool": False, "llm_call_id": "l0"}])
    filling.insert(
        "handoffs",
        [
            {
                "handoff_id": f"h{n}",
                "run_id": "r0",
                "from_agent": "a",
                "to_agent": "b",
                "succeeded": n > 0,
                "is_back": False,
                "is_bounce": n == 2,
            }
            for n in range(3)
        ],
    )
    for number, usd in enumerate([0.03, 0.01, None]):
        row = {"llm_call_id": f"l{number}", "run_id": "r0", "request_model": "m", "cost_usd": usd, "status": "ok"}
        filling.insert("llm_calls", [row])
    report = filling.report()

    assert report.by_agent["a"]["success_rate"].value == 0.5
    assert (report.by_agent["a"]["successes"], report.by_agent["a"]["invocations"]) == (1, 2)
    assert (report.by_agent["a"]["mean_latency_s"], report.by_agent["a"]["mean_tool_calls"]) == (0.5, 0.5)
    assert list(report.by_tool) == ["t"]
    assert report.by_tool["t"]["success_rate"].value == 0.5
    assert (report.handoffs.total, report.handoffs.successful, report.handoffs.bounced) == (3, 2, 1)
    assert report.handoffs.success_rate.value == pytest.approx(2 / 3)
    assert report.cost_usd.tool_call_share == pytest.approx(0.75)
    assert report.cost_usd.by_model == {"m": pytest.approx(0.04)}
    jsonschema.validate(json.loads(json.dumps(report.as_json())), SCHEMA)


def test_the_document_meets_its_schema(suite):
    document = json.loads(json.dumps(suite.as_json()))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)
    del document["metrics"]["steps"]["n_total"]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_the_schema_names_every_field():
    for name, kind in {
        "report": model.Report,
        "metric": model.Metric,
        "cost": model.Cost,
        "latency": model.Latency,
    }.items():
        assert set(SCHEMA["$defs"][name]["properties"]) == {one.name for one in fields(kind)}
    for kind in get_type_hints(model.Report).values():
        for part in (kind, *get_args(kind)):
            if is_dataclass(part):
                assert any(
                    {one.name for one in fields(part)} == set(d.get("properties", {}))
                    for d in [*SCHEMA["$defs"].values(), *SCHEMA["$defs"]["report"]["properties"].values()]
                )


def test_the_same_store_gives_the_same_report(suite, tmp_path):
    assert published_suite(tmp_path / "again").report().as_json() == suite.as_json()


def test_a_thousand_runs_take_no_time_to_speak_of(tmp_path):
    """Not a benchmark: a guard against work that grows with runs times groups."""
    filling = Filling(tmp_path / "s")
    filling.know("task_completed", "steps", "numbers_grounded", "tool_set_match")
    filling.connection.execute(
        "insert into runs (run_id, trace_id, source, started_at, status, duration_s, session_id, fingerprint)"
        " select 'r' || i, 'r' || i, 'production', timestamp '2026-11-28' + to_minutes(i), 'ok', i / 100,"
        " 's' || (i // 2), 'f' from range(1000) t(i)"
    )
    filling.connection.execute(
        "insert into scores (run_id, evaluator, evaluator_sha256, params, grain, subject_id, score_value,"
        " trace_fingerprint, scored_at) select 'r' || i, e, '0', '{}', 'run', 'r' || i, i % 2, 'f', now()::timestamp"
        " from range(1000) t(i), unnest(['task_completed', 'steps', 'numbers_grounded', 'tool_set_match']) u(e)"
    )
    started = time.process_time()
    report = filling.report()

    assert report.metrics["steps"].n_scored == 1000
    assert time.process_time() - started < 5
