"""What `spanscore suite` prints and writes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from spanscore.bench.suites.dump import suite_json, suite_yaml
from spanscore.errors import UsageError
from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.terminal import console, error_console, plain, safe_json, safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from spanscore.bench.suites.examine import Examined
    from spanscore.bench.suites.model import Suite
    from spanscore.bench.suites.proposals import Proposal

_PROPOSED = """\
Proposed from captured runs: it says what the agent did, not what is right.
Take out what is wrong or private, correct expectations, and give categories.
"""


def print_examined(examined: Sequence[Examined], form: str) -> None:
    """Print a line per file that is good, and all that is wrong; as one document with `json`."""
    if form == "json":
        print_json({"suites": [_described(one) for one in examined]})
        return
    out, errors = console(), error_console()
    for one in examined:
        for problem in one.problems:
            errors.print(plain(problem, "red", keep_lines=True), soft_wrap=True)
        for note in one.notes:
            errors.print(plain(note, "yellow"), soft_wrap=True)
        if one.suite is not None and not one.problems:
            out.print(plain(f"{one.path}: {_summary(one.suite)}"), soft_wrap=True)


def print_notes(notes: Sequence[str]) -> None:
    """Print what is worth knowing about a suite that was written, on standard error."""
    errors = error_console()
    for note in notes:
        errors.print(plain(note, "yellow"), soft_wrap=True)


def write_suite(suite: Suite, form: str, *, output: Path | None) -> None:
    """Write a suite to standard output as `yaml` or `json`, or to a new file in the form that its name tells.

    Raises:
        UsageError: the file is there already, or cannot be written.
    """
    if output is not None:
        form = "json" if output.suffix.lower() == ".json" else "yaml"
    _write(safe_json(suite_json(suite)) if form == "json" else suite_yaml(suite), output)


def write_proposal(proposal: Proposal, *, output: Path | None) -> None:
    """Write a proposed suite as YAML with its notes, to standard output or to a new file.

    Raises:
        UsageError: the file is there already, or cannot be written.
    """
    _write(suite_yaml(proposal.suite, head=_PROPOSED, notes=proposal.notes), output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(safe_text(text, keep_lines=True) if sys.stdout.isatty() else text)
        return
    try:
        with output.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"`{output}` is there already.\n  Name another --output FILE, or take it away.") from None
    except OSError as error:
        raise UsageError(f"`{output}` cannot be written: {error.strerror}.\n  Name another --output FILE.") from error


def _summary(suite: Suite) -> str:
    version = "" if suite.version is None else f" {suite.version}"
    n = len(suite.cases)
    return f"suite {suite.name}{version}, {figures.counted(n, 'case')}"


def _described(one: Examined) -> dict[str, Any]:
    suite = one.suite
    return {
        "file": str(one.path),
        "name": None if suite is None else suite.name,
        "version": None if suite is None else suite.version,
        "cases": None if suite is None else len(suite.cases),
        "problems": list(one.problems),
        "notes": list(one.notes),
    }
