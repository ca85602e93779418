"""Captured files into the store: decode, load, and derive what changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spanscore.otlp import FileChunk, LineProblem, SpanLimits
    from spanscore.store import LoadCounts, SignalCounts

# Problems whose place is remembered; every one of them is counted.
PROBLEMS_KEPT = 20
# A batch is loaded in one transaction once it holds this many spans and log records, or chunks [count].
BATCH_ROWS = 20_000
BATCH_FILES = 500


@dataclass(slots=True)
class IngestSummary:
    """What became of the files: counts, and where the first unreadable records stand."""

    counts: LoadCounts
    files: int = 0
    problems: list[LineProblem] = field(default_factory=list)
    unreadable: Counter[str] = field(default_factory=Counter)
    """Records that could not be read, by reason; they are among the rejected spans of `counts`."""
    fruitless: list[str] = field(default_factory=list)
    """Files without a span, a log record or anything that could not be read, such as empty ones; the first few."""

    @property
    def is_empty_handed(self) -> bool:
        """Whether something was there to read and nothing of it could be used."""
        of_use = [one.received - sum(one.rejected.values()) for one in (self.counts.spans, self.counts.log_records)]
        return bool(self.counts.spans.received or self.counts.log_records.received) and not any(of_use)

    def document(self) -> dict[str, Any]:
        """The JSON document of `spanscore ingest --format json`."""
        return {
            "files": self.files,
            "unreadable": self.unreadable.total(),
            **_signal(self.counts.spans),
            "log_records": _signal(self.counts.log_records),
            "problems": [
                {"path": problem.path, "line": problem.number, "reason": problem.reason, "detail": problem.detail}
                for problem in self.problems
            ],
        }


def _signal(counts: SignalCounts) -> dict[str, Any]:
    return {
        "received": counts.received,
        "stored": counts.stored,
        "duplicate": counts.duplicate,
        "conflict": counts.conflict,
        "rejected": dict(counts.rejected),
    }


def ingest_files(
    paths: Sequence[str | os.PathLike[str]],
    store_directory: Path,
    *,
    limits: SpanLimits | None = None,
    on_bytes: Callable[[int], None] | None = None,
    on_traces: Callable[[int, int], None] | None = None,
) -> IngestSummary:
    """Load `paths` into the store and rebuild the trajectories that changed.

    A record that cannot be read counts as one received and rejected span, whatever it held: nothing goes uncounted.
    How many of the spans are such records is told beside them.

    Args:
        paths: files, folders, globs, or "-" for standard input.
        store_directory: made when it is missing.
        limits: of a span; None = the defaults.
        on_bytes: told how many more bytes have been read.
        on_traces: told (traces derived, traces to derive).

    Raises:
        InputError: a path does not exist or cannot be read; nothing is read then.
        StoreError: the store cannot be used.
    """
    from spanscore.otlp import SpanLimits, concat_raw_tables, read_paths
    from spanscore.store import LoadCounts, SignalCounts, Store

    chunks = read_paths(paths, progress=on_bytes, limits=limits or SpanLimits())
    summary = IngestSummary(LoadCounts())
    yields: Counter[str] = Counter()
    with Store.open(store_directory) as store:
        with store.deriving_beside() as beside:
            for batch in _batches(chunks):
                for chunk in batch:
                    yields[chunk.path] += _yield_of(chunk)
                source = _source(batch)
                tables = concat_raw_tables([chunk.tables for chunk in batch])
                beside.make_way(tables)
                counts = store.load(tables, source=source)
                beside.take(counts.spans.stored)
                summary.counts += counts
                problems = [problem for chunk in batch for problem in chunk.rejected_lines]
                if problems:
                    reasons = Counter(problem.reason for problem in problems)
                    store.record_rejected(source=source, spans=reasons)
                    summary.counts += LoadCounts(spans=SignalCounts(received=reasons.total(), rejected=reasons))
                    summary.unreadable += reasons
                    summary.problems += problems[: PROBLEMS_KEPT - len(summary.problems)]
        store.derive(on_traces)
    summary.files = len(yields)
    summary.fruitless = [path for path, n in yields.items() if not n][:PROBLEMS_KEPT]
    return summary


def _batches(chunks: Iterable[FileChunk]) -> Iterator[list[FileChunk]]:
    """Chunks that are loaded together: a transaction for each of many small files would take most of the time."""
    batch: list[FileChunk] = []
    rows = 0
    for chunk in chunks:
        batch.append(chunk)
        rows += chunk.tables.spans.num_rows + chunk.tables.log_records.num_rows
        if rows >= BATCH_ROWS or len(batch) >= BATCH_FILES:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _yield_of(chunk: FileChunk) -> int:
    """Everything in it that is counted: stored, rejected or unreadable."""
    tables = chunk.tables
    rejected = sum(tables.rejected_spans.values()) + sum(tables.rejected_log_records.values())
    return int(tables.spans.num_rows + tables.log_records.num_rows) + rejected + len(chunk.rejected_lines)


def _source(batch: list[FileChunk]) -> str:
    names = list(dict.fromkeys(Path(chunk.path).name for chunk in batch))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def total_bytes(paths: Sequence[str | os.PathLike[str]]) -> int | None:
    """Size of the files of `paths` as stored [bytes]; None where it is not known, as of standard input.

    Raises:
        InputError: a path does not exist or cannot be read.
    """
    from spanscore.otlp.paths import expand_paths

    sizes = [file.size for file in expand_paths(paths)]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
