"""What a collector tells Prometheus, in its text format.

Written by hand: the figures are in the collector's status already, and their text is a page of code, where the client
library would take longer to import than the rest of the collector to start. The tests read it with that library.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

import datetime as dt
import math
import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_PREFIX = "spanscore_collector_"
_SIGNAL = {"spans": "traces", "log_records": "logs"}

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


class Latencies:
    """Durations, counted in the buckets of a histogram; safe to use from many threads."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self._sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Counts one duration [s]."""
        with self._mutex:
            self._counts[bisect_left(BOUNDS_S, seconds)] += 1
            self._sum_s += seconds

    def read(self) -> tuple[list[int], float]:
        """How many durations were at most as long as each of `BOUNDS_S`, then all of them, and their sum [s]."""
        with self._mutex:
            total = 0
            return [total := total + count for count in self._counts], self._sum_s


@dataclass(frozen=True, slots=True)
class _Figure:
    name: str
    kind: str
    help: str
    samples: Iterable[Sample]


def exposition(
    status: Mapping[str, Any], acknowledgements: Latencies, *, is_ready: bool, segments: int, resident_bytes: int
) -> bytes:
    """The page that Prometheus reads.

    Args:
        status: the status document of the collector.
        acknowledgements: time from a request's last byte to its answer.
        is_ready: whether requests are accepted at the moment.
        segments: files of the spool, loaded ones that are kept included [count].
        resident_bytes: memory of the process in RAM [bytes]; 0 where that is not known, and left out then.
    """
    lines: list[str] = []
    for figure in _figures(status, is_ready=is_ready, segments=segments, resident_bytes=resident_bytes):
        name = figure.name if figure.name.startswith("process_") else _PREFIX + figure.name
        lines += _header(name, figure.kind, figure.help)
        lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in figure.samples]
    lines += _histogram(acknowledgements)
    return "\n".join([*lines, ""]).encode()


def _figures(status: Mapping[str, Any], *, is_ready: bool, segments: int, resident_bytes: int) -> Iterable[_Figure]:
    accepted, rejected = status["accepted"], status["rejected"]
    yield _Figure("build_info", "gauge", "Version of spanscore.", [({"version": status["version"]}, 1)])
    yield _Figure("ready", "gauge", "1 while requests are accepted.", [({}, is_ready)])
    yield _Figure(
        "requests_accepted_total", "counter", "Requests acknowledged: they are on disk.", [({}, accepted["requests"])]
    )
    yield _Figure(
        "items_accepted_total",
        "counter",
        "Spans and log records of acknowledged requests.",
        [({"signal": signal}, accepted[noun]) for noun, signal in _SIGNAL.items()],
    )
    yield _Figure(
        "items_rejected_total",
        "counter",
        "Spans and log records that no store can hold, by reason.",
        [
            ({"signal": signal, "reason": reason}, count)
            for noun, signal in _SIGNAL.items()
            for reason, count in sorted(rejected[noun].items())
        ],
    )
    yield _Figure(
        "requests_refused_total",
        "counter",
        "Requests that were not accepted, by reason.",
        [({"reason": reason}, count) for reason, count in sorted(status["refused_requests"].items())],
    )
    yield _Figure(
        "redactions_total",
        "counter",
        "Secrets and content replaced or left out before the spool, by kind.",
        [({"kind": kind}, count) for kind, count in sorted(status["redactions"].items())],
    )
    yield _Figure(
        "redacted_requests_total", "counter", "Requests in which something was.", [({}, status["redacted_requests"])]
    )
    yield from _loading(status, segments)
    if resident_bytes:
        yield _Figure("process_resident_memory_bytes", "gauge", "Memory of the process in RAM.", [({}, resident_bytes)])
    yield _Figure(
        "process_start_time_seconds", "gauge", "Start of the process, Unix time.", [({}, _unix(status["started_at"]))]
    )


def _loading(status: Mapping[str, Any], segments: int) -> Iterable[_Figure]:
    yield _Figure(
        "spool_waiting_bytes", "gauge", "Acknowledged and not yet in the store.", [({}, status["waiting_bytes"])]
    )
    yield _Figure(
        "spool_waiting_spans", "gauge", "Acknowledged and not yet in the store.", [({}, status["waiting_spans"])]
    )
    yield _Figure("spool_kept_bytes", "gauge", "Loaded, and kept for a while.", [({}, status["kept_bytes"])])
    yield _Figure("spool_segments", "gauge", "Files of the spool.", [({}, segments)])
    yield _Figure("loads_total", "counter", "Loads from the spool into the store.", [({}, status["loads"])])
    yield _Figure("spans_stored_total", "counter", "Spans that loads added.", [({}, status["stored_spans"])])
    # Unknown is not zero: before the first load there is no lag to tell of.
    known: list[Sample] = [] if status["lag_s"] is None else [({}, float(status["lag_s"]))]
    yield _Figure(
        "lag_seconds",
        "gauge",
        "At the end of the last load: age of the oldest request that the trajectory did not show before.",
        known,
    )
    last: list[Sample] = [] if status["last_load_at"] is None else [({}, _unix(status["last_load_at"]))]
    yield _Figure("last_load_timestamp_seconds", "gauge", "End of the last load, Unix time.", last)


def _histogram(latencies: Latencies) -> Iterable[str]:
    name = f"{_PREFIX}ack_seconds"
    counts, sum_s = latencies.read()
    yield from _header(name, "histogram", "Time from the last byte of an accepted request to its answer.")
    for bound, count in zip((*BOUNDS_S, math.inf), counts, strict=True):
        yield f'{name}_bucket{{le="{_number(bound)}"}} {count}'
    yield f"{name}_sum {_number(sum_s)}"
    yield f"{name}_count {counts[-1]}"


def _header(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items()) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    if value == math.inf:
        return "+Inf"
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _unix(moment: str) -> float:
    return dt.datetime.fromisoformat(moment).timestamp()
