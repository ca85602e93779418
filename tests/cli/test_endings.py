"""How commands end: the exit code, and what is said on which stream."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from commands import CORPUS, run, start

from spanscore.errors import SpanscoreError, StoreLocked, UsageError


@pytest.mark.parametrize(
    "words",
    [
        ["traces"],
        ["trace", "abc"],
        ["sql", "select 1"],
        ["doctor"],
        ["rebuild"],
    ],
    ids=lambda words: words[0],
)
def test_a_missing_store_is_told_with_what_to_do(words, tmp_path):
    ended = run(*words, "--store", tmp_path / "nothing")

    assert ended.code == 2
    assert ended.out == ""
    assert "no store" in ended.err
    assert "--store" in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("wrong"), 2), (StoreLocked("held"), 3), (SpanscoreError("odd"), 4)],
    ids=lambda value: type(value).__name__,
)
def test_a_known_error_is_a_message_with_its_exit_code(monkeypatch, error, code, tmp_path):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("spanscore.doctor.examine", fail)
    ended = run("doctor", "--store", tmp_path)

    assert ended.code == code
    assert ended.err == f"spanscore: {error}\n"


def test_an_unknown_error_has_a_traceback_and_asks_for_a_report(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise ZeroDivisionError("name with \x1b[2J in it")

    monkeypatch.setattr("spanscore.doctor.examine", fail)
    ended = run("doctor", "--store", tmp_path)

    assert ended.code == 4
    assert "ZeroDivisionError" in ended.err
    assert "report" in ended.err
    assert "\x1b" not in ended.err


def test_the_store_may_come_from_the_environment(store, monkeypatch):
    from typer.testing import CliRunner

    from spanscore.cli import app

    result = CliRunner().invoke(app, ["traces", "--format", "json"], env={"SPANSCORE_STORE": str(store)})

    assert result.exit_code == 0
    assert "run_id" in result.stdout


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_closed_pipe_is_quiet_and_no_success(store, form):
    query = "select range as n, repeat('x', 100) as x from range(3000)"
    process = start("sql", query, "--store", store, "--format", form, "--limit", 3000)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()

    said = process.stderr.read()

    assert process.wait(timeout=30) == 141
    assert said == b""


def test_help_into_a_closed_pipe_is_quiet():
    process = start("--help")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    said = process.stderr.read()

    assert process.wait(timeout=30) != 0
    assert said == b""


def test_an_interrupt_while_duckdb_works_is_no_bug(monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("spanscore.doctor.examine", interrupted)
    ended = run("doctor", "--store", tmp_path)

    assert ended.code == 130
    assert "Traceback" not in ended.err


def test_a_store_that_was_cut_off_is_told_without_a_traceback(store, tmp_path):
    whole = (store / "spanscore.duckdb").read_bytes()
    (tmp_path / "spanscore.duckdb").write_bytes(whole[:300_000])
    ended = run("traces", "--store", tmp_path)

    assert ended.code == 3
    assert "damaged" in ended.err
    assert "doctor --repair" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "words",
    [["demo"], ["collect", "--grpc", "none", "--http", "127.0.0.1:0"], ["ingest", str(CORPUS)]],
    ids=lambda words: words[0],
)
def test_a_store_directory_that_cannot_be_made_is_told(words, tmp_path):
    (tmp_path / "file").write_text("")
    ended = run(*words, "--store", tmp_path / "file" / "store")

    assert ended.code == 3
    assert "cannot be made" in ended.err
    assert "Traceback" not in ended.err


def test_json_is_json_where_the_encoding_lacks_a_character(store):
    query = "select '18.5 \u00b0C \U0001f600' as answer"
    environment = dict(os.environ, PYTHONIOENCODING="ascii")
    command = [sys.executable, "-c", "from spanscore.cli import main; main()", "sql", query, "--format", "json"]
    said = subprocess.run([*command, "--store", store], env=environment, capture_output=True, check=True).stdout

    assert json.loads(said.decode("ascii")) == [{"answer": "18.5 \u00b0C \U0001f600"}]


def first_byte_of(database, table):
    """Where in the file the values of a table lie [bytes]."""
    with duckdb.connect(str(database), read_only=True) as connection:
        ((block,),) = connection.execute(
            f"select min(block_id) from pragma_storage_info('{table}') where block_id >= 0"
        ).fetchall()
        ((size,),) = connection.execute("select block_size from pragma_database_size()").fetchall()
    # Three headers of 4 KiB lie before the first block, and a checksum at the beginning of each.
    return 3 * 4096 + block * size + 8


@pytest.mark.parametrize(
    "words", [("report",), ("evaluate",), ("sql", "select * from runs")], ids=lambda words: words[0]
)
def test_damage_that_is_found_on_the_way_is_told_with_the_repair(store, tmp_path, words):
    """The file opens well, and its damage is met only when the values are read."""
    directory = tmp_path / "my store"
    shutil.copytree(store, directory)
    database = directory / "spanscore.duckdb"
    first = first_byte_of(database, "runs")
    with database.open("r+b") as file:
        file.seek(first + 100)
        file.write(b"\xff" * 64)
    ended = run(*words, "--store", directory)

    assert ended.code == 3, ended.out
    assert "Traceback" not in ended.err
    assert "damaged" in ended.err
    assert f"spanscore doctor --repair --store '{directory}'" in ended.err


@pytest.mark.parametrize("words", [("doctor",), ("report",), ("rebuild",), ("score",)], ids=lambda words: words[0])
def test_a_database_that_is_gone_is_told_with_what_is_left(store, tmp_path, words):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / f"{'1' * 20}-0123abcd.spool").write_bytes(b"x" * 100)
    ended = run(*words, "--store", tmp_path)

    assert ended.code == 2
    assert "a spool that keeps 100 bytes of what was acknowledged" in ended.err
    assert f"spanscore doctor --repair --store {tmp_path}" in ended.err


def test_an_archive_without_its_database_is_told(tmp_path):
    folder = tmp_path / "archive" / "spans" / "day=2026-01-01"
    folder.mkdir(parents=True)
    (folder / "x.parquet").write_bytes(b"x")
    ended = run("traces", "--store", tmp_path)

    assert ended.code == 2
    assert "an archive that belongs to one" in ended.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words", [["traces"], ["sql", "select repeat('x', 100000) from range(10)", "--format", "json"]]
)
def test_an_output_that_takes_no_more_is_said_in_a_sentence(store, words):
    with Path("/dev/full").open("w") as full:
        process = start(*words, "--store", store, stdout=full)
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 3
    assert "The output could not be written: No space left on device" in errors.decode()
    assert b"Traceback" not in errors
