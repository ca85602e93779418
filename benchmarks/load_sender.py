"""The sending half of `benchmarks.collect`, a process of its own: sends on a fixed schedule, whatever the answers.

    python -m benchmarks.load_sender GRPC HTTP --rate 2000 --seconds 20

Half of the clients send over gRPC, half over HTTP. The time to an acknowledgement counts from the moment a request was
due: a collector that stalls cannot slow its own clock down. Prints one JSON object.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.agent_spans import SPANS_PER_REQUEST, AgentSpans
from benchmarks.posting import Post, grpc_poster, http_poster

CLIENTS = 8
BURST_EVERY_S = 60.0


def schedule(rate: float, seconds: float, *, burst_rate: float, burst_s: float) -> Iterator[float]:
    """When requests are due, from the beginning [s]: at `rate`, and for `burst_s` of every minute at `burst_rate`."""
    at = 0.0
    while at < seconds:
        yield at
        # A burst comes in the middle of its minute.
        is_burst = burst_rate > 0 and abs(at % BURST_EVERY_S - BURST_EVERY_S / 2) < burst_s / 2
        at += SPANS_PER_REQUEST / (burst_rate if is_burst else rate)


def send(
    addresses: dict[str, str], *, rate: float, seconds: float, burst_rate: float = 0.0, burst_s: float = 0.0
) -> dict[str, Any]:
    """Sends, and tells what was acknowledged, and how long each acknowledgement took [ms]."""
    posts: list[Post] = []
    spans = [AgentSpans(series) for series in range(1, CLIENTS + 1)]
    for n in range(CLIENTS):
        transport = list(addresses)[n % len(addresses)]
        posts.append((grpc_poster if transport == "grpc" else http_poster)(addresses[transport]))
    mutex = threading.Lock()
    due = schedule(rate, seconds, burst_rate=burst_rate, burst_s=burst_s)
    began = time.monotonic() + 0.2
    acks: list[float] = []
    acked: dict[int, list[int]] = {series: [] for series in range(1, CLIENTS + 1)}
    problems: Counter[str] = Counter()

    def work(n: int) -> None:
        number = 0
        while True:
            with mutex:
                after = next(due, None)
            if after is None:
                return
            at = began + after
            payload = spans[n].request(number)
            time.sleep(max(0.0, at - time.monotonic()))
            problem = posts[n](payload)
            if problem is None:
                acks.append((time.monotonic() - at) * 1000)
                acked[n + 1].append(number)
            else:
                problems[problem] += 1
            number += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "spans": len(acks) * SPANS_PER_REQUEST,
        "seconds": time.monotonic() - began,
        "ack_ms": [round(ms, 2) for ms in acks],
        "acked": acked,
        "refused": problems.total(),
        "refusals": dict(problems),
    }


def main() -> None:
    """Sends and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grpc", metavar="GRPC", help="HOST:PORT or none")
    parser.add_argument("http", metavar="HTTP", help="HOST:PORT or none")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--burst-rate", type=float, default=0.0)
    parser.add_argument("--burst-s", type=float, default=0.0)
    options = vars(parser.parse_args())
    addresses = {name: options.pop(name) for name in ("grpc", "http")}
    answer = send({name: where for name, where in addresses.items() if where != "none"}, **options)
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
