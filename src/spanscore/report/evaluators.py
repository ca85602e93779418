"""The catalogue of evaluators, and what checking and testing them found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report.documents import print_json
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.evaluate import Catalogue, Evaluator
    from spanscore.evaluate.examine import Examined

_COLUMNS = (
    Column("question", lambda row: row["question"], style="dim"),
    Column("id", lambda row: row["id"], style="cyan"),
    Column("grain", lambda row: row["grain"]),
    Column("unit", lambda row: row["unit"]),
    Column("better", lambda row: row["better"]),
    Column("title", lambda row: row["title"], flexible=True),
)


def print_catalogue(catalogue: Catalogue, form: str) -> None:
    """Print the evaluators as `table` or `json`; broken files go to standard error."""
    rows = [_described(evaluator) for evaluator in catalogue.evaluators]
    if form == "json":
        print_json(rows)
    else:
        out = console()
        out.print(grid(rows, _COLUMNS, width=out.width))
    for broken in catalogue.broken:
        _print_problems(broken.problems)


def print_examined(examined: Sequence[Examined], form: str, *, with_cases: bool) -> None:
    """Print a line per evaluator, and on standard error everything that is wrong."""
    if form == "json":
        print_json(
            [
                {
                    "id": one.id,
                    "path": str(one.path),
                    "problems": list(one.problems),
                    "cases": one.cases,
                    "failures": list(one.failures),
                }
                for one in examined
            ]
        )
        return
    out = console()
    for one in examined:
        is_good = not one.problems and not one.failures
        line = Text("ok    " if is_good else "FAIL  ", style="green" if is_good else "bold red")
        line.append_text(plain(one.path))
        if with_cases and not one.problems:
            line.append(f"  {counted(one.cases, 'case')}", style="dim" if one.cases else "yellow")
        out.print(line, soft_wrap=True)
        _print_problems((*one.problems, *one.failures))


def _print_problems(problems: Sequence[str]) -> None:
    notes = error_console()
    for problem in problems:
        notes.print(Text("! ", style="bold red").append_text(plain(problem, keep_lines=True)), soft_wrap=True)


def _described(evaluator: Evaluator) -> dict[str, Any]:
    return {
        "id": evaluator.id,
        "title": evaluator.title,
        "question": evaluator.question,
        "grain": evaluator.grain,
        "unit": evaluator.unit,
        "better": evaluator.better,
        "needs": list(evaluator.needs),
        "tags": list(evaluator.tags),
        "sources": list(evaluator.sources),
        "overrides": evaluator.overrides,
        "params": {
            name: {
                "type": parameter.type,
                "unit": parameter.unit,
                "default": parameter.default,
                "doc": parameter.doc,
            }
            for name, parameter in evaluator.params.items()
        },
        "path": str(evaluator.path),
        "sha256": evaluator.sha256,
        "is_shipped": evaluator.is_shipped,
    }
