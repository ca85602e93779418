"""Figures of an experiment as documents show them."""

from spanscore.experiments.figures import figure
from spanscore.statistics import CONFIDENCE, t_mean


def low(values, *, told):
    shown = figure(t_mean(values, confidence=CONFIDENCE), values if told else ())
    assert shown.interval is not None
    return shown.interval[0]


def test_no_mean_of_times_or_amounts_lies_below_zero():
    assert low([0.1, 0.1, 2.0], told=False) < 0
    assert low([0.1, 0.1, 2.0], told=True) == 0


def test_what_may_be_negative_stays_so():
    assert low([-0.1, 0.1, 2.0], told=True) < 0
