"""What is watched while a collector works: its memory, a reader's view of the store, and scoring beside it."""

import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READ_EVERY_S = 1.0
_NEWEST = "select count(*), epoch_ns(max(ended_at)) from runs"


@dataclass
class Watch:
    """Samples, one a second [MB, s], and counts of what failed.

    Attributes:
        rss_mb: resident memory of the collector, as (seconds from the beginning, MB).
        lag_s: age of the newest run that a reader found, less the second in which it was written.
        read_s: time a reader took, waiting for the store included.
        read_failures: messages of readers that gave up.
        scores: seconds and exit code of every scoring.
    """

    store: Path
    pid: int
    score_every_s: float | None = None
    score_share: float = 1.0
    rss_mb: list[tuple[float, float]] = field(default_factory=list)
    lag_s: list[float] = field(default_factory=list)
    read_s: list[float] = field(default_factory=list)
    read_failures: list[str] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begins nothing yet."""
        self._stop = threading.Event()
        work = [self._sample_memory, self._read] + ([self._score] if self.score_every_s else [])
        self._threads = [threading.Thread(target=target, daemon=True) for target in work]

    def start(self) -> None:
        """Begins to watch."""
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends after the sample under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def samples(self) -> dict[str, Any]:
        """Everything that was seen."""
        names = ("rss_mb", "lag_s", "read_s", "read_failures", "scores")
        return {name: getattr(self, name) for name in names}

    def slope_mb_per_min(self) -> float | None:
        """Least-squares slope of the memory over the last two thirds of the time [MB/min]; None under half a minute."""
        from statistics import linear_regression

        if not self.rss_mb or self.rss_mb[-1][0] < 30:
            return None
        settled = [(at, mb) for at, mb in self.rss_mb if at >= self.rss_mb[-1][0] / 3]
        return round(linear_regression([at / 60 for at, _ in settled], [mb for _, mb in settled]).slope, 2)

    def _sample_memory(self) -> None:
        import psutil

        process = psutil.Process(self.pid)
        while not self._stop.wait(0.5):
            self.rss_mb.append((time.monotonic() - self._began, process.memory_info().rss / 1e6))

    def _read(self) -> None:
        from spanscore.errors import SpanscoreError
        from spanscore.store import read_session

        while not self._stop.wait(READ_EVERY_S):
            began = time.monotonic()
            try:
                with read_session(self.store, threads=1) as session:
                    ((_, newest),) = session.rows(_NEWEST)
            except SpanscoreError as error:
                self.read_failures.append(str(error).splitlines()[0])
                continue
            self.read_s.append(time.monotonic() - began)
            if newest is not None:
                self.lag_s.append(max(0.0, time.time() - newest / 1e9))

    def _score(self) -> None:
        words = ["score", "--store", str(self.store), "--format", "json", "--sample", str(self.score_share)]
        command = [sys.executable, "-c", "from spanscore.cli import main; main()", *words]
        while not self._stop.wait(self.score_every_s):
            began = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            took = round(time.monotonic() - began, 2)
            self.scores.append({"seconds": took, "exit_code": done.returncode, "said": done.stdout[:2000]})
            if done.returncode != 0:
                self.scores[-1]["problem"] = done.stderr[-300:]
