"""What another thread or process does between two steps of the collector: each test does it at that very moment."""

from __future__ import annotations

import json
import ssl
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from certificates import Authority

from spanscore.collector import Collector, CollectorLimits, Security, read_status
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.slices import read_slices
from spanscore.collector.spool import Spool, segment_paths
from spanscore.collector.status import CollectorStatus
from spanscore.collector.tls import Certificates
from spanscore.store import Store, directory

TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
Traces = Callable[..., Any]


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Collector]:
    """A collector that loads only when it is told to."""
    with Collector(tmp_path / "store", http=None) as opened:
        opened._loader.stop()
        opened.drain()
        yield opened


def spool(collector: Collector, traces: Traces, *numbers: int) -> None:
    payload = traces(*numbers).SerializeToString()
    collector._spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, time.time_ns(), payload))


def test_two_threads_that_write_the_status_do_not_take_each_others_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = CollectorStatus(tmp_path)
    others = [threading.Thread(target=status.write, kwargs={"at_once": True}) for _ in range(2)]
    replace = Path.replace

    def with_another(self: Path, target: Path) -> Path:
        if others and threading.current_thread() is threading.main_thread():
            others[0].start()
            # Where it has to wait for this one, it is still waiting then.
            others.pop(0).join(0.5)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", with_another)
    second = others[0]
    status.write(at_once=True)
    second.join()
    found = read_status(tmp_path)

    assert found is not None
    assert status.document()["last_error"] is None
    assert stat.S_IMODE((tmp_path / "collector.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["collector.json"]


def test_a_load_between_the_two_questions_of_a_drain_is_derived_too(
    quiet: Collector, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is everything derived? Yes. (Another thread loads.) Is everything loaded? Yes."""
    spool(quiet, traces, 1)
    left = quiet._loader._left
    loads = [1]

    def with_a_load(target: dict[str, int]) -> int:
        if loads:
            loads.clear()
            assert quiet._loader._try(load=True, derive=False) is None
        return left(target)

    monkeypatch.setattr(quiet._loader, "_left", with_a_load)
    quiet.drain()
    with Store.open(quiet.config.store) as store:
        assert store.pending_traces() == 0


def test_spans_that_could_not_be_loaded_still_count_as_waiting(
    quiet: Collector, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool(quiet, traces, 1, 2)
    quiet._loader.notify(2, 100)

    def fail(*_: object, **__: object) -> None:
        quiet._loader.notify(3, 100)
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "load", fail)
        assert isinstance(quiet._loader._try(load=True, derive=False), OSError)
    assert quiet._loader._waiting_items == 5
    assert quiet._loader._try(load=True, derive=False) is None

    assert quiet._loader._waiting_items == 0


def test_a_segment_that_a_collector_deletes_meanwhile_has_nothing_left_to_load(tmp_path: Path, traces: Traces) -> None:
    with Spool(tmp_path, segment_bytes=1) as spooled:
        for number in range(3):
            payload = traces(number).SerializeToString()
            spooled.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 1, payload))
    slices = read_slices(tmp_path, loaded={}, synced={})
    first = next(slices)
    paths = segment_paths(tmp_path)
    paths[1].unlink()

    assert [first.segment, *(piece.segment for piece in slices)] == [paths[0].name, paths[2].name]


def test_what_is_known_of_segments_goes_with_them(tmp_path: Path, traces: Traces) -> None:
    """Else it would grow for as long as the collector runs, and what the manifest no longer names would wait again."""
    limits = CollectorLimits(keep_s=0.0, keep_bytes=0)
    with Collector(
        tmp_path / "store", grpc=None, limits=limits, open_spool=lambda path: Spool(path, segment_bytes=1)
    ) as opened:
        opened._loader.stop()
        for number in range(3):
            spool(opened, traces, number)
        listed = segment_paths(tmp_path / "store" / "spool")
        assert opened._loader._try(load=True, derive=True) is None
        assert (opened._spool.synced(), opened._spool.sealed()) == ({}, {})
        assert opened._loader._try(load=True, derive=True) is None
        opened._loader._loaded = {}
        # Another thread has listed the folder before.
        for path in listed:
            path.touch()

        assert opened._loader.waiting_bytes() == 0


def test_what_a_spool_keeps_is_measured_without_the_segment_that_is_deleted_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    for name in ("1.spool", "2.spool"):
        (folder / name).write_bytes(b"12345")

    def listed() -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            path.with_name("1.spool").unlink(missing_ok=True)
            yield path

    assert directory.sizes_of(listed()) == [5]
    assert directory.spool_bytes(tmp_path) == 5


def test_a_certificate_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gRPC gets the bytes that OpenSSL has found to belong together, or those from before."""
    authority = Authority(tmp_path)
    own = authority.issue("server")
    certificates = Certificates(Security(tls_cert=own.cert, tls_key=own.key))
    before = certificates._pem
    authority.issue("server", to=own)
    load = ssl.SSLContext.load_cert_chain
    renewals = [own]

    def and_renewed(self: ssl.SSLContext, *arguments: Any, **options: Any) -> None:
        load(self, *arguments, **options)
        if renewals:
            authority.issue("server", to=renewals.pop())

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", and_renewed)
    certificates._next_look = 0.0
    context = certificates._newest()
    assert certificates._pem == before
    certificates._next_look = 0.0

    assert certificates._newest() is not context
    assert certificates._pem == (own.cert.read_bytes(), own.key.read_bytes(), None)


def test_a_request_whose_client_gives_up_counts_until_it_is_done(
    quiet: Collector, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that sends and hangs up, again and again, fills the memory no further than one that waits."""
    is_there, may_go_on = threading.Event(), threading.Event()
    accept = quiet._spool.append

    def slow(record: SpoolRecord) -> None:
        is_there.set()
        assert may_go_on.wait(20)
        accept(record)

    monkeypatch.setattr(quiet._spool, "append", slow)
    payload = traces(*range(50)).SerializeToString()
    admission = quiet._admission
    with grpc.insecure_channel(quiet.grpc_address) as channel:
        call = channel.unary_unary(TRACE_EXPORT).future(payload, timeout=20)
        assert is_there.wait(10)
        held = admission._in_flight
        call.cancel()
        time.sleep(1.0)
        held_then = admission._in_flight
        may_go_on.set()
        deadline = time.monotonic() + 10
        while admission._in_flight and time.monotonic() < deadline:
            time.sleep(0.02)

    assert held == held_then == len(payload)
    assert admission._in_flight == 0


def test_a_benchmark_that_waits_says_for_what_and_ends_when_nothing_moves(tmp_path: Path) -> None:
    from benchmarks.kill import await_loaded

    status = CollectorStatus(tmp_path)
    status.set(is_accepting=True, waiting_bytes=1000)
    status.write(at_once=True)
    at, said = [0.0], list[str]()

    def sleep(seconds: float) -> None:
        at[0] += seconds
        document = json.loads((tmp_path / "collector.json").read_text())
        if at[0] < 250 and round(at[0] * 5) % 500 == 0:
            status.set(waiting_bytes=document["waiting_bytes"] - 100)
            status.write(at_once=True)

    with pytest.raises(RuntimeError, match="nothing has moved for 120 s; waiting for 800 bytes"):
        await_loaded(tmp_path, progress=said.append, clock=lambda: at[0], sleep=sleep)
    assert 319 < at[0] < 321
    assert said[0] == "after 30 s, waiting for 1000 bytes of the spool to be loaded (last error: None)"
    assert len(said) == 10
    status.set(waiting_bytes=0)
    status.write(at_once=True)
    await_loaded(tmp_path, progress=said.append, clock=lambda: at[0], sleep=sleep)
