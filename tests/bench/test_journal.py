"""The journal: whatever a kill leaves of it, every trial ends up made once."""

from dataclasses import replace
from pathlib import Path

import pytest

from spanscore.bench.journal import Attempt, Journal, journal_path, recorded
from spanscore.bench.trial import Ending
from spanscore.errors import BenchError, UsageError

HEADER = {
    "experiment_id": "e",
    "suite_name": "s",
    "suite_version": None,
    "suite_sha256": "x",
    "agent": "m:f",
    "variant": None,
    "steps": None,
    "cost_usd": None,
    "cases": 2,
    "repeats": 2,
    "begun_at": "2026-11-29",
}


def attempt(case_id: str, number: int) -> Attempt:
    return Attempt(
        case_id=case_id, trial=0, attempt=1, trace_id=f"{number:032x}", span_id=f"{number:016x}", started_ns=1
    )


def filled(path: Path) -> bytes:
    """The bytes of a journal with a trial made and sent, one made, one under way, and one that could not be made."""
    with Journal(path, HEADER) as journal:
        for number, case_id in enumerate("abcd", 1):
            journal.begun(attempt(case_id, number))
        journal.ended(replace(attempt("a", 1), ending=Ending.OK, ended_ns=2, answer="é\u2028\n"))
        journal.sent(attempt("a", 1))
        journal.ended(replace(attempt("b", 2), ending=Ending.TIMEOUT, ended_ns=2))
        journal.ended(replace(attempt("d", 4), ending=Ending.INFRASTRUCTURE, ended_ns=2))
    return path.read_bytes()


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "e / 1")
    filled(path)
    with Journal(path, {**HEADER, "repeats": 5}) as journal:
        assert {key: one.ending for key, one in journal.trials.items()} == {("a", 0): "ok", ("b", 0): "timeout"}
        assert [one.case_id for one in journal.unfinished] == ["c"]
        assert journal.unsent == {attempt("b", 2).trace_id, attempt("d", 4).trace_id}
        assert journal.trials["a", 0].answer == "é\u2028\n"
    (found,) = recorded(tmp_path)
    assert (found.experiment_id, found.finished, found.planned) == ("e / 1", 2, 4)


def test_a_torn_line_was_never_written(tmp_path: Path) -> None:
    """Cut anywhere, the journal is what it was after its last whole line, and goes on from there."""
    path = tmp_path / "bench" / "e.jsonl"
    content = filled(path)
    for end in range(0, len(content), 23):
        path.write_bytes(content[:end])
        with Journal(path, HEADER) as journal:
            journal.begun(attempt("z", 99))
        whole = content[: content[:end].rfind(b"\n") + 1]
        lines = path.read_bytes().splitlines()

        assert len(lines) == max(len(whole.splitlines()), 1) + 1
        assert lines[:-1] == whole.splitlines() or not whole


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(filled(path).replace(b'"kind":"sent"', b'"kind":"lost"', 1))

    with pytest.raises(BenchError, match=r"e\.jsonl:7"):
        Journal(path, HEADER)


@pytest.mark.parametrize("changed", ["agent", "suite_sha256", "variant", "steps"])
def test_another_experiment_of_the_same_name_is_refused(tmp_path: Path, changed: str) -> None:
    filled(tmp_path / "e.jsonl")

    with pytest.raises(UsageError, match=changed.replace("_", " ")):
        Journal(tmp_path / "e.jsonl", {**HEADER, changed: "other"})


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "e.jsonl", HEADER), pytest.raises(UsageError, match="another process"):
        Journal(tmp_path / "e.jsonl", HEADER)


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long"):
        journal_path(tmp_path, "é" * 200)
