"""Every acknowledged span is in the store exactly once, whenever the collector is killed; a control shows loss."""

import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanscore.collector import Collector, read_status
from spanscore.collector.records import HEADER_BYTES
from spanscore.collector.spool import segment_paths
from spanscore.store import read_session

SERVER = Path(__file__).with_name("ack_server.py")
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS_PER_REQUEST = 20


@dataclass
class Server:
    """A collector process that can be killed and started again on the same ports."""

    store: Path
    policy: str
    grpc: str = "127.0.0.1:0"
    http: str = "127.0.0.1:0"
    kills: int = 0

    def start(self) -> None:
        command = [sys.executable, str(SERVER), str(self.store), self.policy, self.grpc, self.http]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        addresses = json.loads(line)
        self.grpc, self.http = addresses["grpc"], addresses["http"]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        self.kills += 1

    def stop(self) -> tuple[int, str]:
        """Exit code and what it printed to stderr."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@dataclass
class Sender:
    """A client that sends numbered spans, tries again what was not acknowledged, and remembers what was."""

    server: Server
    number: int
    make: Callable[..., Any]
    acked: set[int] = field(default_factory=set)
    resent: int = 0

    def run(self, stop: threading.Event) -> None:
        rng = random.Random(self.number)
        first = self.number * 10_000_000
        while not stop.is_set():
            numbers = range(first, first + SPANS_PER_REQUEST)
            payload = self.make(*numbers, attributes=10).SerializeToString()
            while not stop.is_set():
                if self._send(payload):
                    self.acked.update(numbers)
                    break
                self.resent += 1
                time.sleep(0.05)
            if rng.random() < 0.05 and self._send(payload):
                self.resent += 1
            first += SPANS_PER_REQUEST

    def _send(self, payload: bytes) -> bool:
        try:
            return self._over_grpc(payload) if self.number % 2 else self._over_http(payload)
        except (OSError, grpc.RpcError, http.client.HTTPException):
            return False

    def _over_http(self, payload: bytes) -> bool:
        connection = http.client.HTTPConnection(self.server.http, timeout=10)
        try:
            connection.request("POST", "/v1/traces", payload, {"Content-Type": "application/x-protobuf"})
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def _over_grpc(self, payload: bytes) -> bool:
        with grpc.insecure_channel(self.server.grpc) as channel:
            channel.unary_unary(TRACE_EXPORT)(payload, timeout=10)
        return True


@dataclass(frozen=True)
class Outcome:
    """What became of the acknowledged spans."""

    kills: int
    acked: int
    resent: int
    stored: int
    lost: int
    doubled: int


def kill_again_and_again(
    store: Path, policy: str, make: Callable[..., Any], *, kills: int, seconds: float, seed: int
) -> Outcome:
    """Four clients send while the collector is killed at random moments, a torn record is sometimes left behind, and it
    is started again; in the end it is stopped in good order and the store is compared with what was acknowledged."""
    rng = random.Random(seed)
    server = Server(store, policy)
    server.start()
    senders = [Sender(server, number, make) for number in range(1, 5)]
    stop = threading.Event()
    threads = [threading.Thread(target=sender.run, args=(stop,)) for sender in senders]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(rng.uniform(0.3, 1.7) * seconds / kills)
        server.kill()
        if rng.random() < 0.3:
            with segment_paths(store / "spool")[-1].open("ab") as newest:
                newest.write(rng.randbytes(rng.randrange(1, 200)))
        server.start()
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    code, errors = server.stop()
    assert code == 0, errors
    return compare(store, senders, server.kills)


def compare(store: Path, senders: list[Sender], kills: int) -> Outcome:
    with read_session(store) as session:
        rows = session.rows("select attributes['number']::bigint, count(*) from spans group by 1")
    found = Counter(dict(rows))
    acked = set().union(*(sender.acked for sender in senders))
    return Outcome(
        kills=kills,
        acked=len(acked),
        resent=sum(sender.resent for sender in senders),
        stored=found.total(),
        lost=len(acked - found.keys()),
        doubled=sum(n - 1 for n in found.values()),
    )


def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path: Path, traces: Callable[..., Any]) -> None:
    outcome = kill_again_and_again(tmp_path / "store", "ack-after-sync", traces, kills=4, seconds=6, seed=1)

    assert (outcome.kills, outcome.lost, outcome.doubled) == (4, 0, 0)
    assert outcome.acked > 1000
    assert outcome.resent > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_kill_9_many_times(tmp_path: Path, traces: Callable[..., Any], seed: int) -> None:
    outcome = kill_again_and_again(tmp_path / "store", "ack-after-sync", traces, kills=25, seconds=60, seed=seed)

    assert (outcome.kills, outcome.lost, outcome.doubled) == (25, 0, 0)


def test_the_check_sees_the_loss_of_acknowledging_before_writing(tmp_path: Path, traces: Callable[..., Any]) -> None:
    """The same check on a spool that acknowledges from memory. (Kill -9 keeps the page cache, so no less will do.)"""
    outcome = kill_again_and_again(tmp_path / "store", "ack-before-write", traces, kills=2, seconds=3, seed=2)

    assert outcome.lost > 0


@contextmanager
def running(store: Path) -> Iterator[Server]:
    server = Server(store, "ack-after-sync")
    server.start()
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_stores_everything_and_exits_with_0(
    tmp_path: Path, traces: Callable[..., Any], number: signal.Signals
) -> None:
    """Under load, and with nothing loaded before: what is acknowledged until the end is in the store."""
    with running(tmp_path / "store") as server:
        senders = [Sender(server, n, traces) for n in range(1, 5)]
        stop = threading.Event()
        threads = [threading.Thread(target=sender.run, args=(stop,)) for sender in senders]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.process.send_signal(number)
        _, errors = server.process.communicate(timeout=60)
        stop.set()
        for thread in threads:
            thread.join()
    outcome = compare(tmp_path / "store", senders, 0)
    status = read_status(tmp_path / "store")

    assert (server.process.returncode, errors) == (0, "")
    assert outcome.acked > 0
    assert (outcome.lost, outcome.doubled) == (0, 0)
    assert status is not None
    assert (status["is_running"], status["waiting_bytes"]) == (False, 0)


def test_a_request_half_sent_at_sigterm_is_answered(tmp_path: Path, traces: Callable[..., Any]) -> None:
    with running(tmp_path / "store") as server:
        payload = traces(1).SerializeToString()
        connection = http.client.HTTPConnection(server.http, timeout=20)
        connection.putrequest("POST", "/v1/traces")
        connection.putheader("Content-Type", "application/x-protobuf")
        connection.putheader("Content-Length", str(len(payload)))
        connection.endheaders(payload[:10])
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        connection.send(payload[10:])
        status = connection.getresponse().status
        _, errors = server.process.communicate(timeout=60)
    with read_session(tmp_path / "store") as session:
        (count,) = session.rows("select count(*) from spans")

    assert (status, count, server.process.returncode, errors) == (200, (1,), 0, "")


def test_what_a_killed_collector_left_is_loaded_at_the_next_start(
    tmp_path: Path, traces: Callable[..., Any], stored: Callable[..., list[tuple[Any, ...]]]
) -> None:
    store = tmp_path / "store"
    with running(store) as server:
        sender = Sender(server, 1, traces)
        for n in range(5):
            assert sender._send(traces(n).SerializeToString())
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
