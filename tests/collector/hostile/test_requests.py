"""Each hostile request gets the right answer, in bounded memory, and a good one is answered after it."""

import re
import time
from pathlib import Path

import grpc
import pytest
from hostile_parts import MIB
from hostile_requests import CASES, PLAIN, WRONG_TYPE, Case
from otlp_clients import TYPES, Answer, CollectorProcess, call, post

PARAMS = [pytest.param(case, kind, id=f"{case.name}, {kind}") for case in CASES for kind in case.sent_as]
ANSWERS = {"OK": 200, "PARTIAL": 200, "INVALID_ARGUMENT": 400, "RESOURCE_EXHAUSTED": 413, WRONG_TYPE: 415}
ENOUGH_S = 30.0


def memory_of(pid: int, what: str) -> int:
    """`VmRSS` or the highest since the last reset, `VmHWM` [MiB]."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) // 1024


def send(server: CollectorProcess, case: Case, kind: str) -> Answer:
    body = case.body()
    if kind == "grpc":
        return call(server, body, compression=grpc.Compression.Gzip if case.encoding == "gzip" else None)
    headers = {} if case.encoding is None else {"Content_Encoding": case.encoding}
    return post(server, body, TYPES[kind], **headers)


@pytest.mark.parametrize(("case", "kind"), PARAMS)
def test_hostile_request(victim: CollectorProcess, case: Case, kind: str) -> None:
    pid = victim.process.pid
    # Loading what came before takes memory, too, and takes it whenever it likes.
    with victim.nothing_loaded():
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")  # VmHWM starts anew
        before = memory_of(pid, "VmRSS")
        started = time.monotonic()
        answer = send(victim, case, kind)
        took_s = time.monotonic() - started
        grown = memory_of(pid, "VmHWM") - before
    print(f"{case.name}: {grown} MiB more, {took_s:.2f} s")

    assert answer.status == (0 if kind == "grpc" else ANSWERS[case.answer])
    if case.answer == "PARTIAL":
        assert (answer.code, case.says in answer.warning) == ("OK", True)
    elif case.answer == WRONG_TYPE:
        assert answer.code == "INVALID_ARGUMENT"
    else:
        assert (answer.code, case.says in answer.message) == (case.answer, True)
        assert answer.is_full_success == (case.answer == "OK")
    assert answer.retry_after_s is None
    assert grown < case.memory
    assert took_s < ENOUGH_S
    good = call(victim, PLAIN) if kind == "grpc" else post(victim, PLAIN)
    assert good.is_full_success


def test_there_are_many_different_ones() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 90
    small = [case.body() for case in CASES if case.memory == 128 and case.answer == "INVALID_ARGUMENT"]
    assert len(set(small)) >= len(small) - 2  # the same bytes, declared differently
    assert max(map(len, small)) < 64 * MIB
