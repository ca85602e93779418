"""Queries that heed no limit of DuckDB's: the process ends them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spanscore.errors import UsageError
from spanscore.store import Store
from spanscore.store.connection import default_memory_bytes, default_memory_limit, default_threads

RUN = """
import resource, sys
from pathlib import Path
from spanscore.errors import QueryError
from spanscore.store import contained, read_session
try:
    with read_session(Path(sys.argv[1]), timeout_s=1) as session, contained(1, memory_bytes=1 << 30, grace_s=0.5):
        print(session.rows(sys.argv[2]))
except QueryError as error:
    print(error)
    print("limit", resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY)
"""


def run(directory: Path, sql: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, str(directory), sql],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("contained")
    Store.open(directory).close()
    return directory


@pytest.mark.parametrize("sql", ["select length(repeat('x', 4000000000))", "select list_sum(range(300000000))"])
def test_one_call_that_wants_too_much_memory_fails_and_the_limit_is_taken_back(directory: Path, sql: str) -> None:
    ended = run(directory, sql)

    assert ended.returncode == 0, ended.stderr
    assert "needs more memory" in ended.stdout
    assert "limit True" in ended.stdout


def test_one_call_that_runs_too_long_ends_the_process(directory: Path) -> None:
    started = time.monotonic()
    ended = run(directory, "select length(regexp_replace(repeat('ab', 100000000), 'a', 'bb', 'g'))")

    assert ended.returncode == 3
    assert "longer than the 1 s" in ended.stderr
    assert time.monotonic() - started < 20


def test_a_query_within_its_limits_is_left_alone(directory: Path) -> None:
    ended = run(directory, "select count(*) from range(1000)")

    assert (ended.returncode, ended.stdout) == (0, "[(1000,)]\n")


@pytest.mark.parametrize(("text", "size"), [("2GiB", 2 << 30), ("1.5 GB", 1_500_000_000), ("64mib", 64 << 20)])
def test_the_memory_limit_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", text)

    assert default_memory_bytes() == size
    assert default_memory_limit() == f"{size >> 20}MiB"


@pytest.mark.parametrize("text", ["lots", "-1GiB", "5"])
def test_a_memory_limit_that_is_no_size_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SPANSCORE_MEMORY_LIMIT", text)
    with pytest.raises(UsageError, match="SPANSCORE_MEMORY_LIMIT"):
        default_memory_limit()


@pytest.mark.parametrize("text", ["0", "two", "-1", "²"])
def test_threads_that_are_no_number_are_a_usage_error(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SPANSCORE_THREADS", text)
    with pytest.raises(UsageError, match="SPANSCORE_THREADS"):
        default_threads()
