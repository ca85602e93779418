"""Stores and experiments with made-up runs and scores."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from typer.testing import CliRunner

from spanscore.experiments.model import FROM_RUNS, Attempt, Experiment, Metric, scores_from_runs
from spanscore.store import Store

NOW = "2026-11-29T12:00:00Z"
START = datetime.fromisoformat("2026-11-28T09:00:00")
EVALUATORS = {
    "task_completed": ("outcome", "boolean", "higher"),
    "tool_set_match": ("tools", "boolean", "higher"),
    "tool_f1": ("tools", "ratio", "higher"),
    "numbers_grounded": ("groundedness", "ratio", "higher"),
    "step_efficiency": ("efficiency", "ratio", "higher"),
    "recovered_from_error": ("tools", "boolean", "higher"),
    "steps": ("efficiency", "count", "lower"),
    "cache_hit_rate": ("efficiency", "ratio", "none"),
}
ONE_FILE = "0" * 64


def metric(name: str, *, definition: str | None = "0" * 16) -> Metric:
    question, unit, better = EVALUATORS[name]
    return Metric(id=name, title=name, question=question, unit=unit, better=better, definition=definition)


def experiment(
    name: str,
    scores: Mapping[str, Mapping[str, Sequence[float | None]]],
    *,
    costs: Mapping[str, Sequence[float | None]] | None = None,
    seconds: Mapping[str, Sequence[float | None]] | None = None,
    started_at: str = NOW,
    **fields: Any,
) -> Experiment:
    """An experiment with these scores per metric and case; every case has as many runs as its longest list."""
    columns = [*scores.values(), costs or {}, seconds or {}]
    cases = sorted({case for column in columns for case in column})
    attempts = [
        Attempt(
            run_id=f"{name}-{case}-{trial}",
            case_id=case,
            status="ok",
            is_success=True,
            is_checked=False,
            duration_s=_at(seconds, case, trial, 1.0),
            cost_usd=_at(costs, case, trial, 0.01),
            unpriced_llm_calls=0,
            llm_calls=2,
            tool_calls=1,
        )
        for case in cases
        for trial in range(max(len(column.get(case, ())) for column in columns))
    ]
    return Experiment(
        **{
            "name": name,
            "experiment_id": name,
            "variant": None,
            "suite_name": "s",
            "suite_version": "1",
            "git_commit": None,
            "started_at": started_at,
            "attempts": attempts,
            "categories": {},
            "step_caps": {},
            "metrics": {**{key: metric(key) for key in scores}, **FROM_RUNS},
            "scores": {**scores, **scores_from_runs(attempts)},
            **fields,
        }
    )


def _at(values: Mapping[str, Sequence[float | None]] | None, case: str, trial: int, otherwise: float) -> float | None:
    column = (values or {}).get(case)
    return otherwise if column is None or trial >= len(column) else column[trial]


class Made:
    """A store that is filled with experiments."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with Store.open(directory):
            pass
        self.connection = duckdb.connect(str(directory / "spanscore.duckdb"))
        self.number = 0
        rows = [
            (name, ONE_FILE, name, question, "run", unit, better, [], [], True)
            for name, (question, unit, better) in EVALUATORS.items()
        ]
        self.connection.executemany(f"insert into evaluators values ({', '.join('?' * 10)})", rows)

    def cases(
        self, categories: Mapping[str, str | None], *, suite: str = "s", version: str | None = "1", **more: Any
    ) -> None:
        """Store cases with their category; the input of a case is its id."""
        for case, category in categories.items():
            fields = {
                "suite_name": suite,
                "suite_version": version,
                "case_id": case,
                "category": category,
                "input": case,
            }
            self.insert("cases", [{**fields, **more}])

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows that have the same columns; absent columns are NULL."""
        if rows:
            names = list(rows[0])
            marks = ", ".join("?" * len(names))
            columns = ", ".join(f'"{name}"' for name in names)
            values = [[row[name] for name in names] for row in rows]
            self.connection.executemany(f"insert into {table} ({columns}) values ({marks})", values)

    def experiment(
        self,
        experiment_id: str | None,
        scores: Mapping[str, Mapping[str, Sequence[float | None]]],
        *,
        run: Mapping[str, Any] | None = None,
        per_case: Mapping[str, Mapping[str, Any]] | None = None,
        sha256: str = ONE_FILE,
        params: str = "{}",
        fingerprint: str = "f",
    ) -> None:
        """Insert the runs of an experiment with their scores; the n-th score of a case is that of its n-th trial."""
        self.number += 1
        cases = sorted({case for column in scores.values() for case in column})
        runs, rows = [], []
        for case in cases:
            for trial in range(max(len(column.get(case, ())) for column in scores.values())):
                run_id = f"{self.number:04x}{len(runs):028x}"
                started = START + timedelta(hours=self.number, seconds=len(runs))
                runs.append(
                    {
                        "run_id": run_id,
                        "trace_id": run_id,
                        "started_at": started,
                        "source": "benchmark",
                        "status": "ok",
                        "fingerprint": "f",
                        "experiment_id": experiment_id,
                        "variant": None,
                        "suite_name": "s",
                        "suite_version": "1",
                        "case_id": case,
                        "trial": trial,
                        "question": None,
                        "duration_s": 1.0,
                        "cost_usd": 0.01,
                        "unpriced_llm_calls": 0,
                        "llm_calls": 2,
                        "tool_calls": 1,
                        **(run or {}),
                        **(per_case or {}).get(case, {}),
                    }
                )
                for evaluator, column in scores.items():
                    if trial < len(column.get(case, ())):
                        value = column[case][trial]
                        rows.append(
                            {
                                "run_id": run_id,
                                "evaluator": evaluator,
                                "evaluator_sha256": sha256,
                                "params": params,
                                "grain": "run",
                                "subject_id": run_id,
                                "score_value": value,
                                "not_applicable_reason": "no_answer" if value is None else None,
                                "trace_fingerprint": fingerprint,
                                "scored_at": START,
                            }
                        )
        self.insert("runs", runs)
        self.insert("scores", rows)

    def close(self) -> Path:
        """The directory, for reading."""
        self.connection.close()
        return self.directory


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


def spanscore(*words: object, cwd: Path | None = None) -> Outcome:
    """Run `spanscore` with these words in this process."""
    from spanscore.cli import app

    before = Path.cwd()
    if cwd is not None:
        os.chdir(cwd)
    try:
        result = CliRunner().invoke(app, [str(word) for word in words], env={"SPANSCORE_STORE": None, "COLUMNS": None})
    finally:
        os.chdir(before)
    if result.exit_code == 4:
        raise AssertionError(result.stderr)
    return Outcome(result.exit_code, result.stdout, result.stderr)
