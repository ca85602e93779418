"""`spanscore suite`: files of cases: check them, make them from other programs' files or from captured runs."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption
from spanscore.cli.traces import Source

app = typer.Typer(
    help="Suites: files of cases, each a task and what is expected of it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EXIT_INVALID = 2


class Form(StrEnum):
    """Form of a suite file."""

    YAML = "yaml"
    JSON = "json"


FormOption = Annotated[Form, typer.Option("--format", help="Form of the suite.")]
OutputFileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write to a new file, in the form that its name tells.  [default: standard output]",
        show_default=False,
    ),
]


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Suites in YAML or JSON.", show_default=False)],
    output: OutputOption = Output.TEXT,
) -> None:
    """Check suite files; everything that is wrong with them is named with its line.

    Thresholds are compared with the evaluators that ship and those of the current folder. Exit code 2 when a file is no
    good.

    \b
    spanscore suite check suites/*.yaml
    """
    from spanscore.bench.suites.examine import examine
    from spanscore.evaluate import find_evaluators
    from spanscore.report.suites import print_examined

    catalogue = find_evaluators(Path.cwd())
    examined = examine(files, units={evaluator.id: evaluator.unit for evaluator in catalogue.evaluators})
    print_examined(examined, output)
    if any(one.problems for one in examined):
        raise typer.Exit(EXIT_INVALID)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An ADK evaluation set, or JSON with a list of cases.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the suite, if not that of the file.")
    ] = None,
    version: Annotated[str | None, typer.Option(metavar="TEXT", help="Version of the suite.")] = None,
    output: OutputFileOption = None,
    form: FormOption = Form.YAML,
) -> None:
    """Turn an ADK evaluation set or a plain JSON list of cases into a suite.

    What of the file has no place in a suite is named on standard error. Plain cases have `id`, `input`,
    `expected_tools`, `must_contain`, `must_not_contain`, `category` and any field that ours have.

    \b
    spanscore suite import home_automation.evalset.json --output home.yaml
    spanscore suite import cases.json --name prices --version 2
    """
    from spanscore.bench.suites.imports import import_suite
    from spanscore.report.suites import print_notes, write_suite

    imported = import_suite(file, name=name, version=version)
    write_suite(imported.suite, form, output=output)
    print_notes(imported.notes)


@app.command()
def schema() -> None:
    """Print the JSON Schema of suite files, for editors and other programs."""
    from spanscore.bench.suites import suite_schema
    from spanscore.report.documents import print_json

    print_json(suite_schema())


@app.command("from-traces")
def from_traces(
    store: StoreOption = DEFAULT_STORE,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the suite.")] = "captured",
    source: Annotated[Source | None, typer.Option(help="Runs of benchmarks or of production.")] = None,
    service: Annotated[str | None, typer.Option(metavar="NAME", help="Runs of this service.")] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="AGE|TIME", help="Runs that began within an age (24h, 7d) or since a UTC date or time."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Questions at most, newest first.")] = 50,
    output: OutputFileOption = None,
) -> None:
    """Propose cases from captured runs, as YAML to edit.

    A case per question: the tools that its runs called, and a check for the figures of the answer that tools gave. It
    says what the agent did, which is not always what is right.

    \b
    spanscore suite from-traces --service shop --since 7d --output shop.yaml
    """
    from spanscore.bench.suites.checks import is_name
    from spanscore.bench.suites.proposals import propose
    from spanscore.errors import UsageError
    from spanscore.report.runs import parse_since
    from spanscore.report.suites import write_proposal
    from spanscore.store import read_session
    from spanscore.store.cases import captured_tasks

    if not is_name(name):
        raise UsageError("--name must be one line of printable characters.")
    with read_session(store) as session:
        tasks = captured_tasks(
            session, limit=limit, source=source, service=service, since=parse_since(since, now=datetime.now(UTC))
        )
    if not tasks:
        raise UsageError("No run that ended well passes the filters.\n  `spanscore traces` lists the runs.")
    write_proposal(propose(name, tasks), output=output)
