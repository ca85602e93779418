"""How long a request took to become part of the trajectory, where some trace always waits to be derived."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Collector, lag, loader
from spanscore.collector.lag import Lag
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.otlp import RawTables
from spanscore.otlp.schema import LOG_RECORDS, SPANS
from spanscore.store import Store

S = 1_000_000_000
STEP_S = 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The one element is the time that lags are measured by [s]."""
    at = [0]
    monkeypatch.setattr(lag, "now_ns", lambda: at[0] * S)
    return at


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Collector]:
    """A collector that loads only when it is told to."""
    with Collector(tmp_path / "store", grpc=None, http="127.0.0.1:0") as opened:
        opened._loader.stop()
        yield opened


def spool(collector: Collector, at_s: int, *spans: tuple[int, int, int]) -> None:
    """A request that was received then, with spans given as (trace, span, start)."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for trace, number, start in spans:
        scope.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=number.to_bytes(8, "big"),
            name="chat",
            start_time_unix_nano=start,
            end_time_unix_nano=start + 1,
        )
    record = SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, at_s * S, request.SerializeToString())
    collector._spool.append(record)


def not_shown(collector: Collector) -> set[int]:
    """Traces with rows that the trajectory does not know."""
    with Store.open(collector.config.store) as store:
        rows = store.connection.execute("select trace_id from pending_traces").fetchall()
    return {int(trace, 16) for (trace,) in rows}


def test_a_trace_counts_until_it_is_derived(
    quiet: Collector, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old trace gets a span all the time, and new ones come as fast as all are derived: two always wait."""
    monkeypatch.setattr(loader, "DERIVE_WINDOW_S", 0.0)
    monkeypatch.setattr(loader, "DERIVE_SPANS", 2)
    numbers = count(1)
    new = count(100)
    waiting: dict[int, int] = {}
    lags, truth = [], []
    for step in range(8):
        clock[0] = step * STEP_S
        arriving = [1, *(next(new) for _ in range(3 if step == 0 else 1))]
        for trace in arriving:
            spool(quiet, clock[0], (trace, next(numbers), 1 if trace == 1 else trace * 1000))
            waiting.setdefault(trace, clock[0])
        clock[0] += 7
        assert quiet._loader._try(load=True, derive=True) is None
        truth.append(max(clock[0] - received for received in waiting.values()))
        lags.append(quiet.status()["lag_s"])
        left = not_shown(quiet)
        assert len(left) == 2
        waiting = {trace: received for trace, received in waiting.items() if trace in left}

    assert truth == lags
    # Whether the old trace, which fills a round by itself, came before the new one that was received with it.
    assert [7, 107, 107, 207, 107, 207, 107, 207] == lags
    assert quiet.status()["lag_s_max"] == 207


def test_a_record_is_no_older_than_it_is(quiet: Collector) -> None:
    """With the real clock: what came a moment ago was not there for longer than the test has run."""
    started = time.monotonic()
    spool(quiet, time.time_ns() // S, (1, 1, 1))
    assert quiet._loader._try(load=True, derive=True) is None

    assert 0 < quiet.status()["lag_s"] < time.monotonic() - started + 1


def tables(*, spans: int = 0, logs: tuple[bytes | None, ...] = ()) -> RawTables:
    return RawTables(
        spans=pa.Table.from_pylist([{"trace_id": bytes(16)}] * spans, schema=SPANS),
        log_records=pa.Table.from_pylist([{"trace_id": one} for one in logs], schema=LOG_RECORDS),
    )


def test_nothing_is_said_of_nothing(clock: list[int]) -> None:
    measured = Lag()
    clock[0] = 50
    measured.begin_window(None)
    measured.arrive(1 * S, tables(logs=(None,)))
    measured.end_window()

    assert (measured.last_s, measured.longest_s) == (None, None)


@pytest.mark.parametrize("brought", [{"spans": 1}, {"logs": (None, bytes(16))}])
def test_a_load_that_is_tried_again_counts_once_and_from_its_receipt(clock: list[int], brought: dict[str, Any]) -> None:
    measured = Lag()
    for _ in range(3):  # the end of the window is never reached
        measured.begin_window(None)
        measured.arrive(5 * S, tables(**brought))
    clock[0] = 60
    measured.end_window()
    clock[0] = 100
    measured.begin_window(None)
    measured.end_window()

    assert measured.last_s == 55


def test_a_window_without_deriving_leaves_all_waiting(quiet: Collector, clock: list[int]) -> None:
    found = []
    for at, received, derive in ((10, 5, False), (20, 18, False), (30, 29, True), (40, 38, True)):
        clock[0] = at
        spool(quiet, received, (at, at, at))
        assert quiet._loader._try(load=True, derive=derive) is None
        found.append(quiet.status()["lag_s"])

    assert [5, 15, 25, 2] == found
    assert quiet.status()["lag_s_max"] == 25


def test_what_an_earlier_process_left_waiting_counts_from_its_receipt(tmp_path: Path, clock: list[int]) -> None:
    clock[0] = 60
    with Collector(tmp_path / "store", grpc=None) as first:
        first._loader.stop()
        spool(first, 5, (1, 1, 1))
        first._loader._window(load=True, derive=False)
        # As if it had been killed: nothing is derived on the way out.
        first._loader.drain = lambda timeout_s: None  # type: ignore[method-assign]
    with Collector(tmp_path / "store", grpc=None) as second:
        second.drain()

        assert not_shown(second) == set()
        assert second.status()["lag_s_max"] == 55
