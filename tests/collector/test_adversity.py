"""A notebook that holds the store, a clock that jumps, no descriptors left, a stale process id: nothing is lost."""

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.posting import http_poster
from spanscore.collector import Collector, CollectorLimits, read_status
from spanscore.collector import loader as loader_module
from spanscore.collector import spool as spool_module
from spanscore.collector.records import Encoding, Gap, Signal, SpoolRecord, read_segment
from spanscore.collector.spool import Spool, segment_paths
from spanscore.doctor import examine
from spanscore.errors import StoreLocked
from spanscore.store import read_session

Make = Callable[..., Any]
NOTEBOOK = """
import duckdb, sys, time
for _ in range(2000):
    try:
        con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reads")
        break
    except duckdb.IOException:
        time.sleep(0.01)
print("open", flush=True)
sys.stdin.read()
"""


@contextmanager
def notebook(store: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that keeps the store open, until the block ends."""
    command = [sys.executable, "-c", NOTEBOOK, str(store / "spanscore.duckdb"), what]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    try:
        yield process
    finally:
        process.communicate("")


def within_20_s(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def stored_numbers(store: Path) -> list[int]:
    with read_session(store) as session:
        return [row[0] for row in session.rows("select attributes['number']::bigint from spans order by 1")]


@pytest.mark.slow
def test_a_notebook_delays_the_loading_and_nothing_else(
    tmp_path: Path, traces: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    monkeypatch.setattr(loader_module, "STORE_WAIT_S", 0.1)
    with Collector(store, grpc=None, limits=CollectorLimits(load_interval_s=0.3)) as collector:
        collector.drain()
        assert collector.http_address is not None
        post = http_poster(collector.http_address)
        with notebook(store, "reads"):
            assert [post(traces(n).SerializeToString()) for n in range(50)] == [None] * 50
            assert within_20_s(lambda: any("The collector last said" in advice for advice in examine(store)["advice"]))
            assert examine(store)["spool"]["waiting_spans"] == 50
        collector.drain()
        with notebook(store, "writes"):
            assert post(traces(50).SerializeToString()) is None
            assert within_20_s(lambda: (read_status(store) or {})["waiting_spans"] == 1)
            with pytest.raises(StoreLocked, match=r"1 span \(\d+ bytes\) waits in the spool"):
                examine(store)
        collector.drain()

        assert stored_numbers(store) == list(range(51))
        assert collector.status()["refused_requests"] == {}


def test_names_of_segments_grow_whatever_the_clock_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns()
    payloads = []
    for jump in (0, 86_400 * 10**9, -30 * 86_400 * 10**9, -40 * 86_400 * 10**9, 0):
        monkeypatch.setattr(spool_module.time, "time_ns", lambda jump=jump: now + jump)
        with Spool(tmp_path / "spool", segment_bytes=1) as spool:
            for _ in range(3):
                payloads.append(str(len(payloads)).encode())
                spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, now + jump, payloads[-1]))
    monkeypatch.undo()
    found = [item for path in segment_paths(tmp_path / "spool") for item in read_segment(path)]

    assert [item.payload for item in found if not isinstance(item, Gap)] == payloads


def test_a_clock_set_forward_makes_no_segment_old(
    tmp_path: Path, traces: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    with Collector(tmp_path / "store", grpc=None) as collector:
        collector._spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 1, traces(1).SerializeToString()))
        collector.drain()
    with Collector(tmp_path / "store", grpc=None) as collector:
        (kept,) = segment_paths(tmp_path / "store" / "spool")
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda: real() + 40 * 86_400)
            patched.setattr(time, "time_ns", lambda: int((real() + 40 * 86_400) * 1e9))
            collector._spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 2, traces(2).SerializeToString()))
            collector.drain()
            assert collector._loader._try(load=True, derive=True) is None
        assert kept.exists()
        assert stored_numbers(tmp_path / "store") == [1, 2]


def test_a_collector_without_file_descriptors_loses_nothing_and_recovers(tmp_path: Path, traces: Make) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limits = CollectorLimits(load_interval_s=0.05)
    with Collector(
        tmp_path / "store", grpc=None, limits=limits, open_spool=lambda path: Spool(path, segment_bytes=2000)
    ) as collector:
        collector.drain()
        assert collector.http_address is not None
        post = http_poster(collector.http_address, timeout_s=5)
        assert post(traces(0).SerializeToString()) is None
        acked, answers = {0}, set()
        held: list[int] = []
        highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 5, hard))
        try:
            with contextlib.suppress(OSError):
                while True:
                    held.append(os.dup(0))
            for number in range(1, 20):
                answer = post(traces(number, attributes=5).SerializeToString())
                if answer is None:
                    acked.add(number)
                else:
                    answers.add(answer)
                time.sleep(0.02)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for fd in held:
                os.close(fd)
        assert http_poster(collector.http_address, timeout_s=10)(traces(100).SerializeToString()) is None
        collector.drain()
        stored = stored_numbers(tmp_path / "store")
        last_error = collector.status()["last_error"]

    assert "Too many open files" in str(last_error) or answers
    assert not any(answer.startswith("HTTP") for answer in answers - {"HTTP 503"})
    assert acked | {100} <= set(stored)
    assert len(stored) == len(set(stored))


def test_what_a_killed_collector_left_names_no_process_that_has_its_id_now(tmp_path: Path) -> None:
    """Its lock went with it; its status names a process id that another process may have by now."""
    store = tmp_path / "store"
    with Collector(store, grpc=None):
        running = (store / "collector.json").read_text(encoding="utf-8")
        assert read_status(store)["is_running"]  # type: ignore[index]
    left = {**json.loads(running), "process_started": 1}
    (store / "collector.json").write_text(json.dumps(left), encoding="utf-8")
    (store / "spool" / ".lock").write_text(str(os.getpid()), encoding="ascii")
    (store / "collector.json.tmp").write_text("{half", encoding="utf-8")

    assert not read_status(store)["is_running"]  # type: ignore[index]
    with Collector(store, grpc=None) as collector:
        collector.drain()
        assert read_status(store)["is_running"]  # type: ignore[index]
