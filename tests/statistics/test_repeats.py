"""pass@k, pass^k and flaky cases, against all choices of k trials."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.errors import StatisticsInputError
from spanscore.statistics import Repeats, flaky, pass_at_k, pass_hat_k


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=4), st.integers(1, 3))
def test_both_are_averages_over_every_choice_of_k_trials(tasks, k):
    counts = [Repeats(sum(trials), len(trials)) for trials in tasks]
    choices = [list(combinations(trials, k)) for trials in tasks]

    assert pass_at_k(counts, k=k).value == pytest.approx(
        sum(sum(map(any, chosen)) / len(chosen) for chosen in choices) / len(tasks)
    )
    assert pass_hat_k(counts, k=k).value == pytest.approx(
        sum(sum(map(all, chosen)) / len(chosen) for chosen in choices) / len(tasks)
    )


def test_one_trial_is_the_success_rate_either_way():
    tasks = [Repeats(2, 3), Repeats(0, 3)]

    assert pass_at_k(tasks, k=1).value == pytest.approx(1 / 3)
    assert pass_hat_k(tasks, k=1).value == pytest.approx(1 / 3)


def test_tasks_with_too_few_trials_are_left_out_and_counted():
    rate = pass_hat_k([Repeats(3, 3), Repeats(1, 1)], k=2)

    assert (rate.value, rate.tasks, rate.left_out) == (1.0, 1, 1)
    assert pass_at_k([], k=1).value is None


@pytest.mark.parametrize(("task", "k"), [(Repeats(1, 1), 0), (Repeats(2, 1), 1)])
def test_what_cannot_be_is_refused(task, k):
    with pytest.raises(StatisticsInputError):
        pass_at_k([task], k=k)


def test_flaky_cases_are_those_whose_trials_differ():
    assert flaky({"b": [True, False], "a": ["x", "y"], "steady": [True, True], "once": [False]}) == ["a", "b"]
