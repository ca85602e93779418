"""Comparisons: what is paired, what is refused, and when something is called better or worse."""

from dataclasses import replace

import pytest
from made_up import NOW, experiment, metric

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.compare import compare
from spanscore.experiments.model import FROM_RUNS, pooled
from spanscore.statistics import holm, mcnemar

CASES = [f"c{number:02}" for number in range(20)]


def all_of(value, cases=CASES):
    return {key: [value] for key in cases}


def change_of(comparison, name, candidate=None):
    (found,) = (
        one
        for one in comparison.metrics
        if one.metric == name and (candidate is None or one.candidate_name == candidate)
    )
    return found


def test_a_clear_fall_is_worse_and_the_direction_of_the_metric_decides():
    before = experiment("a", {"task_completed": all_of(1.0), "steps": all_of(3.0)})
    after = experiment("b", {"task_completed": all_of(0.0), "steps": all_of(2.0)})
    found = compare([before, after], now=NOW)

    assert change_of(found, "task_completed").verdict == "worse"
    assert change_of(found, "task_completed").difference == -1
    assert change_of(found, "steps").verdict == "better"
    assert change_of(found, "cost").verdict == "same"
    assert "b is worse in task_completed." in found.findings


def test_cases_with_a_key_metric_on_one_side_alone_are_told_at_the_top():
    before = experiment("a", {"task_completed": all_of(1.0)})
    after = experiment("b", {"task_completed": all_of(1.0) | {key: [None] for key in CASES[15:]}})
    same = experiment("c", {"task_completed": all_of(1.0)})
    found = compare([before, after], now=NOW)

    assert "b: cases with a value on one side alone are not compared: task_completed (5)." in found.findings
    assert not any("one side alone" in line for line in compare([before, same], now=NOW).findings)


def test_a_metric_without_a_good_side_differs():
    before = experiment("a", {"cache_hit_rate": all_of(0.1)})
    after = experiment("b", {"cache_hit_rate": all_of(0.9)})

    assert change_of(compare([before, after], now=NOW), "cache_hit_rate").verdict == "differs"


def test_five_changed_cases_are_inside_the_noise_whatever_they_say():
    after = all_of(1.0) | {key: [0.0] for key in CASES[:5]}
    found = compare(
        [experiment("a", {"task_completed": all_of(1.0)}), experiment("b", {"task_completed": after})], now=NOW
    )
    change = change_of(found, "task_completed")

    assert (change.verdict, change.changed, change.p_adjusted) == ("inside_noise", 5, None)
    assert "too few to tell" in change.text


def test_booleans_without_repeats_are_judged_by_mcnemar():
    after = all_of(1.0) | {key: [0.0] for key in CASES[:8]}
    before = all_of(1.0) | {CASES[19]: [0.0]}
    change = change_of(
        compare([experiment("a", {"task_completed": before}), experiment("b", {"task_completed": after})], now=NOW),
        "task_completed",
    )

    assert (change.test, change.p_value) == ("mcnemar", mcnemar(8, 1).p_value)


def test_repeats_of_a_case_are_one_pair():
    before = experiment("a", {"task_completed": dict.fromkeys(CASES[:6], [1.0] * 10)})
    after = experiment("b", {"task_completed": dict.fromkeys(CASES[:6], [1.0] * 9 + [0.0])})
    change = change_of(compare([before, after], now=NOW), "task_completed")

    assert (change.n, change.test) == (6, "sign_flip_exact")
    assert change.p_value == pytest.approx(2 / 2**6)
    assert change.difference == pytest.approx(-0.1)


def test_a_case_counts_once_however_often_it_was_run():
    before = experiment("a", {"task_completed": {"x": [1.0] * 9, "y": [0.0]}})
    after = experiment("b", {"task_completed": {"x": [1.0], "y": [1.0]}})
    change = change_of(compare([before, after], now=NOW), "task_completed")

    assert (change.baseline.value, change.candidate.value, change.difference) == (0.5, 1.0, 0.5)


def test_holm_covers_all_metrics_that_can_differ_and_no_others():
    names = ("task_completed", "step_efficiency", "numbers_grounded")
    before = experiment("a", {name: all_of(1.0) for name in names})
    after = experiment(
        "b",
        {
            "task_completed": all_of(1.0) | {key: [0.0] for key in CASES[:6]},
            "step_efficiency": all_of(1.0) | {key: [0.5] for key in CASES[:7]},
            "numbers_grounded": all_of(1.0) | {CASES[0]: [0.0]},
        },
    )
    found = compare([before, after], now=NOW)
    tested = {one.metric: one for one in found.metrics if one.p_adjusted is not None}

    assert set(tested) == {"task_completed", "step_efficiency"}
    assert {name: one.p_adjusted for name, one in tested.items()} == holm(
        {name: one.p_value for name, one in tested.items()}
    )


def test_key_metrics_do_not_pay_for_the_others():
    """Eight cases of eight fall: seen among three key metrics, and not lost among all that repeat it."""
    cases = CASES[:8]
    names = ("task_completed", "tool_set_match", "tool_f1", "steps", "cache_hit_rate")
    before = experiment("a", {name: all_of(1.0, cases) for name in names})
    after = experiment("b", {name: all_of(0.0, cases) for name in names}, seconds=all_of(2.0, cases))
    found = {one.metric: one for one in compare([before, after], now=NOW).metrics}

    assert {name for name, one in found.items() if one.is_key} == {
        "task_completed",
        "tool_set_match",
        "cost",
        "run_duration",
    }
    assert found["task_completed"].p_adjusted == pytest.approx(3 * 2 / 2**8)
    assert found["task_completed"].verdict == "worse"
    assert found["tool_f1"].p_adjusted == pytest.approx(3 * 2 / 2**8)
    named = compare([before, after], now=NOW, metrics=["tool_f1"]).metrics
    assert [(one.is_key, one.p_adjusted) for one in named] == [(True, pytest.approx(2 / 2**8))]


def test_naming_a_metric_leaves_the_others_out():
    before = experiment("a", {"task_completed": all_of(1.0), "steps": all_of(3.0)})
    after = experiment("b", {"task_completed": all_of(0.0), "steps": all_of(2.0)})

    assert [one.metric for one in compare([before, after], now=NOW, metrics=["steps"]).metrics] == ["steps"]
    with pytest.raises(UsageError, match="No score of `nonsense`"):
        compare([before, after], now=NOW, metrics=["nonsense"])


def test_unpaired_cases_are_listed_and_are_in_no_figure():
    before = experiment("a", {"task_completed": {"x": [1.0], "y": [1.0]}}, costs={"x": [1.0], "y": [50.0]})
    after = experiment("b", {"task_completed": {"x": [1.0], "z": [0.0]}}, costs={"x": [2.0], "z": [70.0]})
    found = compare([before, after], now=NOW)

    assert found.unpaired == {"y": ["a"], "z": ["b"]}
    assert [one.cost_usd.total for one in found.sides] == [1.0, 2.0]
    assert change_of(found, "task_completed").n == 1
    assert any("2 cases not on all sides" in finding for finding in found.findings)


def test_a_case_without_a_value_is_counted_not_scored_as_0():
    before = experiment("a", {"numbers_grounded": {"x": [1.0], "y": [1.0]}})
    after = experiment("b", {"numbers_grounded": {"x": [1.0], "y": [None]}})
    change = change_of(compare([before, after], now=NOW), "numbers_grounded")

    assert (change.n, change.only_baseline, change.candidate.value) == (1, 1, 1.0)
    assert "1 case has a value on one side alone" in change.text


def test_no_case_in_common_is_refused():
    with pytest.raises(NotComparable, match="nothing to pair"):
        compare([experiment("a", {"steps": {"x": [1.0]}}), experiment("b", {"steps": {"y": [1.0]}})], now=NOW)


def test_other_suite_versions_are_refused_unless_allowed():
    before = experiment("a", {"steps": {"x": [1.0]}})
    after = experiment("b", {"steps": {"x": [1.0]}}, suite_version="2")
    with pytest.raises(UsageError, match="--allow-different-suites"):
        compare([before, after], now=NOW)
    allowed = compare([before, after], now=NOW, allow_different_suites=True)

    assert "The suites differ" in allowed.findings[0]


def test_two_definitions_of_one_metric_are_refused_unless_it_is_left_out():
    before = experiment("a", {"steps": {"x": [1.0]}, "tool_f1": {"x": [1.0]}})
    after = replace(before, name="b", attempts=[replace(one, run_id="other") for one in before.attempts])
    after = replace(
        after, metrics={**FROM_RUNS, "steps": metric("steps"), "tool_f1": metric("tool_f1", definition="1")}
    )
    with pytest.raises(NotComparable, match="`tool_f1`"):
        compare([before, after], now=NOW)

    assert compare([before, after], now=NOW, metrics=["steps"]).cases == 1


def test_the_same_runs_are_not_compared_with_themselves():
    one = experiment("a", {"steps": {"x": [1.0]}})
    with pytest.raises(UsageError, match="same runs"):
        compare([one, replace(one, name="b")], now=NOW)
    with pytest.raises(UsageError, match="two experiments"):
        compare([one], now=NOW)


def test_three_sides_have_one_family_of_tests():
    sides = [
        experiment(name, {"task_completed": all_of(value)}) for name, value in (("a", 1.0), ("b", 0.0), ("c", 1.0))
    ]
    found = compare(sides, now=NOW)

    assert change_of(found, "task_completed", "b").verdict == "worse"
    assert change_of(found, "task_completed", "c").verdict == "same"
    assert found.candidates == ["b", "c"]


def test_categories_are_compared_too_and_pay_for_their_number():
    categories = {case: ("even" if number % 2 == 0 else "odd") for number, case in enumerate(CASES)}
    after = all_of(1.0) | {case: [0.0] for case, category in categories.items() if category == "odd"}
    found = compare(
        [
            experiment("a", {"task_completed": all_of(1.0)}, categories=categories),
            experiment("b", {"task_completed": after}, categories=categories),
        ],
        now=NOW,
        metrics=["task_completed"],
    )

    assert {one.category: (one.verdict, one.n) for one in found.categories} == {
        "even": ("same", 10),
        "odd": ("worse", 10),
    }


def test_failed_runs_are_in_cost_and_success_is_what_the_checks_say():
    one = experiment("a", {"steps": {"x": [2, 3, 5, 2, 5]}})
    attempts = [
        replace(attempt, is_success=bool(success), is_checked=True, tool_calls=calls, cost_usd=0.01 * calls)
        for attempt, success, calls in zip(one.attempts, [1, 1, 0, 1, 0], [2, 3, 5, 2, 5], strict=True)
    ]
    first = replace(one, attempts=attempts, step_caps={"x": 5})
    other = experiment("b", {"steps": {"x": [1.0]}})
    side = compare([first, other], now=NOW).sides[0]

    assert (side.success_rate.value, side.tool_calls_per_attempt) == (0.6, 3.4)
    assert side.tool_calls_per_success == pytest.approx(5.6667, abs=5e-5)
    assert side.cost_usd.per_attempt.value == pytest.approx(0.034)
    assert side.cost_usd.per_success == pytest.approx(0.17 / 3)
    assert (side.step_caps, side.success_is) == ([5], "task_completed")


def test_an_unknown_cost_is_not_free():
    first = experiment("a", {"steps": {"x": [1.0, 1.0]}}, costs={"x": [0.02, None]})
    found = compare([first, experiment("b", {"steps": {"x": [1.0]}})], now=NOW)

    assert (found.sides[0].cost_usd.per_attempt.value, found.sides[0].cost_usd.n_priced) == (0.02, 1)


def test_the_tail_is_told_by_the_rule_of_thumb_and_so_labelled():
    cases = [f"c{number:03}" for number in range(100)]
    slow = {case: [10.0 + number / 100] for number, case in enumerate(cases)}
    fast = {case: [1.0 + number / 100] for number, case in enumerate(cases)}
    found = compare(
        [
            experiment("a", {"steps": all_of(1.0, cases)}, seconds=fast),
            experiment("b", {"steps": all_of(1.0, cases)}, seconds=slow),
        ],
        now=NOW,
    )

    assert found.tail[0].intervals_overlap is False
    assert "rule of thumb" in found.tail[0].text
    assert found.sides[0].latency_s.p95.value == 1.94


def test_rounding_is_no_change():
    before = experiment("a", {"tool_f1": {"x": [0.1, 0.1, 0.1]}})
    after = experiment("b", {"tool_f1": {"x": [0.1]}})

    assert change_of(compare([before, after], now=NOW), "tool_f1").verdict == "same"


def test_pooled_experiments_are_one_side():
    first, second = (experiment(name, {"task_completed": {"x": [value]}}) for name, value in (("a", 1.0), ("b", 0.0)))
    found = compare([pooled("baseline", [first, second]), experiment("c", {"task_completed": {"x": [1.0]}})], now=NOW)

    assert change_of(found, "task_completed").baseline.value == 0.5
    assert found.sides[0].runs == 2
