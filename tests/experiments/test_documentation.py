"""The page about comparing says what the commands do."""

import re
import shlex
from pathlib import Path

import pytest
from made_up import spanscore

from spanscore.cli.gate import EXIT_OF_VERDICT, GateForm
from spanscore.cli.recommend import Profile
from spanscore.experiments.gate import false_alarm_rate
from spanscore.statistics import PROFILES

TEXT = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text(encoding="utf-8")
(BLOCK,) = re.findall(r"^```sh\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line, comments=True) for line in BLOCK.splitlines()]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_of_the_page_is_understood(words, tmp_path):
    """Without a store each ends with what is missing, not with a word that is not known."""
    done = spanscore(*words[1:], cwd=tmp_path)

    assert done.code == 2
    assert re.search(r"There is no (store|file)|nothing to judge by", done.err), done.err


def test_forms_profiles_and_exit_codes_are_those_of_the_page():
    assert [form for form in GateForm if f"`{form}`" not in TEXT] == []
    assert set(Profile) == set(PROFILES)
    for name, weights in PROFILES.items():
        row = [weights.completion, weights.accuracy, weights.latency, weights.cost]
        assert f"| `{name}` | {' | '.join(f'{weight:.2f}' for weight in row)} |" in TEXT
    assert "exit code 0 pass, 1 fail, 3 undecidable" in TEXT
    assert EXIT_OF_VERDICT == {"pass": 0, "fail": 1, "undecidable": 3}


def test_the_rates_of_the_page_are_those_of_the_formula():
    assert f"fails in {100 * false_alarm_rate(3, 2.0):.0f}% of experiments" in TEXT
    assert f"with ten in {100 * false_alarm_rate(10, 2.0):.0f}%" in TEXT
