"""The tutorial does what it says: its commands run in their order, and end as they are told to."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
PRELUDE = f"spanscore() {{ {sys.executable} -c 'from spanscore.cli import main; main()' \"$@\"; }}\n"


def commands() -> list[str]:
    """The commands of the page, those over several lines as one."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command of the page in a folder that looks like the checkout."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    environment.pop("SPANSCORE_STORE", None)
    return subprocess.run(
        ["bash", "-c", PRELUDE + command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def test_the_page_names_files_that_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#]+)\)", text)

    assert len(commands()) > 10
    assert [name for name in named if not (PAGE.parent / name).exists()] == []


@pytest.mark.slow
def test_every_command_of_the_page_ends_as_it_says(folder: Path) -> None:
    for command in commands():
        expected = re.search(r"# exit code (\d)", command)
        done = run(command, folder)

        assert done.returncode == (int(expected.group(1)) if expected else 0), (
            f"{command}\n{done.stdout}\n{done.stderr}"
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degraded", "metric"),
    [
        ("invent_figure", "numbers_grounded"),
        ("double_steps", "steps"),
        ("drop_retries", "recovered_from_error"),
    ],
)
def test_the_gate_turns_red_for_each_way_to_be_worse(folder: Path, degraded: str, metric: str) -> None:
    agent = "examples.research_agent.agent:answer"
    bench = f"spanscore bench run examples/research_agent/suite.yaml --agent {agent} --repeats 3"
    for name in ("a", "b", "c", "good"):
        assert run(f"{bench} --experiment {name}", folder).returncode == 0
    assert run(f"RESEARCH_AGENT_DEGRADE={degraded} {bench} --experiment bad", folder).returncode == 0
    made = run(f"spanscore baseline set a b c --gate task_completed,{metric}", folder)
    good, bad = run("spanscore gate good", folder), run("spanscore gate bad --format json", folder)

    assert made.returncode == 0, made.stderr
    assert good.returncode == 0, good.stdout + good.stderr
    assert bad.returncode == 1, bad.stdout + bad.stderr
    assert metric in bad.stdout
