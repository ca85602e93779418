"""Deriving the first traces while later ones are loaded gives the rows that deriving at the end gives."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from spanscore.otlp import RawTables, concat_raw_tables, read_paths
from spanscore.store import Store, derive
from spanscore.store.derive import TABLES

DEMO = Path(__file__).parents[2] / "src" / "spanscore" / "demo_data"


@pytest.fixture(scope="module")
def captured() -> RawTables:
    """The first spans of the demo: several runs of several frameworks."""
    tables = concat_raw_tables([chunk.tables for chunk in read_paths([DEMO])])
    return replace(tables, spans=tables.spans.slice(0, 120))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "BATCH_SPANS", 30)


def batches(captured: RawTables, order: list[int], size: int) -> list[RawTables]:
    """The spans in this order, `size` at a time, without their events and links; the log records come last."""
    spans = captured.spans.take(pa.array(order))
    parts = [
        RawTables(resources=captured.resources, scopes=captured.scopes, spans=spans.slice(start, size))
        for start in range(0, spans.num_rows, size)
    ]
    return [*parts, RawTables(resources=captured.resources, scopes=captured.scopes, log_records=captured.log_records)]


def rows(store: Store) -> dict[str, list[str]]:
    return {
        table: sorted(map(repr, store.connection.execute(f'select * from "{table}"').fetchall())) for table in TABLES
    }


def by_trace(captured: RawTables) -> list[int]:
    ids = captured.spans["trace_id"].to_pylist()
    first = {trace_id: place for place, trace_id in reversed(list(enumerate(ids)))}
    return sorted(range(len(ids)), key=lambda place: (first[ids[place]], place))


def shuffled(captured: RawTables) -> list[int]:
    order = list(range(captured.spans.num_rows))
    random.Random(1).shuffle(order)
    return order


@pytest.mark.slow
@pytest.mark.parametrize("order", [by_trace, pytest.param(shuffled, marks=pytest.mark.slow)])
def test_the_rows_are_those_of_deriving_at_the_end(captured, small_batches, tmp_path, order) -> None:
    parts = batches(captured, order(captured), 20)
    with Store.open(tmp_path / "beside", threads=2) as store:
        begun = 0
        with store.deriving_beside() as beside:
            for part in parts:
                beside.make_way(part)
                beside.take(store.load(part, source="test").spans.stored)
                begun += beside.is_busy
        left = store.connection.execute("select count(distinct trace_id) from pending_traces").fetchall()[0][0]
        store.derive()
        found = rows(store)
        threads = store.connection.execute("select current_setting('threads')").fetchall()
    with Store.open(tmp_path / "after", threads=2) as store:
        for part in parts:
            store.load(part, source="test")
        n_traces = store.connection.execute("select count(distinct trace_id) from pending_traces").fetchall()[0][0]
        store.derive()
        expected = rows(store)

    assert begun > 0
    assert order is shuffled or left < n_traces
    assert found == expected
    assert len(found["runs"]) > 3
    assert threads == [(2,)]


def test_one_thread_derives_nothing_beside(captured, small_batches, tmp_path) -> None:
    with Store.open(tmp_path, threads=1) as store, store.deriving_beside() as beside:
        for part in batches(captured, by_trace(captured), 20):
            beside.make_way(part)
            beside.take(store.load(part, source="test").spans.stored)
            assert not beside.is_busy


def test_what_goes_wrong_beside_is_raised(captured, small_batches, tmp_path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(derive, "_derive_batch", fail)
    with (
        pytest.raises(RuntimeError, match="no room"),
        Store.open(tmp_path, threads=2) as store,
        store.deriving_beside() as beside,
    ):
        for part in batches(captured, by_trace(captured), 20):
            beside.make_way(part)
            beside.take(store.load(part, source="test").spans.stored)
