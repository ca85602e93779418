"""The history: entries in order, comparable values alone, alerts."""

import json
from dataclasses import replace

import pytest
from made_up import experiment, metric

from spanscore.errors import InputError
from spanscore.experiments.history import dashboard, entry, read_history, with_entry, write_history
from spanscore.experiments.model import FROM_RUNS
from spanscore.report.comparison.history import curve


def point(number, value, **fields):
    made = experiment(
        f"e{number}", {"task_completed": {"x": [value]}}, started_at=f"2026-11-1{number}T00:00:00Z", **fields
    )
    return entry(made, git_commit="c0ffee")


def line_of(entries, name="task_completed"):
    (line,) = dashboard(entries, metrics=[name]).lines
    return line


def test_the_trend_compares_with_the_two_before():
    line = line_of([point(number, value) for number, value in enumerate([0.1, 0.88, 0.86, 0.72])])

    assert (line.trend, line.delta) == ("regression", pytest.approx(-0.14))
    assert line.mean_of_previous == pytest.approx(0.87)


def test_alerts_are_sentences():
    shown = dashboard([point(number, value) for number, value in enumerate([0.9, 0.9, 0.1])])

    assert shown.alerts == ["task_completed is 0.1, worse than the mean of the previous 2 by more than 5% of it (0.9)."]


def test_values_that_mean_something_else_are_left_out():
    other = {**FROM_RUNS, "task_completed": metric("task_completed", definition="other")}
    entries = [
        point(0, 0.1, suite_version="0"),
        point(1, 0.1, metrics=other),
        point(2, 0.9),
        point(3, 0.9),
        point(4, 0.5),
    ]
    line = line_of(entries)

    assert (line.values, line.left_out, line.trend) == ([0.9, 0.9, 0.5], 2, "regression")
    assert line_of(entries[:4]).trend == "unknown"


def test_what_was_not_measured_is_an_alert_and_no_0():
    shown = dashboard([point(0, 0.9), point(1, 0.9), point(2, None)])

    assert shown.lines[-1].latest is None
    assert any("was not measured" in alert for alert in shown.alerts)


def test_other_suites_do_not_mix():
    shown = dashboard([point(0, 0.9, suite_name="other"), point(1, 0.5)])

    assert ([one.name for one in shown.entries], shown.suite_name) == (["e1"], "s")


def test_adding_again_replaces_and_keeps_order_and_verdict():
    entries = with_entry([], replace(point(2, 0.5), verdict="pass"))
    entries = with_entry(entries, point(1, 0.9))
    entries = with_entry(entries, point(2, 0.6))

    assert [(one.name, one.metrics["task_completed"].value, one.verdict) for one in entries] == [
        ("e1", 0.9, None),
        ("e2", 0.6, "pass"),
    ]


def test_a_history_survives_its_file_and_a_new_entry_adds_lines_only(tmp_path):
    entries = [point(0, 1 / 3), point(1, None)]
    write_history(tmp_path / "h.json", entries)
    before = (tmp_path / "h.json").read_text(encoding="utf-8")
    back = read_history(tmp_path / "h.json")
    write_history(tmp_path / "h.json", with_entry(back, point(2, 0.5)))
    after = (tmp_path / "h.json").read_text(encoding="utf-8")

    assert back == entries
    kept = before.splitlines()[:-3]
    assert after.splitlines()[: len(kept)] == kept


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (None, "There is no file"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no file of this kind"),
        ('{"kind": "spanscore baseline"}', "no file of this kind"),
        ('{"kind": "spanscore history", "schema_version": 99}', "newer spanscore"),
        ('{"kind": "spanscore history", "schema_version": 1}', "damaged"),
        ('{"kind": "spanscore history", "schema_version": 1, "entries": [{"metrics": {}}]}', "damaged"),
        ('{"kind": "spanscore history", "schema_version": 1, "entries": [7]}', "damaged"),
    ],
)
def test_a_file_that_is_none_is_refused_with_what_to_do(tmp_path, text, match):
    if text is not None:
        (tmp_path / "h.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=match):
        read_history(tmp_path / "h.json")


def test_the_file_names_commit_and_suite_version(tmp_path):
    write_history(tmp_path / "h.json", [point(0, 1.0)])
    (one,) = json.loads((tmp_path / "h.json").read_text(encoding="utf-8"))["entries"]

    assert (one["git_commit"], one["suite_name"], one["suite_version"]) == ("c0ffee", "s", "1")


def test_curves():
    assert curve([0.0, None, 0.5, 1.0]) == "▁·▅█"
    assert curve([2.0, 2.0]) == "▄▄"
    assert curve([None]) == ""
