"""Every number of an answer that no source gave is found, and no other: the table of cases, one by one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.queries.groundedness.attempts import Attempt, Judge, Verdict

TABLE = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
ROWS = [(f"{group} {place}: {row['why']}", row) for group, rows in TABLE.items() for place, row in enumerate(rows)]


@pytest.fixture(scope="module")
def verdicts(judge: Judge) -> dict[str, Verdict]:
    by_params: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, row in ROWS:
        by_params.setdefault(json.dumps(row.get("params", {})), []).append((name, row))
    return {
        name: verdict
        for params, rows in by_params.items()
        for (name, _), verdict in zip(
            rows, judge("numbers_grounded", [_attempt(row) for _, row in rows], json.loads(params)), strict=True
        )
    }


def _attempt(row: dict[str, Any]) -> Attempt:
    return Attempt(row["answer"], row.get("sources", ()), row.get("question", "What is it?"), row.get("system"))


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_case(name: str, row: dict[str, Any], verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[name]

    assert row.get("unsupported", []) == verdict.texts
    assert row.get("derived", []) == [[claim["text"], claim["expression"]] for claim in verdict.derived]
    assert row.get("claims", verdict.claims) == verdict.claims
    if verdict.claims == 0:
        assert verdict.reason == "no_claims"
        assert verdict.score is None
        assert row.get("claims") == 0
    else:
        assert verdict.score == pytest.approx(1 - len(verdict.unsupported) / verdict.claims)
    for claim in verdict.unsupported:
        assert row["answer"][claim["start"] : claim["end"]] == claim["text"]


def test_the_table_is_large_and_says_why() -> None:
    assert len(ROWS) >= 200
    assert len({row["why"] for _, row in ROWS}) == len(ROWS)
