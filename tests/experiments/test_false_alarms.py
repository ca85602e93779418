"""How often an alarm is false: a few cells by default, the published rates when there is time."""

import importlib.util
import sys
from pathlib import Path

import pytest

from spanscore.experiments.gate import false_alarm_rate

SCRIPT = Path(__file__).parents[2] / "scripts" / "false_alarms.py"


@pytest.fixture(scope="module")
def simulation():
    spec = importlib.util.spec_from_file_location("false_alarm_tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_gate_fails_an_unchanged_metric_about_as_often_as_it_says(simulation):
    measured = simulation.gate_alarms(27, 3, metrics=1, replications=800)

    # Three standard errors of 800 replications are 3.4 points.
    assert measured == pytest.approx(false_alarm_rate(3, 2.0), abs=0.04)


def test_the_trend_rule_is_a_coin_that_falls_often_on_few_cases(simulation):
    assert simulation.trend_alarms(9, replications=400) > 0.15
    assert simulation.trend_alarms(99, replications=400) < 0.1


def test_a_large_fall_is_found(simulation):
    assert simulation.gate_alarms(99, 10, metrics=1, replications=200, fall=0.3) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("cases", [9, 27])
def test_a_comparison_of_seven_metrics_cries_wolf_once_in_twenty(simulation, cases):
    alarms, _ = simulation.compare_alarms(cases, replications=300)

    # Two and a half standard errors above 5%.
    assert alarms <= 0.082


@pytest.mark.slow
def test_a_comparison_finds_what_is_there(simulation):
    _, found = simulation.compare_alarms(99, replications=60, fall=0.3)

    assert found > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("variants", [2, 4])
def test_a_winner_among_equals_is_rarely_called_outside_the_noise(simulation, variants):
    # Two and a half standard errors above 5%.
    assert simulation.winner_alarms(9, variants, replications=200) <= 0.09
