"""Writing the database anew: nothing of it changes, and nobody who waits for it writes into the file that is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from spanscore.demo import __file__ as demo_file
from spanscore.ingest import ingest_files
from spanscore.store import Store, read_session
from spanscore.store.compact import compact

DEMO = Path(demo_file).with_name("demo_data")

WRITER = """
import sys
from pathlib import Path
from spanscore.store import Store
for number in range(int(sys.argv[2])):
    with Store.open(Path(sys.argv[1]), wait_s=60, threads=1) as store:
        store.connection.execute("insert into store_meta values ($1, 'told')", [f"write {number}"])
    print(number, flush=True)
"""


def test_tables_comments_and_rows_stay(tmp_path):
    ingest_files([DEMO / "openai-agents-handoffs.traces.jsonl.gz"], tmp_path)
    queries = [
        "select table_name, comment, sql from duckdb_tables() where not temporary order by all",
        "select table_name, column_name, data_type, is_nullable, comment from duckdb_columns() order by all",
        "select s::varchar from spans as s order by all",
        "select m::varchar from messages as m order by all",
    ]

    def read() -> list[object]:
        with read_session(tmp_path) as session:
            return [session.rows(query) for query in queries]

    # A hole before the end of the file: DuckDB gives back only what is free at its end.
    for statement in (
        "create table ballast as select uuid()::varchar as text from range(50000)",
        "create table weight as select uuid()::varchar as text from range(50000)",
        "drop table ballast",
    ):
        with Store.open(tmp_path) as store:
            store.connection.execute(statement)
    before = read()
    sizes = compact(tmp_path)

    assert read() == before
    assert sizes.after < sizes.before
    assert sizes.after == (tmp_path / "spanscore.duckdb").stat().st_size
    assert (tmp_path / "spanscore.duckdb").stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spanscore.duckdb"]


def test_whoever_waits_writes_into_the_new_file(tmp_path):
    Store.open(tmp_path).close()
    writes = 5
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), str(writes)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    compactions = 0
    while process.poll() is None:
        compact(tmp_path, wait_s=60)
        compactions += 1
        time.sleep(0.02)

    assert process.returncode == 0
    assert compactions > 0
    with read_session(tmp_path) as session:
        assert session.rows("select count(*) from store_meta where value = 'told'") == [(writes,)]
