"""Scores invented runs on empty tables of a trajectory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from spanscore.evaluate.catalogue import shipped_catalogue
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.queries import read_query
from tests.queries.groundedness.attempts import Attempt, Judge, Verdict

_BY_ID = {evaluator.id: evaluator for evaluator in shipped_catalogue().evaluators}
_TABLES = ("runs", "llm_calls", "tool_calls", "tool_requests", "messages", "retrievals")


@pytest.fixture(scope="session")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Empty tables of a trajectory, with the macros of evaluators."""
    with duckdb.connect() as connected:
        for table in _TABLES:
            connected.execute(read_query(f"trajectory/tables/{table}.sql"))
        connected.execute("create table cases (run_id varchar, expected_sources varchar[], checks json)")
        for name in EVALUATOR_MACROS:
            connected.execute(read_query(f"macros/{name}.sql"))
        yield connected


@pytest.fixture(scope="session")
def judge(connection: duckdb.DuckDBPyConnection) -> Judge:
    """Scores attempts with one evaluator, in one pass: judge("numbers_grounded", attempts, params)."""

    def score(identifier: str, attempts: Sequence[Attempt], params: dict[str, Any] | None = None) -> list[Verdict]:
        evaluator = _BY_ID[identifier]
        for table, rows in _tables(attempts).items():
            connection.execute(f"delete from {table}")
            if rows:
                connection.register("given", pa.Table.from_pylist(rows))
                connection.execute(f"insert into {table} by name select * from given")
                connection.unregister("given")
        scores = connection.sql(evaluator.sql, params=evaluator.bound(params or {})).to_arrow_table().to_pylist()
        by_run = {row["run_id"]: row for row in scores}
        return [_verdict(by_run[f"run {place}"]) for place in range(len(attempts))]

    return score


def _tables(attempts: Sequence[Attempt]) -> dict[str, list[dict[str, Any]]]:
    named = [(f"run {place}", attempt) for place, attempt in enumerate(attempts)]
    return {
        "runs": [
            {"run_id": run, "final_answer": attempt.answer, "question": attempt.question, "has_content": True}
            for run, attempt in named
        ],
        "tool_calls": [
            {"run_id": run, "tool_call_id": f"call {place}", "tool_name": "look_up", "status": "ok", "result": source}
            for run, attempt in named
            for place, source in enumerate(attempt.sources)
        ],
        "messages": [
            {"run_id": run, "direction": "system", "role": "system", "part_type": "text", "text": attempt.system}
            for run, attempt in named
            if attempt.system is not None
        ],
    }


def _verdict(score: dict[str, Any]) -> Verdict:
    evidence = json.loads(score["evidence"]) if score["evidence"] is not None else {}
    return Verdict(score["score_value"], score["not_applicable_reason"], **evidence)
