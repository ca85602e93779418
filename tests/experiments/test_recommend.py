"""Recommendations: the published table, the Pareto front, and what is inside the noise."""

import random
from dataclasses import replace

import pytest
from made_up import NOW, experiment, metric

from spanscore.errors import NotComparable, UsageError
from spanscore.experiments.model import FROM_RUNS
from spanscore.experiments.recommend import recommend

# Of each model: completion, accuracy, seconds, dollars; then its published scores.
MODELS = {
    "gpt-4o": (0.92, 0.95, 3.2, 0.0089),
    "gpt-4o-mini": (0.79, 0.833, 1.8, 0.0008),
    "gpt-4.1-mini": (0.87, 0.917, 2.1, 0.0014),
}
SCORES = {
    "quality_first": {"gpt-4o": 0.867, "gpt-4o-mini": 0.8538, "gpt-4.1-mini": 0.8952},
    "cost_first": {"gpt-4o": 0.8275, "gpt-4o-mini": 0.8995, "gpt-4.1-mini": 0.9121},
    "balanced": {"gpt-4o": 0.8501, "gpt-4o-mini": 0.8649, "gpt-4.1-mini": 0.8963},
}
CASES = [f"c{number:02}" for number in range(100)]


def model(name, figures, cases=CASES):
    completion, accuracy, seconds, dollars = figures
    completed = {case: [float(number < round(completion * len(cases)))] for number, case in enumerate(cases)}
    made = experiment(
        name,
        {"task_completed": completed, "tool_f1": {case: [accuracy] for case in cases}},
        costs={case: [dollars] for case in cases},
        seconds={case: [seconds] for case in cases},
    )
    attempts = [replace(one, is_success=completed[one.case_id] == [1.0], is_checked=True) for one in made.attempts]
    return replace(made, attempts=attempts)


@pytest.mark.parametrize("profile", SCORES)
def test_the_published_scores_and_the_winner_that_they_name(profile):
    found = recommend([model(name, figures) for name, figures in MODELS.items()], profile=profile, now=NOW)

    # The published accuracies are rounded to three digits, so the last of four may differ.
    assert {one.name: one.score for one in found.candidates} == pytest.approx(SCORES[profile], abs=1.1e-4)
    assert found.winner == "gpt-4.1-mini"
    assert found.pareto_front == list(MODELS)
    assert (found.completion_metric, found.accuracy_metric) == ("task_completed", "tool_f1")


def test_a_small_lead_is_inside_the_noise_and_a_large_one_is_not():
    draw = random.Random(3)

    def noisy(name, rate):
        made = model(name, (1.0, 1.0, 2.0, 0.001))
        attempts = [replace(one, is_success=draw.random() < rate) for one in made.attempts]
        return replace(made, attempts=attempts)

    near = recommend([noisy("a", 0.8), noisy("b", 0.8)], profile="quality_first", now=NOW)
    far = recommend([noisy("a", 0.95), noisy("b", 0.3)], profile="quality_first", now=NOW)

    assert near.winner_is_outside_noise is False
    assert any("inside the noise" in finding for finding in near.findings)
    assert far.winner == "a"
    assert far.winner_is_outside_noise is True
    assert far.candidates[1].behind_interval[0] > 0


def test_the_lead_is_judged_by_swapping_cases_and_adjusted_for_all_others():
    """Eight cases, all for the winner: of 256 swaps only none and all leave it as far ahead."""
    cases = CASES[:8]
    sides = [model(name, (1.0, accuracy, 2.0, 0.001), cases) for name, accuracy in (("a", 1.0), ("b", 0.5), ("c", 0.5))]
    two = recommend(sides[:2], profile="balanced", now=NOW)
    three = recommend(sides, profile="balanced", now=NOW)

    assert two.candidates[1].p_adjusted == pytest.approx(2 / 2**8)
    assert [one.p_adjusted for one in three.candidates] == [None, pytest.approx(4 / 2**8), pytest.approx(4 / 2**8)]
    assert three.winner_is_outside_noise is True


def test_five_cases_are_too_few_whatever_they_say():
    cases = CASES[:5]
    found = recommend(
        [model("a", (1.0, 1.0, 1.0, 0.001), cases), model("b", (0.0, 0.0, 9.0, 0.04), cases)],
        profile="balanced",
        now=NOW,
    )

    assert found.candidates[1].p_adjusted == pytest.approx(2 / 2**5)
    assert found.winner_is_outside_noise is False


def test_what_is_beaten_in_everything_is_off_the_front():
    found = recommend(
        [model("good", (0.9, 0.9, 2.0, 0.001)), model("bad", (0.5, 0.8, 4.0, 0.002))], profile="balanced", now=NOW
    )

    assert found.pareto_front == ["good"]
    assert any("at least as good in everything: bad" in finding for finding in found.findings)


def test_a_model_without_a_price_is_not_ranked_and_not_free():
    free = model("unpriced", (1.0, 1.0, 1.0, 0.0))
    free = replace(free, attempts=[replace(one, cost_usd=None) for one in free.attempts])
    found = recommend([model("priced", (0.5, 0.5, 5.0, 0.01)), free], profile="cost_first", now=NOW)

    assert found.not_ranked == {"unpriced": "no cost is known"}
    assert (found.winner, found.winner_is_outside_noise) == ("priced", None)


def test_a_winner_that_invents_more_than_another_is_named():
    def grounded(name, figures, share):
        made = model(name, figures)
        told = experiment(name, {"numbers_grounded": {case: [share] for case in CASES}})
        return replace(made, scores={**made.scores, **told.scores}, metrics={**made.metrics, **told.metrics})

    quick = grounded("quick", (1.0, 1.0, 1.0, 0.001), 0.5)
    honest = grounded("honest", (0.9, 1.0, 5.0, 0.01), 1.0)
    found = recommend([quick, honest], profile="balanced", now=NOW)
    alike = recommend([quick, grounded("other", (0.9, 1.0, 5.0, 0.01), 0.5)], profile="balanced", now=NOW)

    told = "Groundedness has no part in the score: numbers_grounded is 50.0% for quick and 100.0% for honest."
    assert found.winner == "quick"
    assert told in found.findings
    assert not any("Groundedness" in finding for finding in alike.findings)


def test_only_cases_that_all_have_count():
    found = recommend(
        [model("a", (1.0, 1.0, 1.0, 0.01), CASES[:60]), model("b", (0.5, 1.0, 1.0, 0.01), CASES)],
        profile="balanced",
        now=NOW,
    )

    assert found.cases == 60
    assert [one.completion for one in found.candidates] == [1.0, pytest.approx(50 / 60)]


def test_what_cannot_be_ranked_is_refused():
    one = model("a", (1.0, 1.0, 1.0, 0.01))
    other = replace(one, name="b")
    with pytest.raises(UsageError, match="two experiments"):
        recommend([one], profile="balanced", now=NOW)
    with pytest.raises(UsageError, match="2 suites"):
        recommend([one, replace(other, suite_version="2")], profile="balanced", now=NOW)
    with pytest.raises(NotComparable, match="tool accuracy"):
        recommend([experiment(name, {"steps": {"x": [1.0]}}) for name in "ab"], profile="balanced", now=NOW)
    with pytest.raises(UsageError, match="must be a share"):
        recommend([one, other], profile="balanced", now=NOW, accuracy="cost")
    with pytest.raises(NotComparable, match="Different versions"):
        metrics = {**FROM_RUNS, "tool_f1": metric("tool_f1", definition="other")}
        recommend([one, replace(other, metrics={**other.metrics, **metrics})], profile="balanced", now=NOW)
