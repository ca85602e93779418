"""From spool to store: exactly once whatever fails, nothing deleted too early, nothing stuck for ever."""

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spanscore.collector import Collector, CollectorLimits, loader
from spanscore.collector.decoding import DECODERS, merge
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.slices import decode_records, read_slices
from spanscore.collector.spool import Spool, segment_paths
from spanscore.errors import DrainTimeout
from spanscore.otlp import RawTables
from spanscore.store import Store, read_session
from spanscore.store.directory import sync_directory

Stored = Callable[..., list[tuple[Any, ...]]]
NUMBERS = "select attributes['number']::bigint from spans order by 1"
HOLD_STORE = """
import sys, pathlib
from spanscore.store import Store, read_session
with Store.open(pathlib.Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""


def send(collector: Collector, payload: bytes, signal: Signal = Signal.TRACES) -> None:
    """Straight into the spool, as a receiver does."""
    collector._spool.append(SpoolRecord(signal, Encoding.PROTOBUF, time.time_ns(), payload))


def numbers(collector: Collector, stored: Stored) -> list[int]:
    return [number for (number,) in stored(collector, NUMBERS)]


@pytest.fixture
def quiet(tmp_path: Path) -> Any:
    """A collector that loads only when it is drained."""
    limits = CollectorLimits(load_interval_s=3600.0)
    with Collector(tmp_path / "store", limits=limits) as opened:
        opened.drain()
        yield opened


def test_a_locked_store_is_waited_for(tmp_path: Path, traces: Callable[..., Any], stored: Stored) -> None:
    """Spans are acknowledged while another process holds the store, from the very start, and loaded afterwards."""
    store = tmp_path / "store"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_STORE, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    with Collector(store) as collector:
        send(collector, traces(1).SerializeToString())
        with pytest.raises(DrainTimeout, match=rf"held by process {holder.pid}"):
            collector.drain(0.1)
        status = collector.status()
        holder.communicate("")

        assert str(holder.pid) in status["last_error"]
        assert collector._loader.waiting_bytes() > 0
        assert numbers(collector, stored) == [1]


def test_a_drain_ends_in_time_where_all_was_derived_before_the_store_was_locked(
    quiet: Collector, traces: Callable[..., Any]
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_STORE, str(quiet.config.store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    send(quiet, traces(1).SerializeToString())
    with pytest.raises(DrainTimeout, match=rf"held by process {holder.pid}"):
        quiet.drain(0.1)
    holder.communicate("")


def test_a_drain_ends_where_the_segments_it_waits_for_are_retired_before_all_is_derived(
    tmp_path: Path, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their manifest rows are dropped while traces still wait, as those of a backlog that takes many windows."""
    real, putting_off = Store.derive, [1] * 4

    def derive(store: Store, **options: Any) -> int:
        if putting_off:
            putting_off.pop()
            return 0
        return real(store, **options)

    def small_segments(directory: Path) -> Spool:
        return Spool(directory, segment_bytes=1)

    limits = CollectorLimits(load_interval_s=3600.0, keep_s=0.0, keep_bytes=0)
    with Collector(tmp_path / "store", limits=limits, open_spool=small_segments) as collector:
        collector.drain()
        monkeypatch.setattr(Store, "derive", derive)
        send(collector, traces(1).SerializeToString())

        assert numbers(collector, stored) == [1]
        assert stored(collector, "select count(*) from pending_traces") == [(0,)]


def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Collector(tmp_path / "store") as collector:
        collector.drain()

    found = [tmp_path / "store", *(tmp_path / "store").rglob("*")]
    assert len(found) > 3
    assert [path for path in found if path.stat().st_mode & 0o077] == []


def test_a_segment_that_is_begun_while_a_window_opens_is_left_to_the_next(
    tmp_path: Path, traces: Callable[..., Any]
) -> None:
    """Half a record of it may be on disk: taken for a torn tail, the whole record would never be loaded."""
    with Spool(tmp_path / "spool") as spool:
        before = spool.synced()
        spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 1, traces(1).SerializeToString()))
        (path,) = segment_paths(tmp_path / "spool")
        with path.open("ab") as file:
            file.write(path.read_bytes()[:-20])  # of the next record, all but its end
        seen = list(read_slices(spool.directory, loaded={}, synced=before, own_from=spool.own_from))
        (later,) = read_slices(spool.directory, loaded={}, synced=spool.synced(), own_from=spool.own_from)
    (next_start,) = read_slices(tmp_path / "spool", loaded={}, synced={})

    assert seen == []
    assert (len(later.records), later.gaps) == (1, [])
    assert (len(next_start.records), [gap.is_torn_tail for gap in next_start.gaps]) == (1, [True])


def test_readers_have_the_store_for_as_long_as_the_loader_had_it(
    tmp_path: Path, traces: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However fast spans come in, and however long a window takes."""
    windows: list[tuple[float, float]] = []
    checkpoint = Store.checkpoint

    def slow(store: Store) -> None:
        began = time.monotonic()
        time.sleep(0.3)
        checkpoint(store)
        windows.append((began, time.monotonic()))

    monkeypatch.setattr(Store, "checkpoint", slow)
    limits = CollectorLimits(load_interval_s=0.01, load_spans=1, derive_interval_s=0.01)
    with Collector(tmp_path / "store", grpc=None, http="127.0.0.1:0", limits=limits) as collector:
        for number in range(600):
            if len(windows) == 3:
                break
            send(collector, traces(number).SerializeToString())
            collector._loader.notify(1, 0)
            time.sleep(0.1)
        seen = windows[:3]

    assert len(seen) == 3
    for (began, ended), (next_began, _) in itertools.pairwise(seen):
        assert next_began - ended >= 0.9 * (ended - began)


@pytest.mark.parametrize("is_stored", [True, False])
def test_an_error_from_a_commit_proves_nothing(
    quiet: Collector, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch, is_stored: bool
) -> None:
    """DuckDB may fail after the commit became durable: the manifest of the reopened store decides."""
    real, failures = Store.load, [1]

    def load(store: Store, tables: RawTables, **kwargs: Any) -> Any:
        if not failures:
            return real(store, tables, **kwargs)
        failures.pop()
        if is_stored:
            real(store, tables, **kwargs)
        raise OSError("the autocheckpoint failed")

    send(quiet, traces(1, 2).SerializeToString())
    monkeypatch.setattr(Store, "load", load)

    assert numbers(quiet, stored) == [1, 2]
    assert failures == []
    assert "the autocheckpoint failed" in quiet.status()["last_error"]
    assert stored(quiet, "select outcome, n from ingest_accounting order by 1") == [("received", 2), ("stored", 2)]


def test_a_record_that_cannot_be_decoded_any_more_stops_nothing(
    quiet: Collector, traces: Callable[..., Any], stored: Stored
) -> None:
    for payload in (traces(1).SerializeToString(), b"\xff\xff", traces(2).SerializeToString()):
        send(quiet, payload)

    assert numbers(quiet, stored) == [1, 2]
    (damage,) = quiet.status()["damage"]
    assert "malformed_protobuf" in damage["reason"]
    assert Path(damage["copy"]).read_bytes() == b"\xff\xff"


def test_a_record_that_the_store_refuses_is_set_aside_in_the_end(
    quiet: Collector, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DataError(Exception):
        """Named as a database names errors about rows."""

    real = Store.load

    def load(store: Store, tables: RawTables, **kwargs: Any) -> Any:
        if "poison" in tables.spans.column("name").to_pylist():
            raise DataError("no such value")
        return real(store, tables, **kwargs)

    monkeypatch.setattr(Store, "load", load)
    monkeypatch.setattr(loader, "PAUSE_S", 0.01)
    poison = traces(2, name="poison").SerializeToString()
    for payload in (traces(1).SerializeToString(), poison, traces(3).SerializeToString()):
        send(quiet, payload)

    assert numbers(quiet, stored) == [1, 3]
    (damage,) = quiet.status()["damage"]
    assert Path(damage["copy"]).read_bytes() == poison


def test_a_full_disk_sets_nothing_aside(
    quiet: Collector, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = Store.load, [1] * 10

    def load(store: Store, tables: RawTables, **kwargs: Any) -> Any:
        if failures:
            failures.pop()
            raise OSError("no space left on device")
        return real(store, tables, **kwargs)

    monkeypatch.setattr(Store, "load", load)
    monkeypatch.setattr(loader, "PAUSE_S", 0.01)
    send(quiet, traces(1).SerializeToString())

    assert numbers(quiet, stored) == [1]
    assert failures == []
    assert quiet.status()["damage"] == []


def test_trajectories_that_cannot_be_derived_do_not_stop_the_loading(
    quiet: Collector, traces: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, stored: Stored
) -> None:
    def fail(store: Store, **options: object) -> None:
        raise ValueError("no derivation")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "derive", fail)
        send(quiet, traces(1).SerializeToString())
        with pytest.raises(DrainTimeout, match="no derivation"):
            quiet.drain(0.1)
        waiting = quiet._loader.waiting_bytes()

    assert waiting == 0
    assert numbers(quiet, stored) == [1]


def segments(collector: Collector) -> list[str]:
    return [path.name for path in segment_paths(collector.config.store / "spool")]


def test_segments_go_only_after_a_checkpoint_that_covers_them(
    tmp_path: Path, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = CollectorLimits(load_interval_s=3600.0, keep_bytes=0)

    def fail(store: Store) -> None:
        raise OSError("no space left on device")

    def small_segments(directory: Path) -> Spool:
        return Spool(directory, segment_bytes=1)

    with Collector(tmp_path / "store", limits=limits, open_spool=small_segments) as collector:
        collector.drain()
        with monkeypatch.context() as patched:
            patched.setattr(Store, "checkpoint", fail)
            for number in range(3):
                send(collector, traces(number).SerializeToString())
            with pytest.raises(DrainTimeout):
                collector.drain(0.1)
            before = segments(collector)
        collector.drain()
        kept = segments(collector)
        send(collector, traces(3).SerializeToString())
        found = numbers(collector, stored)
        manifest = stored(collector, "select distinct segment from spool_manifest")

    assert len(before) == 3
    assert kept == []
    assert found == [0, 1, 2, 3]
    assert len(manifest) == 1


def test_loaded_segments_are_kept_for_a_while(tmp_path: Path, traces: Callable[..., Any]) -> None:
    for number in range(3):
        with Collector(tmp_path / "store") as collector:
            send(collector, traces(number).SerializeToString())
    before = segments(collector)
    with Collector(tmp_path / "store", limits=CollectorLimits(keep_s=0.0)) as collector:
        send(collector, traces(3).SerializeToString())
        collector.drain()
        after = segments(collector)

    assert len(before) == 3
    assert after == list(collector._spool.synced())


def test_a_segment_that_has_just_begun_is_never_deleted(
    tmp_path: Path, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is there and empty, and the spool has not come back with it: looked at in exactly that moment."""
    limits = CollectorLimits(load_interval_s=3600.0, keep_s=0.0, keep_bytes=0)
    looked_at = []

    def small_segments(directory: Path) -> Spool:
        return Spool(directory, segment_bytes=1)

    with Collector(tmp_path / "store", limits=limits, open_spool=small_segments) as collector:
        collector.drain()

        def retire_meanwhile(directory: Path) -> None:
            collector._loader._retire()
            looked_at.append(segments(collector))
            sync_directory(directory)

        monkeypatch.setattr("spanscore.collector.spool.sync_directory", retire_meanwhile)
        for number in range(3):
            send(collector, traces(number).SerializeToString())
        found = numbers(collector, stored)

    assert [len(names) for names in looked_at] == [1, 2, 3]
    assert found == [0, 1, 2]


def test_no_record_is_lost_when_segments_are_deleted_all_the_time(
    tmp_path: Path, traces: Callable[..., Any], stored: Stored
) -> None:
    """Every segment is full after three records, and looked at again and again while others are begun."""
    limits = CollectorLimits(load_interval_s=3600.0, keep_s=0.0, keep_bytes=0)
    looks = itertools.count()

    def small_segments(directory: Path) -> Spool:
        return Spool(directory, segment_bytes=300)

    with Collector(tmp_path / "store", limits=limits, open_spool=small_segments) as collector:
        collector.drain()
        done = threading.Event()

        def retire() -> None:
            while not done.is_set():
                collector._loader._retire()
                next(looks)

        retiring = threading.Thread(target=retire)
        retiring.start()
        try:
            for number in range(150):
                send(collector, traces(number).SerializeToString())
        finally:
            done.set()
            retiring.join()
        found = numbers(collector, stored)

    assert found == list(range(150))
    assert next(looks) > 20


def test_nothing_is_loaded_twice_at_a_restart(tmp_path: Path, traces: Callable[..., Any], stored: Stored) -> None:
    """The manifest says what is loaded; it is not left to the removal of duplicates."""
    for number in range(3):
        with Collector(tmp_path / "store") as collector:
            send(collector, traces(number).SerializeToString())
            rows = stored(collector, "select outcome, sum(n)::bigint from ingest_accounting group by 1 order by 1")

    assert rows == [("received", 3), ("stored", 3)]


def test_a_large_backlog_is_loaded_in_several_windows(
    tmp_path: Path, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "WINDOW_S", 0.0)
    monkeypatch.setattr("spanscore.collector.slices.SLICE_BYTES", 1)
    (tmp_path / "store").mkdir()
    with Spool(tmp_path / "store" / "spool") as spool:
        for number in range(4):
            payload = traces(number).SerializeToString()
            spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, time.time_ns(), payload))
    with Collector(tmp_path / "store") as collector:
        found = numbers(collector, stored)

    assert found == [0, 1, 2, 3]


@pytest.mark.parametrize(("overdue_s", "is_derived"), [(0.0, True), (3600.0, False)])
def test_a_backlog_without_end_does_not_keep_the_trajectory_from_growing(
    tmp_path: Path,
    traces: Callable[..., Any],
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
    overdue_s: float,
    is_derived: bool,
) -> None:
    monkeypatch.setattr(loader, "WINDOW_S", 0.0)
    monkeypatch.setattr(loader, "OVERDUE_S", overdue_s)
    monkeypatch.setattr("spanscore.collector.slices.SLICE_BYTES", 1)
    with Collector(tmp_path / "store", limits=CollectorLimits(load_interval_s=3600.0)) as quiet:
        quiet.drain()
        for number in range(3):
            send(quiet, traces(number).SerializeToString())
        assert quiet._loader._try(load=True, derive=True) is None
        with read_session(tmp_path / "store") as session:
            (seen,) = session.rows("select (select count(*) from spans), (select count(*) from pending_traces)")
        still_waits = quiet._loader.waiting_bytes() > 0
        found = numbers(quiet, stored)

    assert (still_waits, seen) == (True, (1, int(not is_derived)))
    assert found == [0, 1, 2]


def test_merged_tables_point_at_the_same_rows(traces: Callable[..., Any], logs: Callable[..., Any]) -> None:
    """Signals and encodings mixed in one slice: every span, event, link and record finds its own owner."""
    parts = []
    for number in range(3):
        request = traces(10 * number, 10 * number + 1)
        request.resource_spans[0].resource.attributes[0].value.string_value = f"service {number}"
        request.resource_spans[0].scope_spans[0].scope.name = f"scope {number}"
        for span in request.resource_spans[0].scope_spans[0].spans:
            span.events.add(name=f"event of {span.span_id.hex()}")
            span.links.add(trace_id=bytes([number + 1] * 16), span_id=span.span_id)
        parts.append(DECODERS[Signal.TRACES, Encoding.PROTOBUF]([request.SerializeToString()]))
        log_request = logs(f"log {number}")
        log_request.resource_logs[0].scope_logs[0].scope.name = f"log scope {number}"
        parts.append(DECODERS[Signal.LOGS, Encoding.PROTOBUF]([log_request.SerializeToString()]))
    merged = merge(parts)
    scopes = merged.scopes.column("name").to_pylist()
    span_ids = merged.spans.column("span_id").to_pylist()
    spans = zip(span_ids, merged.spans.column("scope_index").to_pylist(), strict=True)

    assert merged.resources.column("resource_index").to_pylist() == list(range(6))
    assert [(int.from_bytes(span_id) - 1, scopes[at]) for span_id, at in spans] == [
        (10 * number + n, f"scope {number}") for number in range(3) for n in range(2)
    ]
    assert [span_ids[at].hex() for at in merged.span_events.column("span_index").to_pylist()] == [
        name.removeprefix("event of ") for name in merged.span_events.column("name").to_pylist()
    ]
    assert [span_ids[at] for at in merged.span_links.column("span_index").to_pylist()] == (
        merged.span_links.column("linked_span_id").to_pylist()
    )
    assert [scopes[at] for at in merged.log_records.column("scope_index").to_pylist()] == [
        f"log scope {number}" for number in range(3)
    ]


def test_a_mixed_slice_becomes_one_set_of_tables(
    tmp_path: Path, traces: Callable[..., Any], logs: Callable[..., Any]
) -> None:
    json_span = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"'
        + b"ab" * 16
        + b'","spanId":"'
        + b"cd" * 8
        + b'"}]}]}]}'
    )
    sent = [
        (Signal.TRACES, Encoding.PROTOBUF, traces(1).SerializeToString()),
        (Signal.LOGS, Encoding.PROTOBUF, logs("a").SerializeToString()),
        (Signal.TRACES, Encoding.JSON, json_span),
        (Signal.TRACES, Encoding.PROTOBUF, traces(2).SerializeToString()),
        (Signal.TRACES, Encoding.JSON, b"{"),
    ]
    with Spool(tmp_path / "spool") as spool:
        for signal, encoding, payload in sent:
            spool.append(SpoolRecord(signal, encoding, 1, payload))
        (piece,) = read_slices(tmp_path / "spool", loaded={}, synced=spool.synced())
    tables, undecodable = decode_records(piece.records)

    assert (tables.spans.num_rows, tables.log_records.num_rows) == (3, 1)
    assert [item.record.payload for item in undecodable] == [b"{"]
    assert isinstance(tables.spans, pa.Table)


def test_a_window_that_ran_out_of_memory_gets_more_at_the_next_attempt(
    quiet: Collector, traces: Callable[..., Any], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OutOfMemoryError(Exception):
        """Named as DuckDB names it."""

    real_open, real_derive, limits = Store.open, Store.derive, []

    def opened(directory: Path, *, memory_limit: str | None = None, **kwargs: Any) -> Store:
        limits.append(memory_limit)
        return real_open(directory, memory_limit=memory_limit, **kwargs)

    def derive(store: Store, **options: Any) -> int:
        if limits[-1] is not None:
            raise OutOfMemoryError
        return real_derive(store, **options)

    monkeypatch.setattr(Store, "open", opened)
    monkeypatch.setattr(Store, "derive", derive)
    send(quiet, traces(1).SerializeToString())

    assert numbers(quiet, stored) == [1]
    # The loader's own thread may open a window of its own after the one that the test waits for.
    assert limits[:2] == [quiet.config.limits.store_memory, None]
    assert set(limits[1:]) == {None}
