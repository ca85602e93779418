"""The archive is checked by `doctor`, and stays readable through `doctor --repair`; what is lost is named."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from spanscore.cli import app
from spanscore.doctor import examine
from spanscore.errors import StoreDamaged
from spanscore.ingest import ingest_files
from spanscore.repair import repair_store
from spanscore.retention.archive import archive_store
from spanscore.store import Store, derive, read_session

DEMO = Path(derive.__file__).parents[1] / "demo_data"
CORPUS = Path(__file__).parent / "corpus" / "langgraph-genai"
TABLES = ("spans", "span_events", "log_records", *derive.TABLES)


LATER = dt.datetime.fromisoformat("2100-01-01")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of which everything is in the archive, the runs aside; for copying."""
    directory = tmp_path_factory.mktemp("archived") / "store"
    ingest_files([str(DEMO), str(CORPUS)], directory)
    archive_store(directory, LATER)
    return directory


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


def contents(directory: Path) -> dict[str, list[Any]]:
    with read_session(directory) as session:
        found = {table: sorted(session.rows(f"select r::varchar from {table} as r")) for table in TABLES}
        found["spans"] = sorted(session.rows("select trace_id, span_id, name, attributes::varchar from spans"))
        found["log_records"] = sorted(session.rows("select trace_id, body::varchar from log_records"), key=str)
    return found


def files(directory: Path, table: str = "*") -> list[Path]:
    return sorted((directory / "archive").glob(f"{table}/day=*/*.parquet"))


def doctor(store: Path, *words: str) -> Any:
    return CliRunner().invoke(app, ["doctor", "--store", str(store), *words])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)


def ruin(database: Path) -> None:
    """Overwrites what is in the middle of the file; the lists of the archive are at another place."""
    with database.open("r+b") as file:
        file.seek(database.stat().st_size // 2)
        file.write(b"\0" * 200_000)


def test_the_doctor_counts_the_files_and_compares_them(store: Path) -> None:
    sizes = sum(path.stat().st_size for path in files(store))
    document = json.loads(doctor(store, "--format", "json").stdout)
    whole = json.loads(doctor(store, "--verify", "--format", "json").stdout)

    assert document["archive"] == {"files": len(files(store)), "bytes": sizes, "verified": "size", "foreign_files": 0}
    assert whole["archive"]["verified"] == "sha256"
    assert "every byte as written" in doctor(store, "--verify").stdout


def test_a_changed_byte_is_found_by_verifying(store: Path) -> None:
    flip(files(store, "spans")[0])

    assert doctor(store).exit_code == 0
    ended = doctor(store, "--verify")
    assert ended.exit_code == 3
    assert f"{files(store, 'spans')[0]}: other bytes than were written (" in ended.stderr


def test_all_files_that_are_missing_or_cut_are_named_with_what_to_do(store: Path) -> None:
    spans, logs = files(store, "spans")[0], files(store, "log_records")[0]
    size = spans.stat().st_size
    spans.write_bytes(spans.read_bytes()[:100])
    logs.unlink()
    ended = doctor(store)

    assert ended.exit_code == 3
    assert f"{spans}: 100 bytes of {size} (" in ended.stderr
    assert f"{logs}: missing (" in ended.stderr
    assert f"spanscore doctor --repair --store {store}" in ended.stderr
    with pytest.raises(StoreDamaged, match=f"spanscore doctor --store {store}"), read_session(store) as session:
        session.rows("select count(attributes) from spans")


def test_progress_is_told_in_bytes(store: Path) -> None:
    told: list[tuple[int, int]] = []
    examine(store, verify=True, on_bytes=lambda done, total: told.append((done, total)))

    assert told[-1][0] == told[-1][1] == sum(path.stat().st_size for path in files(store))


def test_a_store_made_anew_has_its_archive(store: Path) -> None:
    before = contents(store)
    ruin(store / "spanscore.duckdb")
    document = repair_store(store)

    assert document["damage"] is not None
    assert contents(store) == before
    examined = examine(store)
    assert (examined["archive"]["foreign_files"], examined["accounting"]["spans"]["unaccounted"]) == (0, 0)
    assert not any("accounting" in line or "archive" in line for line in examined["advice"])
    assert repair_store(store)["damage"] is None


def test_without_its_database_the_archive_is_listed_anew(store: Path) -> None:
    before = contents(store)
    (store / "spanscore.duckdb").unlink()
    (store / "spool").mkdir(exist_ok=True)
    document = repair_store(store)

    after = contents(store)
    assert {table: after[table] for table in ("spans", "log_records")} == {
        table: before[table] for table in ("spans", "log_records")
    }
    assert {table: len(rows) for table, rows in after.items()} == {table: len(rows) for table, rows in before.items()}
    assert any("listed anew" in note for note in document["notes"])
    examined = examine(store, verify=True)
    assert examined["archive"]["foreign_files"] == 0
    assert examined["advice"] == []
    with Store.open(store) as opened:
        opened.rebuild()
    assert contents(store) == after


@pytest.mark.slow
def test_a_trace_in_two_parts_is_listed_once_and_files_that_cannot_be_read_are_named(store: Path) -> None:
    """An archiving was killed before it deleted the files that it had written anew; one of another day is cut."""
    before = contents(store)["spans"]
    for path in files(store):
        again = path.with_name(f"{path.stem[:-12]}{'0' * 12}.parquet")
        shutil.copy(path, again)
        if again.parts[-3] == "log_records":
            again.write_bytes(b"PAR1")
    (store / "spanscore.duckdb").unlink()
    (store / "spool").mkdir(exist_ok=True)
    document = repair_store(store)

    assert contents(store)["spans"] == before
    assert any("of the archive cannot be read, and stayed unlisted" in note for note in document["notes"])


@pytest.mark.parametrize("how", [pytest.param("gone", marks=pytest.mark.slow), "flipped"])
def test_a_damaged_file_is_given_up_and_the_others_can_be_read(store: Path, how: str) -> None:
    before, advice = contents(store), examine(store)["advice"]
    (logs,) = files(store, "log_records")
    content = logs.read_bytes()
    logs.unlink() if how == "gone" else flip(logs)
    document = json.loads(doctor(store, "--repair", "--format", "json").stdout)

    assert [str(logs.relative_to(store)) in note for note in document["notes"]] == [True]
    after = contents(store)
    assert after == {**before, "log_records": [row for row in before["log_records"] if row[0] is None]}
    assert examine(store, verify=True)["advice"] == advice
    kept = [path for path in store.glob("damaged-*/archive/**/*.parquet") if len(path.read_bytes()) == len(content)]
    assert len(kept) == (0 if how == "gone" else 1)
    with Store.open(store) as opened:
        opened.rebuild()
    assert contents(store)["spans"] == before["spans"]


def test_spans_that_are_gone_leave_their_runs_until_they_are_derived_again(store: Path) -> None:
    before, advice = contents(store), examine(store)["advice"]
    lost = files(store, "spans")[0]
    with read_session(store) as session:
        ((n,),) = session.rows("select row_count from archive_files where path = ?", [str(lost.relative_to(store))])
    lost.unlink()
    document = repair_store(store)

    after = contents(store)
    assert len(after["spans"]) < len(before["spans"])
    assert after["runs"] == before["runs"]
    assert f"{n} rows of `spans` are gone" in document["notes"][0]
    examined = examine(store, verify=True)
    assert (examined["advice"], examined["accounting"]["spans"]["purged"]) == (advice, n)
    assert repair_store(store)["damage"] is None
    with Store.open(store) as opened:
        opened.rebuild()
    assert len(contents(store)["runs"]) < len(before["runs"])
    assert contents(store)["spans"] == after["spans"]


def test_a_store_of_an_earlier_schema_is_checked_too(store: Path) -> None:
    with duckdb.connect(str(store / "spanscore.duckdb")) as connection:
        connection.execute("delete from schema_migrations where version > 7")
    assert repair_store(store)["damage"] is None
    with duckdb.connect(str(store / "spanscore.duckdb")) as connection:
        connection.execute("delete from schema_migrations where version > 6")
        connection.execute("drop table archive_files")
    assert repair_store(store)["damage"] is None


CUT_SHORT = (
    "spanscore.store.archive.heal.adopt",
    pytest.param("spanscore.store.archive.check.check_archive", marks=pytest.mark.slow),
    pytest.param("spanscore.store.Store.rebuild", marks=pytest.mark.slow),
)


@pytest.mark.parametrize("step", CUT_SHORT)
def test_a_repair_that_was_cut_short_is_gone_on_with(store: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A new database is in place by then, and without this it would pass for a whole store."""
    before = contents(store)
    (store / "spanscore.duckdb").unlink()

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(step, stop)
        with pytest.raises(KeyboardInterrupt):
            repair_store(store)
    told = doctor(store)
    document = repair_store(store)
    after = contents(store)

    assert (told.exit_code, "cut short" in told.stderr, "doctor --repair --store" in told.stderr) == (3, True, True)
    assert "finished now" in document["notes"][0]
    assert after["spans"] == before["spans"]
    assert len(after["runs"]) == len(before["runs"])
    assert examine(store)["accounting"]["spans"]["stored"] == len(after["spans"])
    assert repair_store(store)["damage"] is None


def test_an_archive_without_database_and_spool_is_repaired(store: Path) -> None:
    before = contents(store)
    (store / "spanscore.duckdb").unlink()
    shutil.rmtree(store / "spool", ignore_errors=True)
    told = doctor(store)
    repair_store(store)

    assert (told.exit_code, "doctor --repair --store" in told.stderr) == (2, True)
    assert contents(store)["spans"] == before["spans"]
