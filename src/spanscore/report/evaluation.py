"""What `spanscore evaluate` says when it is done: a line per evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from spanscore.report import figures
from spanscore.report.documents import print_json
from spanscore.report.tables import Column, grid
from spanscore.report.terminal import console, error_console, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.evaluate import Evaluation, Result
    from spanscore.store.scores import ScoreCounts

SCHEMA_VERSION = 1
_REASONS_SHOWN = 2


def print_evaluation(evaluation: Evaluation, counts: ScoreCounts, form: str) -> None:
    """Print the summary as `table` or `json`; errors of evaluators go to standard error with the table."""
    if form == "json":
        print_json(document(evaluation, counts))
        return
    out = console()
    n_runs = evaluation.runs.num_rows
    rows = [{"result": result} for result in evaluation.results]
    if rows:
        out.print(grid(rows, _COLUMNS, width=out.width))
    out.print(
        f"{figures.counted(n_runs, 'run')} evaluated; "
        f"{figures.counted(counts.written, 'score')} written, {figures.count(counts.unchanged)} as before.",
        soft_wrap=True,
    )
    notes = error_console()
    if n_runs == 0:
        notes.print("No run passes the filters. `spanscore traces` lists the runs.", style="yellow", soft_wrap=True)
    if evaluation.undecided:
        notes.print(plain(_undecided(evaluation.undecided), "yellow", keep_lines=True), soft_wrap=True)
    for result in evaluation.failed:
        place = Text(f"! {result.id} failed: ", style="bold red")
        notes.print(place.append_text(plain(result.error, keep_lines=True)), soft_wrap=True)


def document(evaluation: Evaluation, counts: ScoreCounts) -> dict[str, Any]:
    """The JSON document of `spanscore evaluate --format json`."""
    scope = evaluation.scope
    return {
        "schema_version": SCHEMA_VERSION,
        "scope": {
            "since": None if scope.since is None else f"{scope.since.isoformat()}Z",
            "until": None if scope.until is None else f"{scope.until.isoformat()}Z",
            "source": scope.source,
            "suite": scope.suite,
            "experiment": scope.experiment,
            "service": scope.service,
            "runs": list(scope.runs),
        },
        "runs": evaluation.runs.num_rows,
        "undecided_runs": {run_id: list(cases) for run_id, cases in evaluation.undecided.items()},
        "scores": {"written": counts.written, "unchanged": counts.unchanged},
        "evaluators": {result.id: _described(result) for result in evaluation.results},
        "errors": [{"evaluator": result.id, "error": result.error} for result in evaluation.failed],
    }


def no_attempts(evaluation: Evaluation) -> str:
    """What to say when a suite was asked for and no run is an attempt at one of its cases."""
    return (
        f"No run that passes the filters is an attempt at a case of suite `{evaluation.scope.suite}`.\n"
        "  Runs are found by `spanscore.case.id`, else by the text of their input; `spanscore traces` lists both."
    )


def _undecided(runs: Mapping[str, Sequence[str]]) -> str:
    run_id, cases = next(iter(runs.items()))
    n = len(runs)
    return (
        f"{figures.counted(n, 'run')} may belong to several cases and "
        f"{figures.agreeing(n, 'was', 'were')} given none, such as {run_id}: {', '.join(cases)}.\n"
        "  Set spanscore.case.id and spanscore.suite.name on the runs, or ask for one suite with --suite."
    )


def _described(result: Result) -> dict[str, Any]:
    evaluator = result.evaluator
    return {
        "title": None if evaluator is None else evaluator.title,
        "question": result.question,
        "grain": None if evaluator is None else evaluator.grain,
        "unit": None if evaluator is None else evaluator.unit,
        "better": None if evaluator is None else evaluator.better,
        "evaluator_sha256": result.sha256,
        "params": dict(result.params),
        "mean": result.mean,
        "n_scored": result.n_scored,
        "n_total": result.n_total,
        "not_applicable": dict(result.not_applicable),
        "error": result.error,
    }


def _scored(row: dict[str, Any]) -> str:
    result = row["result"]
    return f"{figures.count(result.n_scored)} / {figures.count(result.n_total)}"


def _mean(row: dict[str, Any]) -> object:
    result: Result = row["result"]
    if result.error is not None:
        return plain("failed", "bold red")
    return (
        None if result.mean is None else score(result.mean, None if result.evaluator is None else result.evaluator.unit)
    )


def score(value: float, unit: str | None) -> str:
    """A score, or a mean of scores, in its unit."""
    if unit in ("ratio", "boolean"):
        return f"{value:.3f}"
    if unit == "usd":
        return figures.usd(value)
    if unit == "s":
        return figures.duration(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _reasons(row: dict[str, Any]) -> str:
    result: Result = row["result"]
    if result.error is not None:
        return "(the error stands below)"
    parts = [f"{figures.count(n)} {reason}" for reason, n in result.not_applicable.items()]
    more = len(parts) - _REASONS_SHOWN
    return ", ".join(parts[:_REASONS_SHOWN]) + (f", {more} more" if more > 0 else "")


_COLUMNS = (
    Column("evaluator", lambda row: row["result"].id, style="cyan"),
    Column("mean", _mean, right=True),
    Column("scored", _scored, right=True),
    Column("not applicable", _reasons, flexible=True),
)
