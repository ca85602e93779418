"""How long the whole catalogue takes over stores of growing size, as a process of its own, and what takes longest.

The runs are those of the ingest captures. The largest store is made by copying the derived rows of a smaller one under
new ids: evaluators read those, and a million raw spans would only make the preparation longer.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.captures import write_captures
from benchmarks.figures import Figure
from spanscore.cli.evaluate import EXIT_NOT_EVALUATED
from spanscore.evaluate import evaluate_store, find_evaluators
from spanscore.ingest import ingest_files
from spanscore.store import Store
from spanscore.store.derive import TABLES
from spanscore.store.evaluation import Scope

SIZES = (10_000, 100_000)
COPIES = 10
SLOWEST = 3
# The child says its own peak: that of the parent holds the preparation.
_CHILD = """
import resource, sys
from spanscore.cli import main
sys.argv = ["spanscore", "evaluate", "--format", "json", "--store", sys.argv[1]]
try:
    main()
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak {peak}", file=sys.stderr)
"""


def measure() -> list[Figure]:
    """Wall time and peak memory of `spanscore evaluate` at each size, and the slowest evaluators."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        for spans in SIZES:
            shutil.rmtree(store, ignore_errors=True)
            capture, _ = write_captures(Path(folder), spans)
            ingest_files([capture], store)
            target = ("< 2 s", 2.0) if spans == SIZES[0] else None
            figures += _process(store, spans, target)
        slowest = list(_slowest(store, SIZES[-1]))
        _multiply(store)
        figures += _process(store, SIZES[-1] * COPIES, ("<= 60 s", 60.0))
    return figures + slowest


def _process(store: Path, spans: int, target: tuple[str, float] | None) -> Iterator[Figure]:
    started = perf_counter()
    done = subprocess.run([sys.executable, "-c", _CHILD, str(store)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, EXIT_NOT_EVALUATED):
        raise RuntimeError(f"evaluate left with {done.returncode}: {done.stderr[-2000:]}")
    took = perf_counter() - started
    peak = float(done.stderr.rsplit("peak ", 1)[1])
    words, most = target or (None, None)
    yield Figure(f"{spans:,} spans: whole process", took, "s", words, None if most is None else took <= most)
    yield Figure(f"{spans:,} spans: per span", took / spans * 1e6, "us")
    failed = int(done.returncode == EXIT_NOT_EVALUATED)
    yield Figure(f"{spans:,} spans: left as if an evaluator failed", failed, "", "0", not failed)
    yield Figure(f"{spans:,} spans: peak memory", peak, "MiB", "<= 4096", peak <= 4096)


def _multiply(store: Path) -> None:
    """Copies every derived row under new ids, and drops the scores of the rows that were there."""
    with Store.open(store) as opened:
        connection = opened.connection
        connection.execute("delete from scores")
        for table in TABLES:
            described = connection.execute(f'describe "{table}"').fetchall()
            columns = [
                f"{name} || '-' || copy.n as {name}" if name.endswith("_id") and kind == "VARCHAR" else f'"{name}"'
                for name, kind, *_ in described
            ]
            connection.execute(
                f'insert into "{table}" select {", ".join(columns)} '
                f'from "{table}", (select unnest(range(1, {COPIES})) as n) as copy'
            )
        opened.checkpoint()


def _slowest(store: Path, spans: int) -> Iterator[Figure]:
    """The evaluators that take longest, each run alone with its session."""
    everything = find_evaluators(store)
    names = [evaluator.id for evaluator in everything.evaluators]
    times = {name: _alone(store, name) for name in names}
    for name in sorted(times, key=lambda name: -times[name])[:SLOWEST]:
        yield Figure(f"{spans:,} spans: {name} alone, with its session", times[name], "s")


def _alone(store: Path, name: str) -> float:
    started = perf_counter()
    evaluate_store(store, find_evaluators(store, selection=[name]), scope=Scope(), params={}, timeout_s=300)
    return perf_counter() - started
