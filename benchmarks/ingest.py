"""How fast captured files become queryable trajectories, against the floor of merely decoding and inserting them.

The floor decodes the same file and fills plain tables of the same columns in one transaction; both end with a
checkpoint. Each is measured in a process of its own, so that peak memory is its own too. They take turns, and the
faster of two rounds counts: the one that other programs disturbed least.
"""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.captures import write_captures, write_large_capture
from benchmarks.figures import Figure

SPANS = 200_000
ROUNDS = 2
LARGE_BYTES = 1_000_000_000
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """One process: its time without start-up [s], its peak memory [B] and the size of the file that it left [B]."""

    seconds: float
    peak_bytes: int
    stored_bytes: int


def measure() -> list[Figure]:
    """Spans per second of the floor and of `ingest` for both encodings, and what a file of 1 GB takes."""
    with tempfile.TemporaryDirectory() as folder:
        protobuf, json_lines = write_captures(Path(folder), SPANS)
        figures = [Figure("size of a span as protobuf", protobuf.stat().st_size / SPANS, "B")]
        for name, capture in (("protobuf", protobuf), ("JSON lines", json_lines)):
            figures += _compared(name, capture)
            capture.unlink()
        large = Path(folder) / "large.pb"
        spans = write_large_capture(large, LARGE_BYTES)
        run = _run("ingest", large)
    peak = run.peak_bytes / MEBIBYTE
    return [
        *figures,
        Figure("1 GB of protobuf: ingest", spans / run.seconds, "spans/s"),
        Figure("1 GB of protobuf: peak memory", peak, "MiB", "< 1536", met=peak < 1536),
    ]


def _compared(name: str, capture: Path) -> list[Figure]:
    rounds = [(_run("floor", capture), _run("ingest", capture)) for _ in range(ROUNDS)]
    floor, ingest = (min(runs, key=lambda run: run.seconds) for runs in zip(*rounds, strict=True))
    ratio = floor.seconds / ingest.seconds
    return [
        Figure(f"{name}: decode and insert, nothing derived (the floor)", SPANS / floor.seconds, "spans/s"),
        Figure(f"{name}: ingest, to queryable trajectories", SPANS / ingest.seconds, "spans/s"),
        Figure(f"{name}: ingest / floor", ratio, "", ">= 0.33", met=ratio >= 1 / 3),
        Figure(f"{name}: stored by the floor", floor.stored_bytes / SPANS, "B/span"),
        Figure(f"{name}: stored by ingest, trajectories included", ingest.stored_bytes / SPANS, "B/span"),
        Figure(f"{name}: peak memory of the floor", floor.peak_bytes / MEBIBYTE, "MiB"),
        Figure(f"{name}: peak memory of ingest", ingest.peak_bytes / MEBIBYTE, "MiB"),
    ]


def _run(work: str, capture: Path) -> Run:
    with tempfile.TemporaryDirectory(dir=capture.parent) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.ingest", work, str(capture), folder],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return Run(**json.loads(done.stdout))


def _floor(capture: Path, folder: Path) -> Path:
    import duckdb

    import spanscore.store
    from spanscore.otlp import read_paths

    file = folder / "floor.duckdb"
    loading = Path(spanscore.store.__file__).parent / "loading"
    names = ("spans", "span_events", "span_links", "resources", "scopes")
    with duckdb.connect(str(file)) as connection:
        for macros in ("values.sql", "macros.sql"):
            connection.execute((loading / macros).read_text(encoding="utf-8"))
        connection.execute("begin")
        for number, chunk in enumerate(read_paths([capture])):
            for name in names:
                connection.register(f"arrow_{name}", getattr(chunk.tables, name))
            if number == 0:
                connection.execute(Path(__file__).with_name("floor.sql").read_text(encoding="utf-8"))
            for name in names:
                connection.execute(f"insert into {name} from decoded_{name}")
        connection.execute("commit")
        connection.execute("checkpoint")
    return file


def _ingest(capture: Path, folder: Path) -> Path:
    from spanscore.ingest import ingest_files

    ingest_files([capture], folder)
    return folder / "spanscore.duckdb"


def main(arguments: Sequence[str]) -> None:
    """Does `floor` or `ingest` of a capture into a folder and prints the `Run` as JSON."""
    work, capture, folder = arguments
    started = perf_counter()
    file = (_floor if work == "floor" else _ingest)(Path(capture), Path(folder))
    taken = perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    run = {"seconds": taken, "peak_bytes": peak, "stored_bytes": file.stat().st_size}
    sys.stdout.write(json.dumps(run))


if __name__ == "__main__":
    main(sys.argv[1:])
