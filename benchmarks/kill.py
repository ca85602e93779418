"""Kills a collector with SIGKILL again and again under load, and counts what it acknowledged and lost, or stored twice.

    python -m benchmarks.kill --kills 200 --seconds 780

Clients send numbered spans over gRPC and HTTP, in protobuf and JSON, until each request is acknowledged, and send one
in twenty again after that. The collector is killed at random moments, some of them while it starts; sometimes the end
of a record is torn off, or made up, in the newest segment of the spool. In the end the store is compared with what was
acknowledged. Prints one JSON object; the exit code is 1 when something was lost or doubled.
"""

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agent_spans import SPANS_PER_REQUEST, AgentSpans
from benchmarks.posting import Post, grpc_poster, http_poster
from benchmarks.reconcile import reconcile

ROOT = Path(__file__).parents[1]
POLICIES = ("ack-after-sync", "ack-before-write", "no-deduplication")
KILLS = 20
SECONDS = 60.0
RATE = 2500.0
SENDERS: tuple[tuple[str, bool], ...] = (("grpc", False), ("http", False), ("grpc", False), ("http", True)) * 2
RESENT_SHARE = 0.05
KILLED_AT_START_SHARE = 0.1
TORN_SHARE = 0.3
START_TIMEOUT_S = 120.0
TELL_EVERY_S = 30.0
STUCK_AFTER_S = 120.0


class Server:
    """A collector process that can be killed and started again on the same ports."""

    def __init__(self, store: Path, policy: str = POLICIES[0]) -> None:
        """Starts the process from which collectors are forked, and no collector yet."""
        self.store = store
        self.policy = policy
        self.addresses = {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0"}
        self.kills = 0
        self.complaints: Counter[str] = Counter()
        self.start_s: list[float] = []
        self.is_running = False
        self._errors = store.with_name(f"{store.name}.stderr")
        command = [sys.executable, "-m", "benchmarks.ack_server"]
        self._parent = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def spawn(self) -> None:
        """Starts a collector and does not wait for it."""
        where = [str(self.store), self.policy, self.addresses["grpc"], self.addresses["http"]]
        self.pid = self._ask(start=where, errors=str(self._errors))["pid"]
        self._spawned = time.monotonic()
        self.is_running = True

    def await_ready(self) -> None:
        """Returns once it listens."""
        readable, _, _ = select.select([self._parent.stdout], [], [], START_TIMEOUT_S)
        if not readable:
            raise RuntimeError(f"the collector did not start: {self._errors.read_text(encoding='utf-8')}")
        self.addresses = self._read()
        self.start_s.append(time.monotonic() - self._spawned)

    def kill(self) -> None:
        """Ends it as the kernel does when memory runs out."""
        self._end(signal.SIGKILL)
        self.kills += 1

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit code after a signal to stop, and what it printed to stderr."""
        return self._end(number)

    def close(self) -> None:
        """Kills a collector that still runs, and ends the process that it came from."""
        if self.is_running:
            self.kill()
        self._parent.communicate()

    def _end(self, number: signal.Signals) -> tuple[int, str]:
        os.kill(self.pid, number)
        answer = self._ask(wait=self.pid)
        if "code" not in answer:
            # It got to listen just before it was killed.
            self.addresses, answer = answer, self._read()
        self.is_running = False
        text = self._errors.read_text(encoding="utf-8")
        # What a kill leaves, and trajectories left to the next start, are expected; anything else is worth a look.
        expected = ("in the middle of a record", "still wait to be loaded", "Nothing is lost")
        self.complaints.update(line[:100] for line in text.splitlines() if not any(part in line for part in expected))
        return answer["code"], text

    def _ask(self, **order: object) -> dict[str, Any]:
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps(order).encode() + b"\n")
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        if not line:
            raise RuntimeError("the process that starts collectors has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass
class Client:
    """Sends one series of spans at a steady rate, tries again what was not acknowledged, and remembers what was."""

    server: Server
    series: int
    transport: str
    is_json: bool
    rate: float
    acked: set[int] = field(default_factory=set)
    resent: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Makes what is to be sent."""
        self._spans = AgentSpans(self.series, is_json=self.is_json)

    def run(self, stop: threading.Event) -> None:
        """Sends until told to stop."""
        rng = random.Random(self.series)
        post = self._poster()
        interval = SPANS_PER_REQUEST / self.rate
        due = time.monotonic()
        number = 0
        while not stop.is_set():
            payload = self._spans.request(number)
            while (problem := post(payload)) is not None and not stop.is_set():
                self.problems[problem] += 1
                self.resent += 1
                stop.wait(0.05)
            if problem is None:
                self.acked.add(number)
                if rng.random() < RESENT_SHARE:
                    self.resent += 1
                    post(payload)
            number += 1
            due = max(due + interval, time.monotonic() - 1.0)
            stop.wait(max(0.0, due - time.monotonic()))

    def _poster(self) -> Post:
        # A collector that is started again has the address of the one that was killed.
        address = self.server.addresses[self.transport]
        if self.transport == "grpc":
            return grpc_poster(address, timeout_s=10)
        return http_poster(address, timeout_s=10, is_json=self.is_json)


def run(
    store: Path,
    *,
    kills: int = KILLS,
    seconds: float = SECONDS,
    rate: float = RATE,
    policy: str = POLICIES[0],
    seed: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Kills `kills` times within about `seconds` [s] while `rate` spans a second are sent; what became of them."""
    server = Server(store, policy)
    try:
        return _run(server, random.Random(seed), kills=kills, seconds=seconds, rate=rate, seed=seed, progress=progress)
    finally:
        server.close()


def _run(
    server: Server,
    rng: random.Random,
    *,
    kills: int,
    seconds: float,
    rate: float,
    seed: int,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    store = server.store
    server.spawn()
    server.await_ready()
    share = rate / len(SENDERS)
    clients = [Client(server, 16 * seed + n, *how, share) for n, how in enumerate(SENDERS, start=1)]
    stop = threading.Event()
    threads = [threading.Thread(target=client.run, args=(stop,), daemon=True) for client in clients]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    next_kill = began
    for n in range(1, kills + 1):
        next_kill += rng.uniform(0.3, 1.7) * seconds / kills
        time.sleep(max(0.1, next_kill - time.monotonic()))
        server.kill()
        if rng.random() < TORN_SHARE:
            _tear(store, rng)
        server.spawn()
        if n < kills and rng.random() < KILLED_AT_START_SHARE:
            time.sleep(rng.uniform(0.0, 0.5))
        else:
            server.await_ready()
        if n % 10 == 0:
            acked = sum(len(client.acked) for client in clients) * SPANS_PER_REQUEST
            progress(f"{n} kills, {acked} spans acknowledged, {time.monotonic() - began:.0f} s")
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    lasted_s = time.monotonic() - began
    await_loaded(store, progress=progress)
    code, errors = server.stop()
    if code != 0:
        raise RuntimeError(f"the collector ended with exit code {code}: {errors}")
    return {
        "policy": server.policy,
        "kills": server.kills,
        **asdict(reconcile(store, {client.series: client.acked for client in clients})),
        "resent_requests": sum(client.resent for client in clients),
        "not_acknowledged": dict(sum((client.problems for client in clients), Counter())),
        "seconds": round(lasted_s, 1),
        "start_s_mean": round(sum(server.start_s) / len(server.start_s), 2),
        "complaints": dict(server.complaints),
    }


def _tear(store: Path, rng: random.Random) -> None:
    """Leaves behind what a kill in the middle of a write can: the beginning of a record, or nonsense, or zeros."""
    from spanscore.collector.spool import segment_paths

    paths = segment_paths(store / "spool")
    if not paths:
        return
    with paths[-1].open("r+b") as newest:
        head = newest.read(rng.randrange(1, 3000))
        newest.seek(0, 2)
        newest.write(rng.choice([head, rng.randbytes(rng.randrange(1, 200)), bytes(rng.randrange(1, 200))]))


def await_loaded(
    store: Path,
    *,
    progress: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Returns once the collector of the store has loaded everything, however long that takes while it goes on.

    Raises:
        RuntimeError: nothing has moved for `STUCK_AFTER_S`.
    """
    from spanscore.collector import read_status

    began = moved = told = clock()
    seen: tuple[object, ...] = ()
    while True:
        status = read_status(store)
        if status is None:
            facts, what = (), "the collector to write its status"
        elif not status["is_running"]:
            facts, what = (), f"a collector, for process {status['pid']} is none any more"
        elif status["waiting_bytes"] == 0:
            return
        else:
            facts = status["pid"], status["waiting_bytes"], status["stored_spans"]
            what = f"{status['waiting_bytes']} bytes of the spool to be loaded (last error: {status['last_error']})"
        now = clock()
        if facts != seen:
            seen, moved = facts, now
        if now - moved >= STUCK_AFTER_S:
            raise RuntimeError(f"nothing has moved for {STUCK_AFTER_S:g} s; waiting for {what}")
        if now - told >= TELL_EVERY_S:
            told = now
            progress(f"after {now - began:.0f} s, waiting for {what}")
        sleep(0.2)


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long the kills take in all")
    parser.add_argument("--rate", type=float, default=RATE, help="spans per second, of all clients together")
    parser.add_argument("--policy", choices=POLICIES, default=POLICIES[0], help="the others are controls")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def progress(line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory) / "store", progress=progress, **vars(options))
    sys.stdout.write(json.dumps(outcome) + "\n")
    return 1 if outcome["lost"] or outcome["doubled"] else 0


if __name__ == "__main__":
    sys.exit(main())
