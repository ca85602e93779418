"""The collector whose disk fails: what it acknowledged is stored once, whichever call fails and however."""

import errno
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.posting import Post, grpc_poster, http_poster
from spanscore.collector import Collector, CollectorLimits
from spanscore.collector.spool import Spool
from spanscore.errors import StoreError
from spanscore.store import read_session

LIMITS = CollectorLimits(load_interval_s=0.02, derive_interval_s=0.5, keep_s=0.0, keep_bytes=0, min_free_bytes=0)
REFUSALS = {"HTTP 503", "UNAVAILABLE"}
CALLS = ("open", "writev", "fdatasync", "fsync", "ftruncate", "pwrite", "unlink", "replace")

Make = Callable[..., Any]


def small_segments(directory: Path) -> Spool:
    return Spool(directory, segment_bytes=600)


def opened(store: Path) -> Collector:
    return Collector(store, limits=LIMITS, open_spool=small_segments)


class Fault:
    """Fails the Nth call of a function of `os`, where it concerns the store."""

    def __init__(self, store: Path, call: str, fault: int, nth: int) -> None:
        self.store, self.call, self.fault, self.left = str(store), call, fault, nth
        self.real = getattr(os, call)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.store in self._concerns(args[0]):
            self.left -= 1
            if self.left == 0:
                raise OSError(self.fault, os.strerror(self.fault))
        return self.real(*args, **kwargs)

    @staticmethod
    def _concerns(target: Any) -> str:
        if isinstance(target, int):
            return str(Path(f"/proc/self/fd/{target}").readlink())
        return os.fspath(target)

    @property
    def has_fired(self) -> bool:
        return self.left <= 0


def send(collector: Collector, make: Make, first: int, n: int) -> tuple[set[int], list[str]]:
    """Sends one span at a time, over both protocols in turn: the numbers acknowledged, and the other answers."""
    assert collector.grpc_address is not None
    assert collector.http_address is not None
    posts: list[Post] = [grpc_poster(collector.grpc_address), http_poster(collector.http_address)]
    acked, answers = set(), []
    for number in range(first, first + n):
        answer = posts[number % 2](make(number).SerializeToString())
        if answer is None:
            acked.add(number)
        else:
            answers.append(answer)
        time.sleep(0.01)
    return acked, answers


def numbers(store: Path) -> list[int]:
    with read_session(store) as session:
        return [row[0] for row in session.rows("select attributes['number']::bigint from spans order by 1")]


def fail_the_nth(store: Path, make: Make, monkeypatch: pytest.MonkeyPatch, call: str, fault: int, nth: int) -> bool:
    """One life of a collector in which the Nth call fails, and the next one; whether there was an Nth."""
    failing = Fault(store, call, fault, nth)
    acked: set[int] = set()
    answers: list[str] = []
    refusal: StoreError | None = None
    with monkeypatch.context() as patched:
        patched.setattr(os, call, failing)
        try:
            with opened(store) as collector:
                acked, answers = send(collector, make, 0, 8)
                collector.drain()
        except StoreError as error:
            refusal = error
    with opened(store) as collector:
        more, _ = send(collector, make, 100, 2)
        collector.drain()
    stored = numbers(store)

    # A collector that cannot use its directory says so at its start.
    assert refusal is None or (os.strerror(fault) in str(refusal) and failing.has_fired)
    assert set(answers) <= REFUSALS
    assert len(more) == 2
    assert acked | more <= set(stored)
    assert len(stored) == len(set(stored))
    return failing.has_fired


@pytest.mark.parametrize(("call", "nth"), [("fdatasync", 2), ("unlink", 1)])
def test_an_early_fault_costs_nothing_that_was_acknowledged(
    tmp_path: Path, traces: Make, monkeypatch: pytest.MonkeyPatch, call: str, nth: int
) -> None:
    assert fail_the_nth(tmp_path / "store", traces, monkeypatch, call, errno.EIO, nth)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("call", CALLS)
def test_whichever_call_fails_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path, traces: Make, monkeypatch: pytest.MonkeyPatch, call: str, fault: int
) -> None:
    """The first, the second, the third call fails … until a life goes by without reaching the Nth."""
    nth = 1
    while fail_the_nth(tmp_path / str(nth), traces, monkeypatch, call, fault, nth):
        nth += 1
        assert nth < 200
    assert nth > 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("left_kb", [40, 200, 600, 1500, 4000, 9000])
def test_a_full_disk_refuses_and_goes_on_once_there_is_room(small_disk: Path, traces: Make, left_kb: int) -> None:
    """Full in the spool, in the database's log or in a checkpoint, depending on how much room there is at first."""
    store, ballast = small_disk / "store", small_disk / "ballast"
    with opened(store) as collector:
        collector.drain()
        usage = os.statvfs(small_disk)
        ballast.write_bytes(bytes(max(0, usage.f_bavail * usage.f_frsize - left_kb * 1000)))
        acked, answers = set(), []
        for first in range(0, 400, 20):
            payload = traces(*range(first, first + 20), attributes=400).SerializeToString()
            assert collector.http_address is not None
            answer = http_poster(collector.http_address)(payload)
            if answer is None:
                acked.update(range(first, first + 20))
            else:
                answers.append(answer)
            time.sleep(0.02)
        ballast.unlink()
        more, refused = send(collector, traces, 1000, 4)
        collector.drain()
        stored = numbers(store)

    assert set(answers) <= REFUSALS
    assert refused == []
    assert acked | more <= set(stored)
    assert len(stored) == len(set(stored))
    if left_kb < 9000:
        assert answers


def test_a_disk_that_turns_read_only_refuses_until_it_can_be_written_again(small_disk: Path, traces: Make) -> None:
    def remount(how: str) -> None:
        # A writer that is just at it makes the disk busy.
        for _ in range(100):
            command = ["mount", "-o", f"remount,{how}", str(small_disk)]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.02)
        pytest.fail(f"the disk could not be remounted {how}")

    store = small_disk / "store"
    with opened(store) as collector:
        acked, _ = send(collector, traces, 0, 2)
        collector.drain()
    remount("ro")
    with pytest.raises(StoreError, match="spool"), opened(store):
        pass
    remount("rw")
    with opened(store) as collector:
        more, refused = send(collector, traces, 10, 2)
        collector.drain()

    assert refused == []
    assert set(numbers(store)) == acked | more
