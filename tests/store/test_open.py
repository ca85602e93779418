"""Opening: migrations, files that are not ours, and who holds the lock."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from spanscore import __version__
from spanscore.errors import StoreError, StoreLocked, StoreMissing, StoreOutdated, StoreTooNew, StoreUnrecognised
from spanscore.store import Store, database_path, derive, migrate, read_session

# Stores in the field were made by these bytes: from the first release on a line may be added here, and none changed.
LOCKED_MIGRATIONS = {
    "0001_raw_tables": "6104a9aca4e99d9d968080efeaa339575757caef7c61c11821a66112bdad6328",
    "0002_ingest_tables": "f4e7fc0e51982793660d0b5fa0fb463508e260479c02bb1b86aea674a6c62488",
    "0003_raw_comments": "59efdde3f720399518036313faf10d994daeb55a9ef7faee46e95ab48d0c4943",
    "0004_ingest_comments": "6155a462161d1f995f4a7b26cb19dfc7b2aea8298bcc750d7659c598658230f5",
    "0005_evaluation_tables": "b2e838c5d136f2839b20e2d24b7009b0a4c9353ed451768f63c1ce31af99f0cf",
    "0006_log_record_problems": "2e5a97a2939bc1b93b8eb44800e9ae1a814cda7a998a4b743b40662bae48e337",
    "0007_archive_tables": "9e6a562b9a57482f7c24c496aa08c3482a54f2f5d4a882d041137b844ff0ba48",
    "0008_production_tables": "7e1676b5bc3ad88ae945afb9a5f1bdf176b12991cc7e7f242630dff10a104acc",
    "0009_undelivered": "a2c0013d7d0365d7522e5cc409828366432d13f35a9f21dd143b9aef3e046558",
    "0010_waiting_since": "630e4f4eac16726dc13ecb641d6af3d0bf175f5355e2c38576d4cb93756f9c32",
    "0011_alert_series_all": "c2a5ba1b8a8c328ec3a5b63b53ffe26a82d432d97fb1eafe6248dba2004ff91a",
}

HOLD = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reader")
print("held", flush=True)
time.sleep(float(sys.argv[3]))
"""


@contextmanager
def held(path: Path, how: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the file."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), how, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_new_store_is_for_its_owner_only(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "store"
    Store.open(directory).close()

    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(database_path(directory).stat().st_mode) == 0o600


def test_every_migration_is_recorded_with_its_hash(store: Store) -> None:
    recorded = store.connection.execute(
        "select version, name, sha256, spanscore_version from schema_migrations order by version"
    ).fetchall()

    assert recorded == [(m.version, m.name, m.sha256, __version__) for m in migrate.known_migrations()]


def test_migrations_keep_their_bytes() -> None:
    assert {f"{m.version:04d}_{m.name}": m.sha256 for m in migrate.known_migrations()} == LOCKED_MIGRATIONS


def test_every_column_says_what_it_means(store: Store) -> None:
    silent = store.connection.execute(
        """
        select table_name || '.' || column_name from duckdb_columns()
        where not internal and database_name = current_database() and comment is null
            and table_name in (
                'resources', 'scopes', 'spans', 'span_conflicts', 'span_events', 'span_links', 'log_records',
                'ingest_accounting', 'spool_manifest', 'pending_traces', 'store_meta', 'schema_migrations',
                'scores', 'evaluators', 'cases', 'experiments'
            )
        union all
        select table_name from duckdb_tables() where database_name = current_database() and comment is null
            and table_name in ('spans', 'span_conflicts', 'log_records', 'ingest_accounting', 'schema_migrations')
        """
    ).fetchall()

    assert silent == []


def test_opening_again_changes_nothing(tmp_path: Path, make_tables: Any) -> None:
    with Store.open(tmp_path) as store:
        store.load(make_tables([{}]), source="test")
    with Store.open(tmp_path) as store:
        assert store.connection.execute("select count(*) from spans").fetchall() == [(1,)]
        assert migrate.migrate(store.connection, database_path(tmp_path)) == []


def test_a_failing_migration_leaves_the_schema_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_tables: Any
) -> None:
    with Store.open(tmp_path) as store:
        store.load(make_tables([{}]), source="test")
    known = migrate.known_migrations()
    broken = migrate.Migration(
        len(known) + 1, "broken", "0" * 64, "create table half (a integer); select 1 from nowhere"
    )
    monkeypatch.setattr(migrate, "known_migrations", lambda: (*known, broken))
    with pytest.raises(duckdb.CatalogException):
        Store.open(tmp_path)

    with duckdb.connect(str(database_path(tmp_path))) as connection:
        assert migrate.schema_version(connection) == len(known)
        assert connection.execute("select count(*) from spans").fetchall() == [(1,)]
        assert connection.execute("select count(*) from duckdb_tables() where table_name = 'half'").fetchall() == [(0,)]


def test_an_older_store_is_migrated_by_a_writer_and_named_to_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrate.known_migrations()
    Store.open(tmp_path).close()
    added = migrate.Migration(len(known) + 1, "added", "0" * 64, "alter table spans add column extra varchar")
    monkeypatch.setattr(migrate, "known_migrations", lambda: (*known, added))

    with pytest.raises(StoreOutdated, match=rf"schema {len(known)};.*\n.*spanscore rebuild"), read_session(tmp_path):
        pass
    Store.open(tmp_path).close()
    with read_session(tmp_path) as session:
        assert session.rows("select extra from spans") == []


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.connection.execute("insert into schema_migrations values (99, 'later', '', now()::timestamp, '9.9')")

    with pytest.raises(StoreTooNew, match="schema 99"):
        Store.open(tmp_path)
    with pytest.raises(StoreTooNew, match="schema 99"), read_session(tmp_path):
        pass


@pytest.mark.parametrize(
    "statement",
    [
        "create table theirs (a integer)",
        "create view theirs as select 1 as a",
        "create table schema_migrations (version bigint); insert into schema_migrations values (20260101)",
    ],
)
def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path, statement: str) -> None:
    path = database_path(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)
    before = path.read_bytes()

    with pytest.raises(StoreUnrecognised):
        Store.open(tmp_path)
    with pytest.raises(StoreUnrecognised), read_session(tmp_path):
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"hello" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = database_path(tmp_path)
    path.write_bytes(content)

    with pytest.raises(StoreUnrecognised, match="does not begin as a DuckDB file does"):
        Store.open(tmp_path)
    assert path.read_bytes() == content


def test_a_damaged_file_is_an_error_of_ours(tmp_path: Path, make_tables: Any) -> None:
    with Store.open(tmp_path) as store:
        store.load(make_tables([{}]), source="test")
    path = database_path(tmp_path)
    content = bytearray(path.read_bytes())
    for place in range(4096, 12288, 7):
        content[place] ^= 0xFF
    path.write_bytes(content)

    with pytest.raises(StoreError) as refused, read_session(tmp_path):
        pass
    assert refused.value.exit_code == 3


def test_reading_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match="no store"), read_session(tmp_path / "none"):
        pass

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("how", ["reader", "writer"])
def test_the_holder_is_named_to_a_writer(tmp_path: Path, how: str) -> None:
    Store.open(tmp_path).close()
    with (
        held(database_path(tmp_path), how, 60) as process,
        pytest.raises(StoreLocked, match=rf"process {process.pid} \(`.*python.* -c .*`\)"),
    ):
        Store.open(tmp_path, wait_s=0.1)


def test_the_holder_is_named_to_a_reader(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with held(database_path(tmp_path), "writer", 60) as process:
        started = time.monotonic()
        with pytest.raises(StoreLocked, match=f"process {process.pid} "), read_session(tmp_path, wait_s=0.3):
            pass
        assert time.monotonic() - started >= 0.3


def test_waiting_ends_when_the_holder_lets_go(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with held(database_path(tmp_path), "writer", 0.5), read_session(tmp_path, wait_s=30) as session:
        assert session.rows("select count(*) from spans") == [(0,)]


def test_readers_share(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with held(database_path(tmp_path), "reader", 60), read_session(tmp_path, wait_s=0) as session:
        assert session.rows("select 1") == [(1,)]


def test_a_second_hold_in_one_process_says_so(tmp_path: Path) -> None:
    with Store.open(tmp_path), pytest.raises(StoreLocked, match=f"PID {os.getpid()}"), read_session(tmp_path, wait_s=0):
        pass


def test_a_killed_writer_leaves_what_it_committed_and_no_lock(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from spanscore.store import Store\n"
        "store = Store.open(Path(sys.argv[1]))\n"
        "store.record_rejected(source='test', spans={'malformed': 7}); print('done', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()

    with Store.open(tmp_path, wait_s=0) as store:
        assert store.connection.execute("select n from ingest_accounting where outcome = 'rejected'").fetchall() == [
            (7,)
        ]


def test_another_model_makes_every_trace_pending_and_is_named_to_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_tables: Any
) -> None:
    with Store.open(tmp_path) as store:
        store.load(make_tables([{}]), source="test")
        store.connection.execute("delete from pending_traces")
    monkeypatch.setattr(derive, "MODEL_VERSION", derive.MODEL_VERSION + 1)

    with pytest.raises(StoreOutdated, match=r"model.*\n.*spanscore rebuild"), read_session(tmp_path):
        pass
    with Store.open(tmp_path) as store:
        assert store.connection.execute("select count(*) from pending_traces").fetchall() == [(1,)]
    with read_session(tmp_path) as session:
        assert session.rows("select count(*) from spans") == [(1,)]
