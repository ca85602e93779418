"""What can be detected: formulas against tables and against simulation."""

import random

import pytest

from spanscore.errors import StatisticsInputError
from spanscore.statistics import (
    cases_needed,
    detectable_change,
    detectable_difference,
    paired_difference,
    runs_needed,
    wald_half_width,
)

USUAL = {"significance": 0.05, "power": 0.8}


def test_the_textbook_sample_sizes():
    # Cohen 1988: a difference of half a standard deviation, paired, needs 32 (z) cases.
    assert cases_needed(1.0, 0.5, **USUAL) == 32
    # Fleiss 1981: 60% against 70%, 5%, 80%.
    assert runs_needed(0.6, 0.7, **USUAL) == 356


def test_cases_and_difference_are_inverse():
    assert detectable_difference(1.0, 32, **USUAL) == pytest.approx(0.495, abs=0.001)
    assert cases_needed(1.0, detectable_difference(1.0, 50, **USUAL), **USUAL) == 50


def test_27_runs_read_a_change_of_about_15_points_and_prove_one_of_36():
    assert wald_half_width(22 / 27, 27, confidence=0.95) == pytest.approx(0.15, abs=0.005)
    change = detectable_change(22 / 27, 27, **USUAL)

    assert change == pytest.approx(0.359, abs=0.001)
    assert runs_needed(22 / 27, 22 / 27 - change, **USUAL) <= 27


def test_a_few_runs_show_nothing_at_all():
    assert detectable_change(0.5, 2, **USUAL) is None


def test_the_promised_power_is_kept():
    draw = random.Random(3)
    found = 0
    for _ in range(200):
        differences = [draw.gauss(0.5, 1) for _ in range(34)]
        result = paired_difference(differences, confidence=0.95, resamples=200, seed=draw.getrandbits(30))
        assert result.p_value is not None
        found += result.p_value <= 0.05

    assert 0.72 <= found / 200 <= 0.9


@pytest.mark.parametrize(
    "call",
    [
        lambda: cases_needed(1.0, 0.0, **USUAL),
        lambda: cases_needed(1.0, 1e-9, **USUAL),
        lambda: runs_needed(0.5, 0.5, **USUAL),
        lambda: runs_needed(0.5, 1.5, **USUAL),
        lambda: detectable_difference(-1.0, 5, **USUAL),
        lambda: detectable_difference(1.0, 0, **USUAL),
    ],
)
def test_questions_without_an_answer_are_refused(call):
    with pytest.raises(StatisticsInputError):
        call()
