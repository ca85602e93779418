"""A loader that is killed at any moment: rows and manifest agree, and nothing is there twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spanscore.otlp import schema
from spanscore.store import ManifestRow, Store, read_session

SPANS_PER_LOAD = 50


def batch(number: int) -> schema.RawTables:
    """Spans that belong to load `number` alone."""
    spans = [
        {
            "trace_id": number.to_bytes(16, "big"),
            "span_id": (index + 1).to_bytes(8, "big"),
            "name": f"load {number}",
            "start_time_unix_nano": 1,
            "end_time_unix_nano": 2,
        }
        for index in range(SPANS_PER_LOAD)
    ]
    return schema.RawTables(spans=pa.Table.from_pylist(spans, schema=schema.SPANS))


def load_for_ever(directory: Path) -> None:
    """Loads from where the manifest stands, a window of a few loads at a time, telling each that is committed."""
    while True:
        with Store.open(directory, threads=1) as store:
            done = store.manifest().get("1.spool", 0)
            for number in range(done + 1, done + 4):
                store.load(batch(number), source="test", manifest=ManifestRow("1.spool", number, 1))
                print(number, flush=True)


def check_kills(directory: Path, kills: int) -> None:
    chance = random.Random(7)
    Store.open(directory).close()
    told = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, __file__, str(directory)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.6))
        process.send_signal(signal.SIGKILL)
        lines = process.communicate()[0].split()
        told = max([told, *map(int, lines)])

        with read_session(directory) as session:
            loaded, spans, distinct, pending, received = session.rows(
                """
                select
                    (select coalesce(max(end_offset), 0) from spool_manifest),
                    (select count(*) from spans),
                    (select count(*) from (select distinct trace_id, span_id from spans)),
                    (select count(*) from pending_traces),
                    (select coalesce(sum(n), 0)::bigint from ingest_accounting where outcome = 'received')
                """
            )[0]
        assert loaded >= told
        assert (spans, distinct, pending, received) == (loaded * SPANS_PER_LOAD, spans, loaded, spans)
    assert told > 0


def test_a_killed_loader_leaves_rows_and_manifest_in_step(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=2)


@pytest.mark.slow
def test_a_loader_killed_many_times_leaves_rows_and_manifest_in_step(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=60)


def test_a_load_whose_answer_was_lost_is_not_stored_twice(store: Store) -> None:
    tables: Any = batch(1)
    store.load(tables, source="test", manifest=ManifestRow("1.spool", 1, 1))
    counts = store.load(tables, source="test", manifest=ManifestRow("1.spool", 1, 1))

    assert (counts.spans.stored, counts.spans.duplicate) == (0, SPANS_PER_LOAD)


if __name__ == "__main__":
    load_for_ever(Path(sys.argv[1]))
