"""How fast the collector acknowledges, how soon spans can be queried, and how much memory it takes, at a given rate.

    python -m benchmarks.collect --rate 2000 --seconds 1800 --score-every 60

A process of its own sends over gRPC and HTTP, a reader asks for the newest run every second, and on demand the runs are
scored every so often. Prints one JSON object; the exit code is 1 when an acknowledged span is missing or doubled.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.reconcile import reconcile
from benchmarks.watching import Watch

RATE = 2000.0
SECONDS = 20.0
STOP_TIMEOUT_S = 120.0
SERVE = """
import json, pathlib, sys
from spanscore.collector import CollectorConfig, serve
store, grpc, http = sys.argv[1:]
where = {name: "127.0.0.1:0" if switch == "on" else None for name, switch in (("grpc", grpc), ("http", http))}
config = CollectorConfig(store=pathlib.Path(store), **where)
serve(config, on_ready=lambda c: print(json.dumps([c.grpc_address, c.http_address]), flush=True))
"""


@dataclass(frozen=True, slots=True)
class CollectResult:
    """One run. Percentiles are by nearest rank.

    Attributes:
        rate_spans_per_s: acknowledged spans over the time from the first request to the last acknowledgement [spans/s].
        ack_p50_ms, ack_p99_ms, ack_max_ms: from when a request was due to its acknowledgement [ms].
        lag_p50_s, lag_max_s: age of the newest run that the reader found [s].
        collector_lag_max_s: longest time from receipt to the trajectory, by the collector's own account [s].
        store_held_s_max: longest time the collector kept the store from others [s].
        rss_mb_max: largest resident memory of the collector [MB].
        rss_mb_per_min: slope of the resident memory after the first third of the time [MB/min]; None when too short.
        cpu_s: processor time of the collector [s].
        acked, stored, lost, doubled: see `Balance` [spans].
        refused: requests that were not acknowledged, and the refusals by kind [count].
        reads, read_failures, read_p99_s: queries of the reader [count], and how long they took [s].
        scorings, scoring_failures, scoring_max_s: the same for scoring.
        bytes_per_span: size of the store over its spans [bytes].
    """

    seconds: float
    rate_spans_per_s: float
    ack_p50_ms: float
    ack_p99_ms: float
    ack_max_ms: float
    lag_p50_s: float | None
    lag_max_s: float | None
    collector_lag_max_s: float
    store_held_s_max: float
    rss_mb_max: float
    rss_mb_per_min: float | None
    cpu_s: float
    acked: int
    stored: int
    lost: int
    doubled: int
    refused: int
    refusals: dict[str, int]
    reads: int
    read_failures: int
    read_p99_s: float | None
    scorings: int
    scoring_failures: int
    scoring_max_s: float | None
    bytes_per_span: float
    last_error: str | None


def measure() -> list[Figure]:
    """The default run against its targets."""
    result = run()
    rate = result.rate_spans_per_s
    lag = result.collector_lag_max_s
    return [
        Figure(
            f"spans acknowledged per second, of {RATE:g} sent", rate, "spans/s", f">= {RATE:g}", rate >= 0.98 * RATE
        ),
        Figure("time to an acknowledgement, p99", result.ack_p99_ms, "ms", "< 250 ms", result.ack_p99_ms < 250),
        Figure("from receipt to queryable trajectory, longest", lag, "s", "< 30 s", lag < 30),
        Figure("store kept from readers, longest", result.store_held_s_max, "s", "< 5 s", result.store_held_s_max < 5),
        Figure("readers that gave up", result.read_failures, "queries", "0", result.read_failures == 0),
        Figure("memory of the collector, largest", result.rss_mb_max, "MB", "< 1024 MB", result.rss_mb_max < 1024),
        Figure("acknowledged spans that are not in the store", result.lost, "spans", "0", result.lost == 0),
    ]


def run(
    *,
    rate: float = RATE,
    seconds: float = SECONDS,
    transport: str = "both",
    burst_rate: float = 0.0,
    burst_s: float = 0.0,
    score_every: float | None = None,
    score_share: float = 1.0,
    series: Path | None = None,
) -> CollectResult:
    """Runs a collector on a new store and sends to it.

    Args:
        rate: spans of about 2 kB to send [spans/s].
        seconds: for how long [s].
        transport: `grpc`, `http` or `both`.
        burst_rate, burst_s: for so long in every minute [s], send at this rate instead [spans/s].
        score_every: score what is new so often [s]; None = never.
        score_share: share of the traces that is scored.
        series: file for the samples, written in the end as JSON.
    """
    import psutil

    from spanscore.collector import read_status

    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store"
        switches = ["on" if transport in (name, "both") else "off" for name in ("grpc", "http")]
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(store), *switches], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        addresses = [address or "none" for address in json.loads(server.stdout.readline())]
        watch = Watch(store, server.pid, score_every, score_share)
        watch.start()
        options = {"--rate": rate, "--seconds": seconds, "--burst-rate": burst_rate, "--burst-s": burst_s}
        words = [str(word) for pair in options.items() for word in pair]
        command = [sys.executable, "-m", "benchmarks.load_sender", *addresses, *words]
        sender = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        sent = json.loads(sender.stdout)
        watch.stop()
        cpu = psutil.Process(server.pid).cpu_times()
        server.terminate()
        if server.wait(STOP_TIMEOUT_S) != 0:
            raise RuntimeError(f"the collector ended with exit code {server.returncode}")
        status = read_status(store) or {}
        _finish(store)
        balance = reconcile(store, {int(series): set(numbers) for series, numbers in sent["acked"].items()})
        size = sum(path.stat().st_size for path in store.glob("spanscore.duckdb*"))
    if series is not None:
        series.write_text(json.dumps({**watch.samples(), "ack_ms": sent["ack_ms"]}), encoding="utf-8")
    return CollectResult(
        seconds=round(sent["seconds"], 1),
        rate_spans_per_s=round(sent["spans"] / sent["seconds"], 1),
        ack_p50_ms=_nearest_rank(sent["ack_ms"], 0.50) or 0.0,
        ack_p99_ms=_nearest_rank(sent["ack_ms"], 0.99) or 0.0,
        ack_max_ms=max(sent["ack_ms"], default=0.0),
        lag_p50_s=_nearest_rank(watch.lag_s, 0.50),
        lag_max_s=_nearest_rank(watch.lag_s, 1.0),
        collector_lag_max_s=status["lag_s_max"] or 0.0,
        store_held_s_max=status["held_s_max"] or 0.0,
        rss_mb_max=round(max(mb for _, mb in watch.rss_mb), 1),
        rss_mb_per_min=watch.slope_mb_per_min(),
        cpu_s=round(cpu.user + cpu.system, 2),
        **asdict(balance),
        refused=sent["refused"],
        refusals=sent["refusals"],
        reads=len(watch.read_s),
        read_failures=len(watch.read_failures),
        read_p99_s=_nearest_rank(watch.read_s, 0.99),
        scorings=len(watch.scores),
        scoring_failures=sum(score["exit_code"] != 0 for score in watch.scores),
        scoring_max_s=_nearest_rank([score["seconds"] for score in watch.scores], 1.0),
        bytes_per_span=round(size / max(1, balance.stored), 1),
        last_error=status["last_error"],
    )


def _finish(store: Path) -> None:
    """Loads what the collector left in the spool when it was told to stop."""
    from spanscore.collector import Collector

    with Collector(store, grpc=None) as collector:
        collector.drain(STOP_TIMEOUT_S)


def _nearest_rank(values: list[float], share: float) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return round(ordered[max(0, -int(-share * len(ordered) // 1) - 1)], 2)


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=RATE, help="spans per second")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to send")
    parser.add_argument("--transport", choices=["grpc", "http", "both"], default="both")
    parser.add_argument("--burst-rate", type=float, default=0.0, help="spans per second in a burst, one every minute")
    parser.add_argument("--burst-s", type=float, default=0.0, help="how long a burst lasts")
    parser.add_argument("--score-every", type=float, help="seconds between two scorings; never when it is not given")
    parser.add_argument("--score-share", type=float, default=1.0, help="share of the traces that is scored")
    parser.add_argument("--series", type=Path, metavar="FILE", help="write all samples to this file, as JSON")
    result = run(**vars(parser.parse_args()))
    sys.stdout.write(json.dumps(asdict(result), indent=1) + "\n")
    return 1 if result.lost or result.doubled else 0


if __name__ == "__main__":
    sys.exit(main())
