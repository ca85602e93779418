"""How long the whole catalogue takes over stores of growing size, as a process of its own, and what takes longest.

The runs are those of the ingest captures. The largest store is made by copying the derived rows of a smaller one under
new ids: evaluators read those, and a million raw spans would only make the preparation longer. The digits of all texts
of a copy but the last are turned into others, so that reading each different text or number once would gain little.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.captures import write_captures
from benchmarks.figures import Figure
from spanscore.cli.evaluate import EXIT_NOT_EVALUATED
from spanscore.evaluate import evaluate_store, find_evaluators
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.ingest import ingest_files
from spanscore.store import Store
from spanscore.store.derive import TABLES
from spanscore.store.evaluation import Scope, evaluation_session

SIZES = (10_000, 100_000)
COPIES = 10
SLOWEST = 3
TIMEOUT_S = 300.0
# Not 0: numbers would begin with it.
DIGITS = "123456789"
# The child says its own time and peak: those of the parent hold the preparation.
_CHILD = """
import resource, sys
from spanscore.cli import main
sys.argv = ["spanscore", "evaluate", "--format", "json", "--timeout", sys.argv[2], "--store", sys.argv[1]]
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"used {used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}", file=sys.stderr)
"""


def measure() -> list[Figure]:
    """Wall time, processor time and peak memory of `spanscore evaluate` at each size, and the slowest evaluators."""
    figures: list[Figure] = []
    cpu: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        for spans in SIZES:
            shutil.rmtree(store, ignore_errors=True)
            capture, _ = write_captures(Path(folder), spans)
            ingest_files([capture], store)
            target = ("< 2 s", 2.0) if spans == SIZES[0] else None
            figures += _process(store, spans, target, cpu)
        slowest = list(_slowest(store, SIZES[-1]))
        _multiply(store)
        figures += _process(store, SIZES[-1] * COPIES, ("<= 60 s", 60.0), cpu)
    return [*figures, *_growth(cpu), *slowest]


def _process(store: Path, spans: int, target: tuple[str, float] | None, cpu: dict[int, float]) -> Iterator[Figure]:
    started = perf_counter()
    command = [sys.executable, "-c", _CHILD, str(store), str(TIMEOUT_S)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = perf_counter() - started
    if done.returncode not in (0, EXIT_NOT_EVALUATED):
        raise RuntimeError(f"evaluate left with {done.returncode}: {done.stderr[-2000:]}")
    cpu[spans], peak = (float(word) for word in done.stderr.rsplit("used ", 1)[1].split())
    failed = len(json.loads(done.stdout)["errors"])
    words, most = target or (None, None)
    yield Figure(f"{spans:,} spans: whole process", took, "s", words, None if most is None else took <= most)
    yield Figure(f"{spans:,} spans: processor time", cpu[spans], "s")
    yield Figure(f"{spans:,} spans: peak memory", peak, "MiB", "<= 4096", peak <= 4096)
    yield Figure(f"{spans:,} spans: failed evaluators", failed, "", "0", not failed)


def _growth(cpu: dict[int, float]) -> Iterator[Figure]:
    """The exponent of the processor time between two sizes; 1 is linear."""
    sizes = sorted(cpu)
    for less, more in pairwise(sizes):
        exponent = math.log(cpu[more] / cpu[less]) / math.log(more / less)
        yield Figure(f"{less:,} to {more:,} spans: exponent of growth", exponent, "", "<= 1.05", exponent <= 1.05)


def _multiply(store: Path) -> None:
    """Copies every derived row under new ids with other digits in its texts, and drops the scores that were there."""
    with Store.open(store) as opened:
        connection = opened.connection
        connection.execute("delete from scores")
        for table in TABLES:
            described = connection.execute(f'describe "{table}"').fetchall()
            columns = [_copied(name, kind) for name, kind, *_ in described]
            connection.execute(
                f'insert into "{table}" select {", ".join(columns)} '
                f'from "{table}", (select unnest(range(1, {COPIES})) as n) as copy'
            )
        opened.checkpoint()


def _copied(name: str, kind: str) -> str:
    if name.endswith("_id") and kind == "VARCHAR":
        return f"{name} || '-' || copy.n as {name}"
    if name in ("question", "final_answer", "text", "result"):
        # Each copy turns the digits by as many places as its number: 8 becomes 2 in the third.
        turned = f"'{DIGITS}'[copy.n + 1:] || '{DIGITS}'[:copy.n]"
        return f'translate("{name}", \'{DIGITS}\', {turned}) as "{name}"'
    return f'"{name}"'


def _slowest(store: Path, spans: int) -> Iterator[Figure]:
    """The evaluators that take most processor time, each run alone, and the step of DuckDB that takes most of it."""
    names = [evaluator.id for evaluator in find_evaluators(store).evaluators]
    times = {name: _alone(store, name) for name in names}
    for name in sorted(times, key=lambda name: -times[name])[:SLOWEST]:
        step, share = _bound(store, name)
        yield Figure(f"{spans:,} spans: {name} alone, processor time", times[name], "s")
        yield Figure(f"{spans:,} spans: {name}, share of {step}", share * 100, "%")


def _alone(store: Path, name: str) -> float:
    started = process_time()
    evaluate_store(store, find_evaluators(store, selection=[name]), scope=Scope(), params={}, timeout_s=TIMEOUT_S)
    return process_time() - started


def _bound(store: Path, name: str) -> tuple[str, float]:
    """The kind of operator that an evaluator spends most of its time in, and its share of the time of all."""
    catalogue = find_evaluators(store, selection=[name])
    (evaluator,) = catalogue.evaluators
    with evaluation_session(store, Scope(), macros=EVALUATOR_MACROS, timeout_s=TIMEOUT_S) as session:
        answer = session.answer(f"explain (analyze, format json) {evaluator.sql}", catalogue.bound({})[name])
    profile = json.loads(answer.rows.column("explain_value")[0].as_py())
    spent: dict[str, float] = {}
    todo = list(profile["operator"])
    while todo:
        operator = todo.pop()
        spent[operator["name"]] = spent.get(operator["name"], 0.0) + operator["timing"]
        todo += operator.get("children", [])
    step = max(spent, key=lambda step: spent[step])
    return step, spent[step] / (sum(spent.values()) or 1.0)
