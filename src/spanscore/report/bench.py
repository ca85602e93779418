"""What `spanscore bench` says of experiments: what became of their trials, and what to do about what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.bench.trial import Ending
from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.evaluation import document as evaluation_document
from spanscore.report.tables import Column, counted, grid, named
from spanscore.report.terminal import console, error_console, plain, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.bench.journal import Recorded
    from spanscore.bench.run import Ran
    from spanscore.evaluate import Evaluation
    from spanscore.report.scorecard import Report
    from spanscore.store.scores import ScoreCounts

SCHEMA_VERSION = 1
_LONGEST_MESSAGE = 200


def say_where(endpoint: str, experiment_ids: Sequence[str]) -> None:
    """Say on standard error what runs, and where spans are received."""
    names = ", ".join(f"`{one}`" for one in experiment_ids)
    error_console().print(
        plain(f"Experiment {names}; spans are received at {endpoint}. Stopped, it goes on with --experiment."),
        soft_wrap=True,
    )


def print_ran(ran: Ran) -> None:
    """Print what became of the trials of one experiment, and advice on standard error."""
    out, errors = console(), error_console()
    tally = ran.tally
    parts = [f"{figures.count(tally.endings.get(ending, 0))} {_WORDS[ending]}" for ending in _WORDS]
    resumed = f" ({figures.count(tally.resumed)} of them made before)" if tally.resumed else ""
    line = Text("Experiment ").append_text(plain(ran.arm.experiment_id, "bold cyan"))
    line.append_text(plain(f": {figures.counted(tally.planned, 'trial')}{resumed}: {', '.join(parts)}."))
    out.print(line, soft_wrap=True)
    if tally.retried:
        out.print(plain(f"{figures.counted(tally.retried, 'attempt')} failed for the infrastructure, and made again."))
    if ran.over_budget:
        out.print(plain(f"{figures.counted(ran.over_budget, 'trial')} took more than {ran.arm.budget.label}."))
    for kind, message in tally.messages.items():
        said = f": {shorten(message, _LONGEST_MESSAGE)}" if message else ""
        out.print(plain(f"  {kind}{said}"), soft_wrap=True)
    for advice in advice_of(ran):
        errors.print(Text("! ", style="bold yellow").append_text(plain(advice, keep_lines=True)), soft_wrap=True)


def advice_of(ran: Ran) -> list[str]:
    """What is missing of an experiment, and what to do."""
    found = []
    if ran.tally.not_made:
        found.append(
            f"{figures.counted(ran.tally.not_made, 'trial')} could not be made: the agent could not be reached. "
            "That counts as nothing.\n"
            f"  See to it, and run the same command with --experiment '{ran.arm.experiment_id}'."
        )
    if ran.traces is None:
        found.append(
            "There is no store here to look at, so nothing was scored.\n  Name it with --store, or score there."
        )
    if ran.without_spans:
        found.append(
            f"{figures.counted(ran.without_spans, 'trial')} got an answer, but no span of the agent has "
            "arrived: nothing to score.\n"
            f"  Spans are received over OTLP/HTTP at {ran.endpoint}.\n"
            "  In Python, call spanscore_instrumentation.setup() and use its helpers, or switch on the tracing of\n"
            "  your framework (docs/instrumentation.md); `spanscore-instrumentation[otlp]` brings the exporter.\n"
            "  A command finds the address in OTEL_EXPORTER_OTLP_ENDPOINT and must export before it ends. A server\n"
            "  must export to that address, and continue the trace of the `traceparent` header."
        )
    mute = ran.without_run - ran.without_spans
    if mute:
        found.append(
            f"{figures.counted(mute, 'trial')} got an answer and left spans, but none of an agent, a model or a "
            "tool: nothing to score.\n"
            "  Trace these too: docs/instrumentation.md shows how."
        )
    return found


def described(
    ran: Ran, evaluation: Evaluation | None, counts: ScoreCounts | None, report: Report | None
) -> dict[str, Any]:
    """One experiment in the JSON document of `bench run`."""
    tally = ran.tally
    return {
        "experiment_id": ran.arm.experiment_id,
        "suite": {"name": ran.arm.suite.name, "version": ran.arm.suite.version},
        "variant": ran.arm.variant,
        "budget": asdict(ran.arm.budget),
        "trials": {
            "planned": tally.planned,
            "resumed": tally.resumed,
            **{str(ending): tally.endings.get(ending, 0) for ending in _WORDS},
            "retried_attempts": tally.retried,
            "over_budget": ran.over_budget,
            "without_spans": None if ran.traces is None else ran.without_spans,
            "without_run": None if ran.traces is None else ran.without_run,
        },
        "failures": dict(tally.messages),
        "advice": advice_of(ran),
        "evaluation": None if evaluation is None or counts is None else evaluation_document(evaluation, counts),
        "report": None if report is None else report.as_json(),
    }


def print_experiments(documents: Sequence[dict[str, Any]]) -> None:
    """Print the JSON document of `bench run`."""
    print_json({"schema_version": SCHEMA_VERSION, "experiments": list(documents)})


def print_recorded(found: Sequence[Recorded], form: str) -> None:
    """Print the experiments of a store as `table` or `json`."""
    rows = [
        {
            "experiment_id": one.experiment_id,
            "suite_name": one.header.get("suite_name"),
            "suite_version": one.header.get("suite_version"),
            "variant": one.header.get("variant"),
            "agent": one.header.get("agent"),
            "finished": one.finished,
            "planned": one.planned,
            "begun_at": one.header.get("begun_at"),
        }
        for one in found
    ]
    if form == "json":
        print_json({"schema_version": SCHEMA_VERSION, "experiments": rows})
        return
    out = console()
    if not rows:
        out.print("No experiment has been run into this store. `spanscore bench run` runs one.", soft_wrap=True)
        return
    columns = [
        named("experiment_id", "experiment", style="cyan"),
        named("suite_name", "suite"),
        named("suite_version", "version"),
        named("variant"),
        counted("finished", "trials"),
        counted("planned", "of"),
        Column("begun (UTC)", lambda row: figures.when(row["begun_at"])),
        Column("agent", lambda row: row["agent"], flexible=True),
    ]
    out.print(grid(rows, columns, width=out.width))


_WORDS = {
    Ending.OK: "answered",
    Ending.ERROR: "failed",
    Ending.TIMEOUT: "took too long",
    Ending.INFRASTRUCTURE: "could not be made",
}
