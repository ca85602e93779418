"""Stores with made-up runs and scores, for tests of the report."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from spanscore.report.scorecard import Report, ReportScope, read_report
from spanscore.store import Store

NOW = datetime.fromisoformat("2026-11-29T12:00:00+00:00")
START = datetime.fromisoformat("2026-11-28T09:00:00")
UNITS = {"steps": ("efficiency", "count", "lower"), "step_cap_hit": ("efficiency", "boolean", "lower")}
QUESTIONS = {
    "tool_set_match": ("tools", "boolean", "higher"),
    "numbers_grounded": ("groundedness", "ratio", "higher"),
    "sources_cited": ("groundedness", "ratio", "higher"),
    "task_completed": ("outcome", "boolean", "higher"),
    "orphan_spans": ("trace_quality", "count", "lower"),
    **UNITS,
}


class Filling:
    """Fills a store: runs, scores, cases and whatever else a test needs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with Store.open(directory):
            pass
        self.connection = duckdb.connect(str(directory / "spanscore.duckdb"))

    def insert(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Insert rows, absent columns NULL."""
        for row in rows:
            names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
            self.connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))

    def run(self, run_id: str, *, number: int = 0, **columns: Any) -> None:
        """Insert one run that began `number` minutes after the first."""
        fields = {"status": "ok", "source": "production", "fingerprint": "f", **columns}
        started = START + timedelta(minutes=number)
        self.insert("runs", [{"run_id": run_id, "trace_id": run_id, "started_at": started, **fields}])

    def score(
        self, run_id: str, evaluator: str, value: float | None, *, reason: str | None = None, **columns: Any
    ) -> None:
        """Insert one score of a run."""
        row = {
            "run_id": run_id,
            "evaluator": evaluator,
            "evaluator_sha256": "0" * 64,
            "params": "{}",
            "grain": "run",
            "subject_id": run_id,
            "score_value": value,
            "not_applicable_reason": reason,
            "trace_fingerprint": "f",
            "scored_at": START,
        }
        row.update(columns)
        self.insert("scores", [row])

    def know(self, *evaluators: str) -> None:
        """Say what the evaluators measure."""
        for name in evaluators:
            question, unit, better = QUESTIONS[name]
            row = {
                "evaluator": name,
                "evaluator_sha256": "0" * 64,
                "title": name,
                "question": question,
                "grain": "run",
                "unit": unit,
                "better": better,
                "needs": [],
                "tags": [],
                "is_shipped": True,
            }
            self.insert("evaluators", [row])

    def report(self, **scope: Any) -> Report:
        """Close the store and report on it."""
        self.connection.close()
        return read_report(self.directory, ReportScope(**scope), now=NOW, folder=self.directory)


SUITE = {
    "calc-1": ("arithmetic", 3),
    "calc-2": ("arithmetic", 3),
    "fact-1": ("background", 3),
    "cur-1": ("current", 3),
    "none-1": ("restraint", 2),
    "unans-1": ("unanswerable", 2),
    "conflict-1": ("conflicting-sources", 3),
    "multi-1": ("multi-step", 2),
    "junk-1": ("nonsense", 1),
}
"""Case -> category, and in how many of three trials the right tools were used."""


def published_suite(directory: Path) -> Filling:
    """Nine cases run three times, with the outcome that a published report of 27 runs gives."""
    filling = Filling(directory)
    filling.know("tool_set_match", "numbers_grounded", "sources_cited", "steps", "step_cap_hit")
    number = 0
    for case_id, (category, right) in SUITE.items():
        case = {"suite_name": "nine", "suite_version": "1", "case_id": case_id, "category": category, "step_cap": 6}
        filling.insert("cases", [case])
        for trial in range(3):
            run_id = f"{number:032x}"
            filling.run(
                run_id,
                number=number,
                source="benchmark",
                suite_name="nine",
                suite_version="1",
                case_id=case_id,
                trial=trial,
                duration_s=1.0 + number / 10,
                cost_usd=0.001,
                llm_calls=3,
                tool_calls=2,
                unpriced_llm_calls=0,
            )
            ungrounded = case_id == "junk-1" and trial < 2
            evidence = json.dumps({"claims": 2, "unsupported": [{"text": "711", "start": 4, "end": 7}]})
            filling.score(run_id, "tool_set_match", float(trial < right), explanation="Tools differ.")
            filling.score(
                run_id,
                "numbers_grounded",
                0.0 if ungrounded else 1.0,
                explanation="1 of 2 numbers has no source.",
                evidence=evidence,
            )
            filling.score(run_id, "sources_cited", 1.0)
            filling.score(run_id, "steps", 6.0 if number < 2 else 3.0 if number < 20 else 2.0)
            filling.score(run_id, "step_cap_hit", float(number < 2))
            number += 1
    return filling
