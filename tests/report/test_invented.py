"""Claims without a source are shown where they stand in the answer, and can do nothing to the terminal."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from spanscore.report.invented import invented_claims


class _Reader:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def arrow(self, _sql: str, _parameters: object = None) -> pa.Table:
        return pa.Table.from_pylist(self._rows)


def row(answer: str, claim: str, evaluator: str = "numbers_grounded") -> dict[str, Any]:
    start = answer.index(claim)
    return {
        "run_id": "0" * 32, "agent": "seller", "final_answer": answer, "evaluator": evaluator,
        "claims": [claim], "starts": [start], "ends": [start + len(claim)],
    }  # fmt: skip


def test_each_claim_is_marked_at_its_place_and_listed_below() -> None:
    answer = "There are 1,842 units at https://shop.invalid/a."
    rows = [row(answer, "1,842"), row(answer, "https://shop.invalid/a", "urls_grounded")]

    (shown,) = invented_claims(_Reader(rows))  # type: ignore[arg-type]

    lines = shown.plain.splitlines()
    marked = [shown.plain[span.start : span.end] for span in shown.spans if "underline" in str(span.style)]
    assert lines[0].endswith(answer)
    assert marked == ["1,842", "https://shop.invalid/a"]
    assert lines[1:] == [
        "   no source for 1,842 (characters 10 to 15)",
        "   no source for https://shop.invalid/a (characters 25 to 47)",
    ]


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "[bold]"])
def test_an_answer_cannot_command_the_terminal(hostile: str) -> None:
    (shown,) = invented_claims(_Reader([row(f"{hostile} 4711 {hostile}", "4711")]))  # type: ignore[arg-type]

    assert "\x1b" not in shown.plain
    assert "\u202e" not in shown.plain
    assert "4711" in shown.plain
