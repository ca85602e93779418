"""The workflow for CI: valid, safe against what its inputs hold, and every command in it exists and is understood."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.command_line import commands_in, understood

WORKFLOW = Path(__file__).parents[2] / "deploy" / "ci" / "agent-evaluation.yml"
DOCUMENT = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
# YAML 1.1 takes the key `on` for true.
CALL = DOCUMENT[True]["workflow_call"]
STEPS = DOCUMENT["jobs"]["evaluate"]["steps"]
SCRIPTS = [step["run"] for step in STEPS if "run" in step]
VALUES = {"SUITE": "suite.yaml", "COMMAND": "agent {input}", "REPEATS": "3", "VARIANT": "v", "BASELINE": "b.json"}
VALUES |= {"HISTORY": "h.json", "GITHUB_STEP_SUMMARY": "summary.md"}
# What the gate's positional parameters may hold.
ARGUMENTS = ["--suite", "suite.yaml", "--record", "h.json", "--baseline", "b.json"]


def commands():
    """The words of every spanscore command in the scripts, with variables filled in."""
    for script in SCRIPTS:
        for words in commands_in(re.sub(r"\$@", "ARGUMENTS", script), VALUES):
            yield (
                [*words[: words.index("ARGUMENTS")], *ARGUMENTS, *words[words.index("ARGUMENTS") + 1 :]]
                if ("ARGUMENTS" in words)
                else words
            )


@pytest.mark.parametrize("words", list(commands()), ids=lambda words: " ".join(words[:2]))
def test_every_command_exists_and_its_words_are_understood(words):
    assert understood(words).params


def test_the_workflow_runs_the_suite_and_judges_it():
    assert [words[0] for words in commands()] == ["suite", "bench", "report", "compare", "gate"]


def test_inputs_reach_scripts_as_variables_alone():
    assert not [script for script in SCRIPTS if "${{" in script]
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", WORKFLOW.read_text(encoding="utf-8")))
    assert used == CALL["inputs"].keys()


def test_every_variable_of_the_scripts_is_set():
    set_here = DOCUMENT["jobs"]["evaluate"]["env"].keys() | {key for step in STEPS for key in step.get("env", {})}
    used = {name for script in SCRIPTS for name in re.findall(r"\$\{?([A-Z_]+)", script)}

    assert used - set_here - {"GITHUB_STEP_SUMMARY"} == set()


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_good_shell(script):
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)

    assert done.stderr == ""


def test_nothing_may_be_written_with_the_token():
    assert DOCUMENT["permissions"] == {"contents": "read"}
    assert STEPS[0]["with"]["persist-credentials"] is False
