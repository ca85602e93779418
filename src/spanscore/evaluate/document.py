"""Writes the page of evaluators from their headers and the prose below.

python -m spanscore.evaluate.document docs/evaluators.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.evaluate.catalogue import QUESTIONS, shipped_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.evaluate.header import Evaluator

_HEAD = """\
# Evaluators

What `spanscore evaluate` scores, {n} evaluators in all. This page is made from their files by
`python -m spanscore.evaluate.document docs/evaluators.md`; `spanscore evaluators show ID` prints the SQL of one, and
[writing-evaluators.md](writing-evaluators.md) tells how to add your own.

NULL means not applicable: such a run has no score, it does not count as 0, and the reason is stored with it.
"""

_SECTIONS = {
    "trace_quality": "Whether the other figures can be believed. Look here first.",
    "groundedness": "Whether what the answer says stands in what the tools gave back.",
    "outcome": "Whether the task was done, by what its case expects.",
    "tools": "Which tools were called, with what arguments, in what order, and what went wrong.",
    "agents": "How agents fare and how they hand over to each other.",
    "efficiency": "What a run takes: steps, time, tokens, money.",
    "reliability": "What failed on the way.",
}

_BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither way is better"}
_CLOSING = re.compile(r"--\s*///\s*")


def evaluators_page() -> str:
    """The page as Markdown."""
    evaluators = shipped_catalogue().evaluators
    parts = [_HEAD.format(n=len(evaluators)), *_contents(evaluators)]
    for question in QUESTIONS:
        parts.append(f"## {_title(question)}\n\n{_SECTIONS[question]}\n")
        parts.extend(_section(evaluator) for evaluator in evaluators if evaluator.question == question)
    return "\n".join(parts)


def prose(sql: str) -> list[str]:
    """Paragraphs of the comment between the header and the statement of an evaluator."""
    lines = sql.splitlines()
    end = max(number for number, line in enumerate(lines) if _CLOSING.fullmatch(line))
    paragraphs: list[list[str]] = [[]]
    for line in lines[end + 1 :]:
        if not line.startswith("--"):
            break
        text = line[2:].strip()
        if text:
            paragraphs[-1].append(text)
        elif paragraphs[-1]:
            paragraphs.append([])
    return [" ".join(words) for words in paragraphs if words]


def _contents(evaluators: Sequence[Evaluator]) -> Iterator[str]:
    yield "| question | evaluators |\n|---|---|"
    for question in QUESTIONS:
        names = ", ".join(f"[{one.id}](#{one.id})" for one in evaluators if one.question == question)
        yield f"| {_title(question)} | {names} |"
    yield ""


def _section(evaluator: Evaluator) -> str:
    facts = [f"per {evaluator.grain.replace('_', ' ')}", evaluator.unit, _BETTER[evaluator.better]]
    if evaluator.needs:
        facts.append(f"needs {', '.join(need.replace('_', ' ') for need in evaluator.needs)}")
    lines = [f"### {evaluator.id}", "", f"{evaluator.title}. *{'; '.join(facts)}*", ""]
    for paragraph in prose(evaluator.sql):
        lines += [paragraph, ""]
    if evaluator.params:
        lines += ["| parameter | type | default | |", "|---|---|---|---|"]
        for parameter in evaluator.params.values():
            unit = "" if parameter.unit is None else f" [{parameter.unit}]"
            default = "NULL" if parameter.default is None else str(parameter.default).lower()
            doc = parameter.doc.replace("|", "\\|")
            lines.append(f"| `{parameter.name}` | {parameter.type}{unit} | {default} | {doc} |")
        lines.append("")
    if evaluator.sources:
        lines += ["Sources: " + ", ".join(f"<{source}>" for source in evaluator.sources), ""]
    return "\n".join(lines)


def _title(question: str) -> str:
    return question.replace("_", " ").capitalize()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(evaluators_page(), encoding="utf-8")
