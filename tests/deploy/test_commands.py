"""Every spanscore command in deploy/ and in the documentation exists, and its words are understood."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy import files
from tests.deploy.command_line import commands_in, commands_of_page, mentioned_in, understood, unknown_in

PAGES = [
    files.ROOT / "README.md",
    files.ROOT / "CONTRIBUTING.md",
    files.ROOT / "instrumentation" / "README.md",
    *sorted((files.ROOT / "docs").glob("*.md")),
    files.DEPLOY / "README.md",
]


def comments(text: str) -> str:
    """The examples in the comments of a file: what is indented there."""
    return "\n".join(line[4:] for line in text.splitlines() if line.startswith("#   "))


def deployed() -> Iterator[tuple[str, list[str]]]:
    """Where a command of deploy/ stands, and its words."""
    for container in files.containers():
        yield container.place, container.words
    yield "container/Dockerfile", json.loads(files.instructions("CMD")[-1])
    for name, path in files.UNITS.items():
        for line in files.unit(path).get("Service", {}).get("ExecStart", ()):
            yield f"systemd/{name}", shlex.split(line)[1:]
    for job in files.crontab()[1]:
        yield from (("cron/spanscore", words) for words in commands_in(job.command))
    for path in sorted(files.DEPLOY.rglob("*")):
        if path.is_file() and path.suffix != ".md" and path.parent.name != "ci":
            place = path.relative_to(files.DEPLOY).as_posix()
            text = comments(path.read_text(encoding="utf-8"))
            yield from ((f"{place} (comment)", words) for words in commands_in(text))


def documented() -> Iterator[tuple[str, list[str]]]:
    """Where a command of the documentation stands, and its words."""
    for page in PAGES:
        for words in commands_of_page(page.read_text(encoding="utf-8")):
            yield page.relative_to(files.ROOT).as_posix(), words


DEPLOYED, DOCUMENTED = list(deployed()), list(documented())


@pytest.mark.parametrize(("place", "words"), [*DEPLOYED, *DOCUMENTED], ids=lambda part: str(part)[:60])
def test_every_command_exists_and_its_words_are_understood(place: str, words: list[str]) -> None:
    # an ellipsis stands for what the reader fills in
    assert understood([re.sub("…", "x", word) for word in words]).params is not None, place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(files.ROOT).as_posix())
def test_commands_and_options_that_a_page_mentions_exist(page: Path) -> None:
    mentions = list(mentioned_in(page.read_text(encoding="utf-8")))

    assert [] == [(words, unknown) for words in mentions for unknown in unknown_in(words)]


def test_a_mention_of_what_does_not_exist_is_noticed() -> None:
    assert unknown_in(["gaet"]) == ["gaet"]
    assert unknown_in(["bench", "rum", "x"]) == ["rum"]
    assert unknown_in(["bench", "run", "--no-such-option", "--repeats", "3"]) == ["--no-such-option"]
    assert unknown_in(["bench", "run|list"]) == unknown_in(["suite", "check"]) == unknown_in(["--version"]) == []


def test_commands_are_found_where_they_stand() -> None:
    places = {place.partition(":")[0].partition(" ")[0] for place, _ in DEPLOYED}

    assert places >= {
        "container/Dockerfile",
        "container/compose.yaml",
        "cron/spanscore",
        "kubernetes/archive.yaml",
        "kubernetes/collector.yaml",
        "kubernetes/score.yaml",
        "opentelemetry-collector/file-exporter.yaml",
        "systemd/spanscore-archive.service",
        "systemd/spanscore-collect.service",
        "systemd/spanscore-score.service",
    }
    assert {words[0] for _, words in DEPLOYED} >= {"archive", "collect", "ingest", "report", "score"}
    assert len(DOCUMENTED) > 40
    assert {place for place, _ in DOCUMENTED} >= {"README.md", "docs/tutorial.md", "docs/suites.md"}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("spanscore traces", [["traces"]]),
        ("A=1 spanscore sql 'select 1; select 2' | less", [["sql", "select 1; select 2"]]),
        ("cd x && /opt/spanscore/bin/spanscore score --every 5m > y", [["score", "--every", "5m"]]),
        ("spanscore gate \\\n  --suite $SUITE  # why", [["gate", "--suite", "s.yaml"]]),
        ("flock -n -E 0 lock spanscore archive --older-than 30d", [["archive", "--older-than", "30d"]]),
        ("sudo -u spanscore /opt/bin/spanscore doctor --store /x/spanscore", [["doctor", "--store", "/x/spanscore"]]),
        ('spanscore sql "select 1\n  from runs"', [["sql", "select 1\n  from runs"]]),
        ("pip install spanscore\necho spanscore report", []),
    ],
)
def test_commands_are_read_as_a_shell_would(script: str, expected: list[list[str]]) -> None:
    assert expected == list(commands_in(script, {"SUITE": "s.yaml"}))


def test_a_command_that_is_not_understood_is_noticed() -> None:
    for words in (["gaet"], ["gate", "--no-such-option"], ["gate", "--format", "pdf"]):
        with pytest.raises(Exception, match=r"(?i)no such|invalid value|is not one of"):
            understood(words)
