"""The worker in which SQL of users runs: what it must not do, and that it ends on time."""

from __future__ import annotations

import hashlib
import resource
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

# Test modules are imported by path; this lets them import the module beside them.
sys.path.insert(0, str(Path(__file__).parent))

from attacks import HANGS, HANGS_THAT_TAKE_LONGER, HARMLESS, REFUSED

from spanscore.errors import QueryError
from spanscore.store import Store
from spanscore.store.contained.process import Worker
from spanscore.store.contained.query import contained_arrow_query, contained_query

SECRET = "the-secret-of-the-canary"
LARGEST_WORKER_KIB = 2.4 * (1 << 20)


class Place:
    """A store, a file with a secret, and an empty folder."""

    def __init__(self, folder: Path, make_tables: Any) -> None:
        self.store = folder / "store"
        with Store.open(self.store) as store:
            store.load(make_tables([{"attributes": {"n": 1}}]), source="test")
        self.canary = folder / "canary.csv"
        self.canary.write_text(f"{SECRET},1\n", encoding="utf-8")
        self.outside = folder / "outside"
        self.outside.mkdir()
        self.link = self.outside / "link.csv"
        self.link.symlink_to(self.canary)
        self.before = self.state()

    def state(self) -> dict[str, str]:
        """Every file beneath the folder, and what is in it."""
        files = [path for path in self.store.parent.rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def filled(self, sql: str) -> str:
        """`sql` with the places it names."""
        for name in ("canary", "outside", "link"):
            sql = sql.replace(f"{{{name}}}", str(getattr(self, name)))
        return sql.replace("{{", "{").replace("}}", "}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, make_tables: Any) -> Place:
    return Place(tmp_path_factory.mktemp("attacked"), make_tables)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(grace_s=0.3) as started:
        yield started


def ask(worker: Worker, place: Place, sql: str, timeout_s: float = 20.0) -> list[tuple[Any, ...]]:
    return list(contained_query(worker, place.store, sql, timeout_s=timeout_s).rows)


def assert_nothing_happened(worker: Worker, place: Place) -> None:
    """The next query works, no file is new or other, and the process talks to nobody but us."""
    assert ask(worker, place, "select count(*), count(distinct trace_id), sum(1) from spans") == [(1, 1, 1)]
    assert place.state() == place.before
    descriptors = Path(f"/proc/{worker.pid}/fd")
    if descriptors.is_dir():
        kinds = [str(one.readlink()) for one in descriptors.iterdir()]
        assert [kind for kind in kinds if not kind.startswith(("/dev/null", "pipe:"))] == []


@pytest.mark.parametrize("attack", REFUSED)
def test_an_attack_is_refused(worker: Worker, place: Place, attack: str) -> None:
    with pytest.raises(QueryError) as refused:
        ask(worker, place, place.filled(REFUSED[attack]))

    assert SECRET not in str(refused.value)
    assert_nothing_happened(worker, place)


@pytest.mark.parametrize("attack", ["read_text", "COPY to Parquet", "DELETE in a CTE", "SET memory", "two statements"])
def test_what_goes_to_parquet_is_held_to_the_same(worker: Worker, place: Place, attack: str) -> None:
    with pytest.raises(QueryError):
        contained_arrow_query(worker, place.store, place.filled(REFUSED[attack]), timeout_s=20).table()

    assert_nothing_happened(worker, place)


@pytest.mark.parametrize("attack", HARMLESS)
def test_what_is_allowed_tells_and_changes_nothing(worker: Worker, place: Place, attack: str) -> None:
    rows = ask(worker, place, place.filled(HARMLESS[attack]))

    assert SECRET not in repr(rows)
    assert_nothing_happened(worker, place)


def stopped(worker: Worker, place: Place, sql: str) -> None:
    began = time.monotonic()
    with suppress(QueryError):
        # Rows may come until then: they are not kept.
        deque(contained_query(worker, place.store, sql, timeout_s=0.5).rows, maxlen=0)
    # Half a second and the grace, were the machine idle: what matters is that it does not go on for minutes.
    assert time.monotonic() - began < 20
    assert_nothing_happened(worker, place)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < LARGEST_WORKER_KIB


@pytest.mark.parametrize("hang", HANGS)
def test_a_query_that_would_not_end_is_stopped(worker: Worker, place: Place, hang: str) -> None:
    stopped(worker, place, HANGS[hang])


@pytest.mark.slow
@pytest.mark.parametrize("hang", HANGS_THAT_TAKE_LONGER)
def test_a_query_that_wants_too_much_is_stopped(worker: Worker, place: Place, hang: str) -> None:
    stopped(worker, place, HANGS_THAT_TAKE_LONGER[hang])


def test_the_lists_are_long_enough() -> None:
    assert len(REFUSED) + len(HARMLESS) >= 81
    assert len(HANGS) + len(HANGS_THAT_TAKE_LONGER) >= 12
