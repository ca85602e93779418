"""`archive`, `purge`, `export` and `stats` on the command line: their documents, their refusals, their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spanscore.cli import app
from spanscore.ingest import ingest_files
from spanscore.store import derive

DEMO = Path(derive.__file__).parents[1] / "demo_data"


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def store(tmp_path: Path) -> Path:
    ingest_files([DEMO / "openai-agents-handoffs.traces.jsonl.gz"], tmp_path / "store")
    return tmp_path / "store"


def test_a_store_is_archived_measured_copied_and_purged(store):
    at_store = ("--store", store, "--format", "json")
    before = json.loads(run("stats", *at_store))
    planned = json.loads(run("archive", "--older-than", "2100-01-01", "--dry-run", *at_store))
    moved = json.loads(run("archive", "--older-than", "2100-01-01", "--compact", *at_store))
    after = json.loads(run("stats", *at_store))

    assert planned["dry_run"]
    assert planned["spans"] == moved["spans"] == before["database"]["spans"] > 0
    assert moved["parts"] == 1
    assert after["archive"]["spans"] == moved["spans"]
    assert after["archive"]["bytes"] == moved["archive_bytes_written"]
    assert after["database"]["spans"] == 0
    assert after["database"]["bytes_per_span"] is None
    assert sum(day["archived_spans"] for day in after["days"]) == moved["spans"]
    assert after["largest_traces"] == before["largest_traces"]
    assert sum(table["bytes"] for table in before["database"]["tables"]) <= before["database"]["bytes"]
    assert "bytes" not in run("stats", "--store", store)

    copied = json.loads(run("export", store / "copy.duckdb", *at_store))
    assert copied["tables"]["spans"] == moved["spans"]
    run("export", store / "copy.duckdb", "--parquet", store, "--store", store, code=2)

    run("purge", "--store", store, code=2)
    run("purge", "--before", "2100-01-01", "--store", store, code=2)
    plan = json.loads(run("purge", "--before", "2100-01-01", "--dry-run", *at_store))
    purged = json.loads(run("purge", "--before", "2100-01-01", "--yes", *at_store))
    assert plan["spans"] == purged["spans"] == moved["spans"]
    assert purged["compacted"]
    assert json.loads(run("stats", *at_store))["archive"]["files"] == 0
    assert "Database written anew" in run("purge", "--compact", "--store", store)


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    for command in (
        ("archive", "--older-than", "1d"),
        ("purge", "--before", "1d", "--yes"),
        ("export", tmp_path / "x.duckdb"),
        ("stats",),
    ):
        run(*command, "--store", tmp_path / "none", code=2)
    assert list(tmp_path.iterdir()) == []
