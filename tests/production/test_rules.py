"""Alert rules of spanscore.toml: read strictly, and every mistake named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanscore.errors import UsageError
from spanscore.evaluate import Catalogue, find_evaluators
from spanscore.production.rules import Change, read_alerting, require_variables

GOOD = """\
[evaluators]
paths = []

[[alerts]]
name = "answers"
metric = "numbers_grounded"
window = "1h"
below = 0.9
by = "service"
severity = "critical"
repeat = "4h"

[[alerts]]
name = "cost"
metric = "cost"
window = "1d"
max_rise = "20%"
max_drop = 0.5
min_n = 50

[alerting]
webhook_env = "HOOK"
token_env = "TOKEN"
timeout = "5s"
"""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return find_evaluators(tmp_path_factory.mktemp("none"))


def settings(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spanscore.toml"
    path.write_text(text, encoding="utf-8")
    return path


def alert(**changes: str) -> str:
    """An alert that is good but for the changes; its name stands in line 2."""
    lines = {"name": '"a"', "metric": '"run_error"', "window": '"1h"', "above": "0.1", **changes}
    return "[[alerts]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


def test_rules_are_read(tmp_path: Path, catalogue: Catalogue) -> None:
    alerting = read_alerting(settings(tmp_path, GOOD), catalogue)
    answers, cost = alerting.rules

    assert (answers.below, answers.above, answers.window_s, answers.by, answers.severity, answers.repeat_s) == (
        0.9, None, 3600, "service", "critical", 14400,
    )  # fmt: skip
    assert (answers.min_n, answers.unit, answers.compares) == (20, "ratio", False)
    assert (cost.max_rise, cost.max_drop, cost.min_n) == (
        Change(0.2, is_relative=True),
        Change(0.5, is_relative=False),
        50,
    )
    assert alerting.webhook is not None
    assert (alerting.webhook.url_env, alerting.webhook.timeout_s) == ("HOOK", 5.0)


def test_without_a_file_there_are_no_rules(tmp_path: Path, catalogue: Catalogue) -> None:
    assert read_alerting(tmp_path / "spanscore.toml", catalogue).rules == ()


@pytest.mark.parametrize(
    ("changes", "line", "said"),
    [
        ({"above": "nan"}, 5, "finite number"),
        ({"above": "inf"}, 5, "finite number"),
        ({"above": "true"}, 5, "finite number"),
        ({"above": "1.5"}, 5, "lies between 0 and 1"),
        ({"above": "-0.1"}, 5, "lies between 0 and 1"),
        ({"above": "1"}, 5, "could not fire"),
        ({"above": "0.2", "below": "0.9"}, 5, "every value is beyond one"),
        ({"above": ""}, 1, "nothing to compare with"),
        ({"metric": '"run_eror"'}, 3, "there is no metric `run_eror`"),
        ({"metric": "7"}, 3, "must be a text"),
        ({"metric": ""}, 1, "`metric` is missing"),
        ({"window": '"1 fortnight"'}, 4, "no length of time"),
        ({"window": '"0s"'}, 4, "no length of time"),
        ({"window": '"*/5 * * * *"'}, 4, "no length of time"),
        ({"window": ""}, 1, "`window` is missing"),
        ({"max_rise": "-0.1"}, 6, "must be 0 or more"),
        ({"max_rise": '"a lot"'}, 6, "write a number"),
        ({"min_n": "0"}, 6, "whole number"),
        ({"min_n": "2.5"}, 6, "whole number"),
        ({"by": '"model"'}, 6, "must be one of service, agent"),
        ({"severity": '"loud"'}, 6, "must be one of info, warning, critical"),
        ({"treshold": "0.5"}, 6, "is no setting of `alerts`.\n  There are `name`, "),
        ({"abov": "0.5"}, 6, "Did you mean `above`?"),
        ({"metric": '"eror_rate"'}, 3, "Did you mean `error_rate`?"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    changes: dict[str, str], line: int, said: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    path = settings(tmp_path, alert(**changes))

    with pytest.raises(UsageError) as caught:
        read_alerting(path, catalogue)
    assert f"{path}:{line}: " in str(caught.value)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_all_mistakes_are_told_at_once(tmp_path: Path, catalogue: Catalogue) -> None:
    path = settings(tmp_path, alert(above="7") + "\n" + alert(window='"x"') + "\n[alerting]\nwebhook = 'ftp://x'\n")

    with pytest.raises(UsageError) as caught:
        read_alerting(path, catalogue)
    assert [part for part in (":5: ", ":10: ", ":14: ") if part not in str(caught.value)] == []


def test_two_alerts_of_one_name_are_refused(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match="two alerts are called `a`"):
        read_alerting(settings(tmp_path, alert() + alert()), catalogue)


@pytest.mark.parametrize("text", ["alerts = 3", "[[alerts]", "alerting = 3", "[alerting]\ntimeout = '1s'"])
def test_a_wrong_table_is_refused(text: str, tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(UsageError):
        read_alerting(settings(tmp_path, text), catalogue)


def test_a_webhook_has_one_authorization(tmp_path: Path, catalogue: Catalogue) -> None:
    alerting = read_alerting(settings(tmp_path, GOOD), catalogue)

    with pytest.raises(UsageError, match="Only one of them can be sent") as caught:
        require_variables(alerting, {"HOOK": "https://user:hush@x", "TOKEN": "t"})
    assert "hush" not in str(caught.value)
    with pytest.raises(UsageError, match=r"^\$HOOK must begin with http") as caught:
        require_variables(alerting, {"HOOK": "hush", "TOKEN": "t"})
    assert "hush" not in str(caught.value)


def test_a_secret_that_is_not_set_is_told_by_its_name(tmp_path: Path, catalogue: Catalogue) -> None:
    alerting = read_alerting(settings(tmp_path, GOOD), catalogue)
    require_variables(alerting, {"HOOK": "https://x", "TOKEN": "t"})

    with pytest.raises(UsageError, match="`TOKEN`"):
        require_variables(alerting, {"HOOK": "https://x"})
