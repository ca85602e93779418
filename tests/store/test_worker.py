"""The process for SQL of users: how it lives and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanscore.errors import QueryError, QueryTimeout, StoreLocked, StoreMissing, UsageError
from spanscore.store import Store
from spanscore.store.contained import wire
from spanscore.store.contained.evaluation import contained_empty_store
from spanscore.store.contained.process import Worker
from spanscore.store.contained.query import contained_arrow_query, contained_query

ENDLESS = "select i from range(1000000000000) as t(i)"
DEAF = "select sum(length(regexp_replace(repeat('ab', 1000000 + i), '(a|b)', '', 'g'))) from range(100) as t(i)"
"""Hears neither DuckDB's time limit nor its interrupt."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("worker")
    Store.open(directory).close()
    return directory


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(grace_s=0.3) as started:
        yield started


def rows(worker: Worker, directory: Path, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    return list(contained_query(worker, directory, sql, **{"timeout_s": 20, **options}).rows)


def test_one_process_answers_many_queries(worker: Worker, directory: Path) -> None:
    first = [rows(worker, directory, f"select {i}") for i in range(5)], worker.pid

    assert first == ([[(i,)] for i in range(5)], worker.pid)


def test_a_mistake_does_not_cost_the_process(worker: Worker, directory: Path) -> None:
    rows(worker, directory, "select 1")
    pid = worker.pid
    with pytest.raises(QueryError, match="syntax error"):
        rows(worker, directory, "selekt 1")

    assert rows(worker, directory, "select 2") == [(2,)]
    assert worker.pid == pid


def test_a_late_query_costs_the_process_and_the_next_has_another(worker: Worker, directory: Path) -> None:
    rows(worker, directory, "select 1")
    pid = worker.pid
    with pytest.raises(QueryTimeout, match=r"0\.3 s"):
        rows(worker, directory, DEAF, timeout_s=0.3)

    assert not Path(f"/proc/{pid}").exists()
    assert rows(worker, directory, "select 2") == [(2,)]
    assert worker.pid != pid


def test_rows_that_nobody_wants_any_more_cost_the_process(worker: Worker, directory: Path) -> None:
    result = contained_query(worker, directory, ENDLESS, timeout_s=20)
    assert next(result.rows) == (0,)
    result.rows.close()  # type: ignore[attr-defined]

    assert worker.pid is None
    assert rows(worker, directory, "select 2") == [(2,)]


def test_a_reader_may_take_his_time(worker: Worker, directory: Path) -> None:
    given = 0
    for given, _ in enumerate(contained_query(worker, directory, "from range(300000)", timeout_s=1).rows, start=1):
        if given in (1, 100_000):
            time.sleep(0.8)

    assert given == 300_000


def test_the_limit_cuts_and_says_so(worker: Worker, directory: Path) -> None:
    result = contained_query(worker, directory, ENDLESS, timeout_s=20, limit=3)

    assert list(result.rows) == [(0,), (1,), (2,)]
    assert result.is_truncated


def test_a_process_that_dies_is_told_and_replaced(worker: Worker, directory: Path) -> None:
    rows(worker, directory, "select 1")
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(QueryError, match="SIGKILL"):
        rows(worker, directory, "select 1")

    assert rows(worker, directory, "select 2") == [(2,)]


def test_processor_time_is_bounded_too(worker: Worker, directory: Path) -> None:
    # It is not late, for nobody waits: what stops it is the processor time that it uses.
    worker.ask({**QUERY, "directory": str(directory), "sql": DEAF, "allowed_s": 0.1})
    ended = threading.Event()
    pid = worker.pid
    for _ in range(200):
        if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            ended.set()
            break
        time.sleep(0.1)
    worker.kill()

    assert ended.is_set()


QUERY = {"do": "select", "timeout_s": 60, "limit": None, "macros": [], "wait_s": 1, "is_arrow": False}


def test_it_ends_with_its_caller(directory: Path) -> None:
    program = (
        "import sys, os\n"
        "from spanscore.store.contained.process import Worker\n"
        "worker = Worker()\n"
        f"worker.ask({{**{QUERY!r}, 'directory': {str(directory)!r}, 'sql': {DEAF!r}, 'allowed_s': 60}})\n"
        "print(worker.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    caller = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert caller.stdout is not None
    pid = int(caller.stdout.readline())
    caller.kill()
    caller.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not Path(f"/proc/{pid}").exists()


def test_it_has_no_environment_but_our_settings(
    worker: Worker, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("SPANSCORE_THREADS", "1")
    worker.kill()
    assert rows(worker, directory, "select current_setting('threads')") == [(1,)]
    assert Path(f"/proc/{worker.pid}/environ").read_bytes().split(b"\0") == [b"SPANSCORE_THREADS=1", b""]


def test_a_wrong_setting_is_told(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", "lots")
    with Worker() as worker, pytest.raises(UsageError, match="SPANSCORE_MEMORY_LIMIT"):
        rows(worker, directory, "select 1")


def test_a_store_that_is_missing_or_held_is_told(worker: Worker, directory: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        rows(worker, tmp_path / "nowhere", "select 1")
    with Store.open(tmp_path / "held"), pytest.raises(StoreLocked, match=str(os.getpid())):
        rows(worker, tmp_path / "held", "select 1", wait_s=0.1)

    assert rows(worker, directory, "select 2") == [(2,)]


def test_the_store_is_free_when_the_last_row_was_read(worker: Worker, tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    assert rows(worker, tmp_path, "select 1") == [(1,)]

    Store.open(tmp_path, wait_s=0).close()


@pytest.mark.parametrize(
    "sql",
    [
        "select 170141183460469231731687303715884105727::hugeint, 340282366920938463463374607431768211455::uhugeint",
        "select 18446744073709551615::ubigint, (-9223372036854775808)::bigint, null",
        "select 1.10::decimal(38, 2), [1.10::decimal(4, 2)], {'a': [1, null], 'b': {'c': 'x'}}",
        "select 'nan'::double, 'infinity'::float, [1.5, 'nan'::double]",
        "select uuid '00000000-0000-0000-0000-000000000001', [uuid '00000000-0000-0000-0000-000000000001']",
        r"select '\xAB\x00'::blob, ['\xAB'::blob], 'x' || chr(0), ''",
        "select [date '2023-11-14'], [timestamp '2023-11-14 22:13:20.5'], [time '22:13:20'], date '2023-11-14'",
        "select timestamp_ns '2023-11-14 22:13:20.123456789', interval '14 months', [interval '1 day']",
        "select map {1: 'a', 2: null}, map {'k': 9223372036854775807::variant}, '[1]'::json, '[1]'::json::variant",
        "select case when i = 3 then 2::hugeint ** 100 else i end, if(i % 2 = 0, null, i) from range(5000) as t(i)",
        "select 'a'::enum('a', 'b'), ['a'::enum('a', 'b')], true, [true, null], 5::utinyint",
        "select 1 where false",
    ],
)
def test_values_come_as_duckdb_gives_them(worker: Worker, directory: Path, sql: str) -> None:
    from spanscore.store import read_session, run_query

    found = contained_query(worker, directory, sql, timeout_s=20)
    values = list(found.rows)
    with read_session(directory) as session:
        here = run_query(session, sql)
        expected = list(here.rows)

    assert found.columns == here.columns
    assert repr(values) == repr(expected)


def test_arrow_comes_in_batches_with_a_schema(worker: Worker, directory: Path) -> None:
    sql = "select i, i::varchar as t from range(50000) as t(i)"
    table = contained_arrow_query(worker, directory, sql, timeout_s=20).table()
    none = contained_arrow_query(worker, directory, "select 1 as a, 'x' as b where false", timeout_s=20).table()

    assert table.column("i").to_pylist() == list(range(50_000))
    assert none.column_names == ["a", "b"]


def test_a_query_that_is_not_read_to_its_end_does_not_answer_the_next(worker: Worker, directory: Path) -> None:
    left = contained_query(worker, directory, ENDLESS, timeout_s=20)

    assert rows(worker, directory, "select 2") == [(2,)]
    with pytest.raises(QueryError):
        list(left.rows)
    assert rows(worker, directory, "select 3") == [(3,)]


def test_memory_that_a_query_took_is_there_for_the_next(worker: Worker, directory: Path) -> None:
    for _ in range(3):
        with pytest.raises(QueryError, match="memory"):
            rows(worker, directory, "select length(list(i)) from range(100000000000) as t(i)")
        assert rows(worker, directory, "select length(repeat('x', 100000000))") == [(100_000_000,)]


def test_a_signal_that_another_thread_got_ends_the_wait(worker: Worker, directory: Path) -> None:
    rows(worker, directory, "select 1")
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    assert other.ident is not None
    timer = threading.Timer(0.5, signal.pthread_kill, (other.ident, signal.SIGINT))
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            rows(worker, directory, f"select count(*) from ({ENDLESS})", timeout_s=8)
    finally:
        over.set()
        other.join()

    assert time.monotonic() - began < 6
    assert rows(worker, directory, "select 2") == [(2,)]


@pytest.mark.parametrize("sent", [None, 5])
def test_who_is_interrupted_while_asking_gets_no_wrong_answer_next(
    worker: Worker, directory: Path, monkeypatch: pytest.MonkeyPatch, sent: int | None
) -> None:
    """`sent`: how much of the question went out [bytes]; None = all of it."""
    rows(worker, directory, "select 1")
    write_all = wire.write_all

    def interrupted(descriptor: int, frames: list[bytes]) -> None:
        write_all(descriptor, [b"".join(frames)[:sent]])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(wire, "write_all", interrupted)
        rows(worker, directory, "select 1")

    assert rows(worker, directory, "select 2") == [(2,)]


def test_a_session_opens_its_store_again_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    with contained_empty_store(macros=[], timeout_s=20) as session:
        assert "case_id" in session.columns("runs")
        write_all = wire.write_all

        def interrupted(descriptor: int, frames: list[bytes]) -> None:
            write_all(descriptor, frames)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(wire, "write_all", interrupted)
            session.columns("tool_calls")

        assert "case_id" in session.columns("runs")
