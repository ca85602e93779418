"""`spanscore evaluators`: what scores runs, and how to write more of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanscore.cli.evaluate import Summary

if TYPE_CHECKING:
    pass

app = typer.Typer(
    help="What scores runs: list, show, write, check and test evaluators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Grain(StrEnum):
    """What an evaluator scores."""

    RUN = "run"
    AGENT_INVOCATION = "agent_invocation"
    LLM_CALL = "llm_call"
    TOOL_CALL = "tool_call"
    HANDOFF = "handoff"
    SESSION = "session"


FormatOption = Annotated[
    Summary, typer.Option("--format", help="`json` prints one JSON document and nothing else on standard output.")
]
PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH|ID]...",
        help="Files, folders, ids or questions; without any, your own: ./evals and folders named in spanscore.toml.",
        show_default=False,
    ),
]


@app.command("list")
def list_(output: FormatOption = Summary.TABLE) -> None:
    """List the evaluators: those that ship, ./evals, and folders named in spanscore.toml."""
    from spanscore.evaluate import find_evaluators
    from spanscore.report.evaluators import print_catalogue

    print_catalogue(find_evaluators(Path.cwd()), output)


@app.command()
def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of the evaluator.")],
    bind: Annotated[
        bool,
        typer.Option(
            "--bind", help="A script for a DuckDB shell: with the macros it calls and values for its parameters."
        ),
    ] = False,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="ID.NAME=VALUE", help="With --bind: value for a parameter.", show_default=False),
    ] = None,
) -> None:
    """Print the SQL of an evaluator.

    \b
    Examples:
      spanscore evaluators show tool_error_rate
      spanscore evaluators show tool_error_rate --bind | duckdb -readonly spanscore-store/spanscore.duckdb
    """
    from spanscore.evaluate import find_evaluators
    from spanscore.evaluate.binding import as_script
    from spanscore.evaluate.params import read_params
    from spanscore.report.terminal import safe_text

    catalogue = find_evaluators(Path.cwd())
    evaluator = catalogue.named(identifier)
    text = evaluator.sql
    if bind:
        text = as_script(evaluator, catalogue.bound(read_params(param or [], catalogue))[evaluator.id])
    typer.echo(safe_text(text, keep_lines=True).rstrip("\n"))


@app.command()
def new(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Lower-case letters, digits and _.")],
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where to write it.")] = Path("evals"),
    grain: Annotated[Grain, typer.Option(help="What it scores.")] = Grain.RUN,
    override: Annotated[
        bool, typer.Option("--override", help="Take the place of the evaluator that has this id already.")
    ] = False,
) -> None:
    """Write a new evaluator and its first case, both working, for you to change.

    An id that an evaluator has already is refused: two files of one id stop every evaluation.
    """
    from spanscore.evaluate.skeleton import write_skeleton

    skeleton = write_skeleton(identifier, folder=folder, grain=grain, overrides=override)
    typer.echo(f"Wrote {skeleton.evaluator} and {skeleton.case}.")
    typer.echo(f"Change them, then:  spanscore evaluators test {skeleton.evaluator}")


@app.command()
def check(paths: PathsArgument = None, output: FormatOption = Summary.TABLE) -> None:
    """Check evaluators without data: header, one SELECT, parameters, columns, and that DuckDB understands it.

    The exit code is 2 when something is wrong.
    """
    _examine(paths, output, with_cases=False)


@app.command("test")
def run_cases(paths: PathsArgument = None, output: FormatOption = Summary.TABLE) -> None:
    """Check evaluators, and run their cases: the TOML files in the folder ID/ beside ID.sql.

    The exit code is 2 when an evaluator is wrong, and 1 when a case does not come out as written.
    """
    _examine(paths, output, with_cases=True)


def _examine(paths: list[str] | None, output: Summary, *, with_cases: bool) -> None:
    from spanscore.evaluate.examine import examine
    from spanscore.report.evaluators import print_examined

    examined = examine(Path.cwd(), selection=paths or [], with_cases=with_cases)
    print_examined(examined, output, with_cases=with_cases)
    if any(one.problems for one in examined):
        raise typer.Exit(2)
    if any(one.failures for one in examined):
        raise typer.Exit(1)
