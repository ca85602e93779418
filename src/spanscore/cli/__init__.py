"""The command line. Each file of this folder is one noun; what a command does lives in the other rooms.

Commands import what they need when they run: `spanscore --help` loads neither DuckDB nor Arrow nor gRPC.
"""

from __future__ import annotations

import codecs
import sys
from typing import Annotated

import typer

from spanscore import __version__
from spanscore.cli import (
    archive,
    baseline,
    bench,
    collect,
    compare,
    demo,
    doctor,
    evaluate,
    evaluators,
    export,
    gate,
    history,
    ingest,
    prices,
    purge,
    rebuild,
    recommend,
    report,
    score,
    sql,
    stats,
    suite,
    traces,
)
from spanscore.cli.root import Root

__all__ = ["app", "main"]

app = typer.Typer(
    name="spanscore",
    cls=Root,
    help="Scores LLM agents from the OpenTelemetry traces they already emit. No server, account or LLM key is needed.",
    epilog="Begin with `spanscore demo`. Exit codes: 0 good, 1 a gate or threshold failed, 2 usage or configuration, "
    "3 could not be done, 4 internal error.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help takes half the time of the decorated one, whose libraries take longer to import than all the rest.
    rich_markup_mode=None,
)

app.command("demo")(demo.demo)
app.command("collect")(collect.collect)
app.command("ingest")(ingest.ingest)
app.command("traces")(traces.traces)
app.command("trace")(traces.trace)
app.command("evaluate")(evaluate.evaluate)
app.command("score")(score.score)
app.command("sql")(sql.sql)
app.command("doctor")(doctor.doctor)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.add_typer(baseline.app, name="baseline")
app.command("history")(history.history)
app.command("recommend")(recommend.recommend)
app.command("rebuild")(rebuild.rebuild)
app.command("archive")(archive.archive)
app.command("purge")(purge.purge)
app.command("export")(export.export)
app.command("stats")(stats.stats)
app.add_typer(bench.app, name="bench")
app.add_typer(suite.app, name="suite")
app.add_typer(evaluators.app, name="evaluators")
app.add_typer(prices.app, name="prices")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spanscore {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Only here to take --version."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, as `\\u00b0`: an escape that JSON knows too, unlike Python's own `\\xb0`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end


def main() -> None:
    """The `spanscore` program."""
    codecs.register_error("spanscore.escape", _escaped)
    for stream in (sys.stdout, sys.stderr):
        # A character the terminal's encoding lacks is shown as an escape; it must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="spanscore.escape")
    app(prog_name="spanscore")
