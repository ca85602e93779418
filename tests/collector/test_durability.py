"""Every acknowledged span is in the store exactly once, whenever the collector is killed; a control shows loss."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.kill import SENDERS, Client, Server
from benchmarks.posting import grpc_poster
from benchmarks.reconcile import reconcile
from spanscore.collector import Collector, read_status
from spanscore.collector.loader import Loader
from spanscore.collector.records import HEADER_BYTES
from spanscore.collector.spool import segment_paths
from spanscore.store import read_session

ROOT = Path(__file__).parents[2]


def kill_again_and_again(**options: object) -> dict[str, Any]:
    """What `python -m benchmarks.kill` prints."""
    words = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "benchmarks.kill", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


@pytest.mark.slow
def test_kill_9_loses_nothing_and_doubles_nothing() -> None:
    outcome = kill_again_and_again(kills=3, seconds=6, seed=1)

    assert (outcome["kills"], outcome["lost"], outcome["doubled"], outcome["complaints"]) == (3, 0, 0, {})
    assert outcome["acked"] > 1000
    assert outcome["resent_requests"] > 0


@pytest.mark.slow
def test_kill_9_many_times() -> None:
    outcome = kill_again_and_again(kills=20, seconds=70, seed=2)

    assert (outcome["kills"], outcome["lost"], outcome["doubled"], outcome["complaints"]) == (20, 0, 0, {})


@pytest.mark.slow
def test_the_check_sees_the_loss_of_acknowledging_before_writing() -> None:
    assert kill_again_and_again(policy="ack-before-write", kills=2, seconds=4, seed=3)["lost"] > 0


@pytest.mark.slow
def test_the_check_sees_the_doubles_of_loading_without_looking() -> None:
    outcome = kill_again_and_again(policy="no-deduplication", kills=2, seconds=4, seed=4)

    assert outcome["doubled"] > 0
    assert outcome["lost"] == 0


@contextmanager
def running(store: Path) -> Iterator[Server]:
    server = Server(store)
    server.spawn()
    server.await_ready()
    try:
        yield server
    finally:
        server.close()


def stop_under_load(store: Path, number: signal.Signals, seconds: float) -> tuple[list[Client], float]:
    """Four clients, and how long the collector took from the signal to its end [s]."""
    with running(store) as server:
        clients = [Client(server, series, *how, 1000.0) for series, how in enumerate(SENDERS[:4], start=1)]
        stop = threading.Event()
        threads = [threading.Thread(target=client.run, args=(stop,)) for client in clients]
        for thread in threads:
            thread.start()
        while not all(client.acked for client in clients):
            time.sleep(0.01)
        time.sleep(seconds)
        asked = time.monotonic()
        code, errors = server.stop(number)
        took_s = time.monotonic() - asked
        stop.set()
        for thread in threads:
            thread.join()
    assert code == 0, errors
    assert "Traceback" not in errors
    return clients, took_s


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_stop_signal_stores_everything_and_exits_with_0(tmp_path: Path, number: signal.Signals) -> None:
    """Under load, and with nothing loaded before: what is acknowledged until the end is in the store."""
    clients, _ = stop_under_load(tmp_path / "store", number, 0.5)
    status = read_status(tmp_path / "store")
    balance = reconcile(tmp_path / "store", {client.series: client.acked for client in clients})

    assert balance.acked > 0
    assert (balance.lost, balance.doubled) == (0, 0)
    assert status is not None
    assert (status["is_running"], status["waiting_bytes"]) == (False, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 0.4, 1.0, 1.6, 2.3, 3.1, 5.0, 8.0])
def test_a_stop_takes_15_seconds_at_most_and_loses_nothing(tmp_path: Path, seconds: float) -> None:
    clients, took_s = stop_under_load(tmp_path / "store", signal.SIGTERM, seconds)
    with Collector(tmp_path / "store") as collector:
        collector.drain()
    balance = reconcile(tmp_path / "store", {client.series: client.acked for client in clients})

    assert (balance.lost, balance.doubled) == (0, 0)
    assert took_s <= 15


def test_a_request_half_sent_at_sigterm_is_answered(tmp_path: Path, traces: Callable[..., Any]) -> None:
    with running(tmp_path / "store") as server:
        payload = traces(1).SerializeToString()
        connection = http.client.HTTPConnection(server.addresses["http"], timeout=20)
        connection.putrequest("POST", "/v1/traces")
        connection.putheader("Content-Type", "application/x-protobuf")
        connection.putheader("Content-Length", str(len(payload)))
        connection.endheaders(payload[:10])
        time.sleep(0.3)
        os.kill(server.pid, signal.SIGTERM)
        time.sleep(0.5)
        connection.send(payload[10:])
        status = connection.getresponse().status
        code, errors = server.stop()
    with read_session(tmp_path / "store") as session:
        (count,) = session.rows("select count(*) from spans")

    assert (status, count, code, errors) == (200, (1,), 0, "")


def test_what_a_killed_collector_left_is_loaded_at_the_next_start(
    tmp_path: Path, traces: Callable[..., Any], stored: Callable[..., list[tuple[Any, ...]]]
) -> None:
    store = tmp_path / "store"
    with running(store) as server:
        post = grpc_poster(server.addresses["grpc"])
        for n in range(5):
            assert post(traces(n).SerializeToString()) is None
        server.kill()
    with Collector(store) as collector:
        assert stored(collector, "select count(*), count(distinct span_id) from spans") == [(5, 5)]


def fill(store: Path, make: Callable[..., Any], n: int = 3) -> Path:
    """A store whose spool holds n requests of one span that were never loaded; its segment."""
    from spanscore.collector.records import Encoding, Signal, SpoolRecord
    from spanscore.collector.spool import Spool

    store.mkdir()
    with Spool(store / "spool") as spool:
        for number in range(n):
            payload = make(number).SerializeToString()
            spool.append(SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, time.time_ns(), payload))
    (path,) = segment_paths(store / "spool")
    return path


def test_a_collector_says_from_its_start_what_waits(
    tmp_path: Path, traces: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(tmp_path / "store", traces)
    with monkeypatch.context() as patched:
        patched.setattr(Loader, "_run", lambda _: None)
        with Collector(tmp_path / "store", grpc=None):
            status = read_status(tmp_path / "store")

    assert status is not None
    assert status["waiting_bytes"] == path.stat().st_size


def numbers(collector: Collector, stored: Callable[..., list[tuple[Any, ...]]]) -> list[int]:
    return [row[0] for row in stored(collector, "select attributes['number']::bigint from spans order by 1")]


@pytest.mark.parametrize("tail", ["garbage", "half a record"])
def test_a_torn_tail_is_counted_and_what_stands_before_it_is_loaded(
    tmp_path: Path, traces: Callable[..., Any], stored: Callable[..., list[tuple[Any, ...]]], tail: str
) -> None:
    path = fill(tmp_path / "store", traces)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\x00\xff" * 50 if tail == "garbage" else whole[:-5])
    with Collector(tmp_path / "store") as collector:
        found = numbers(collector, stored)
        status = collector.status()

    assert found == ([0, 1, 2] if tail == "garbage" else [0, 1])
    assert (status["torn_tails"], status["damage"]) == (1, [])


def test_a_flipped_bit_is_reported_with_a_copy_and_the_rest_is_loaded(
    tmp_path: Path,
    traces: Callable[..., Any],
    stored: Callable[..., list[tuple[Any, ...]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = fill(tmp_path / "store", traces)
    content = bytearray(path.read_bytes())
    one = len(content) // 3
    content[one + HEADER_BYTES + 10] ^= 1
    path.write_bytes(content)
    with Collector(tmp_path / "store") as collector:
        found = numbers(collector, stored)
        (damage,) = collector.status()["damage"]
    with Collector(tmp_path / "store") as again:
        again.drain()
        damage_again = again.status()["damage"]

    assert found == [0, 2]
    assert (damage["segment"], damage["start"], damage["end"]) == (path.name, one, 2 * one)
    assert Path(damage["copy"]).read_bytes() == content[one : 2 * one]
    assert "checksum" in damage["reason"]
    assert "damaged" in caplog.text
    assert damage_again == []


def test_a_store_that_was_deleted_is_filled_again_from_the_spool(
    tmp_path: Path, traces: Callable[..., Any], stored: Callable[..., list[tuple[Any, ...]]]
) -> None:
    fill(tmp_path / "store", traces)
    with Collector(tmp_path / "store") as collector:
        assert numbers(collector, stored) == [0, 1, 2]
    for path in (tmp_path / "store").glob("spanscore.duckdb*"):
        path.unlink()
    with Collector(tmp_path / "store") as collector:
        assert numbers(collector, stored) == [0, 1, 2]
