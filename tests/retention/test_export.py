"""A copy has what was asked for, opens without spanscore, and replaces nothing by itself."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from spanscore.errors import UsageError
from spanscore.ingest import ingest_files
from spanscore.retention.archive import archive_store
from spanscore.store import derive, read_session
from spanscore.store.evaluation import Scope
from spanscore.store.exporting import Selection, export_database, export_parquet

DEMO = Path(derive.__file__).parents[1] / "demo_data"
EVERYTHING = Selection(scope=Scope())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures, one of them archived."""
    directory = tmp_path_factory.mktemp("exported") / "store"
    ingest_files([DEMO / "openai-content-in-logs.traces.pb.gz", DEMO / "openai-content-in-logs.logs.pb.gz"], directory)
    archive_store(directory, dt.datetime.fromisoformat("2100-01-01"))
    ingest_files([DEMO / "openai-agents-handoffs.traces.jsonl.gz"], directory)
    return directory


def ask(store: Path, query: str) -> list[tuple[Any, ...]]:
    with read_session(store) as session:
        return session.rows(query)


def test_a_database_has_every_row_type_and_comment(store, tmp_path):
    target = tmp_path / "copy.duckdb"
    tables = export_database(store, target, EVERYTHING)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.duckdb"]
    with duckdb.connect(str(target), read_only=True) as copy:
        for table in ("spans", "log_records", "runs", "messages", "tool_calls", "resources"):
            query = f"select count(*), bit_xor(hash(t::varchar)) from (select t::varchar as t from {table} as t)"
            assert copy.execute(query).fetchall() == ask(store, query), table
        uncommented = copy.execute(
            "select table_name, column_name from duckdb_columns() "
            "where not internal and comment is null and table_name <> 'export_facts'"
        ).fetchall()
        assert uncommented == []
        assert copy.execute("select typeof(attributes) from spans limit 1").fetchall() == [("MAP(VARCHAR, VARIANT)",)]
    assert {"pending_traces", "archive_files", "schema_migrations"}.isdisjoint({one.table for one in tables})


def test_plain_attributes_are_json(tmp_path):
    values = {
        "n": {"intValue": str(2**63 - 1)},
        "nan": {"doubleValue": "NaN"},
        "inf": {"doubleValue": "-Infinity"},
        "raw": {"bytesValue": "/wA="},
        "none": {},
        "t": {"stringValue": "x"},
    }
    attributes = [{"key": key, "value": value} for key, value in values.items()]
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "chat", "attributes": attributes}
    log = {"body": {"bytesValue": "/w=="}, "timeUnixNano": "1"}
    (tmp_path / "in.jsonl").write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
        + "\n"
        + json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]})
    )
    ingest_files([tmp_path / "in.jsonl"], tmp_path / "store")
    export_parquet(tmp_path / "store", tmp_path / "tables", EVERYTHING)

    rows = duckdb.sql(f"select attributes from '{tmp_path}/tables/spans.parquet'").fetchall()
    expected = {"n": 2**63 - 1, "nan": "NaN", "inf": "-Infinity", "raw": "/wA=", "none": None, "t": "x"}
    assert json.loads(rows[0][0]) == expected
    assert duckdb.sql(f"select body from '{tmp_path}/tables/log_records.parquet'").fetchall() == [('"/w=="',)]
    ((meanings,),) = duckdb.sql(
        f"select decode(value) from parquet_kv_metadata('{tmp_path}/tables/spans.parquet') "
        "where decode(key) = 'spanscore_columns'"
    ).fetchall()
    assert json.loads(meanings)["span_id"].startswith("Span")


def test_a_filter_takes_runs_with_their_traces(store, tmp_path):
    ((run_id, trace_id),) = ask(store, "select run_id, trace_id from runs order by run_id limit 1")
    target = tmp_path / "one.duckdb"
    export_database(store, target, Selection(scope=Scope(), traces=(trace_id,)), is_plain=True)

    with duckdb.connect(str(target), read_only=True) as copy:
        assert copy.execute("select distinct trace_id from spans").fetchall() == [(trace_id,)]
        assert (run_id,) in copy.execute("select run_id from runs").fetchall()
        assert copy.execute("select count(*) from llm_calls").fetchall() == ask(
            store, f"select count(*) from llm_calls where run_id = '{run_id}'"
        )
        unused = "select count(*) from resources where resource_id not in (select resource_id from spans)"
        assert copy.execute(unused).fetchall() == [(0,)]

    export_database(store, target, Selection(scope=Scope(source="benchmark")), replace=True)
    with duckdb.connect(str(target), read_only=True) as copy:
        assert copy.execute("select count(*) from spans").fetchall() == [(0,)]


def test_nothing_is_replaced_without_being_told(store, tmp_path):
    target = tmp_path / "mine.duckdb"
    target.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        export_database(store, target, EVERYTHING)
    (tmp_path / "spans.parquet").write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        export_parquet(store, tmp_path, EVERYTHING)
    with pytest.raises(UsageError, match="No trace and no run"):
        export_database(store, target, Selection(scope=Scope(), traces=("feed",)), replace=True)

    assert target.read_text() == "mine"
    assert (tmp_path / "spans.parquet").read_text() == "mine"
    export_database(store, target, EVERYTHING, replace=True)
    export_parquet(store, tmp_path, EVERYTHING, replace=True)
    assert duckdb.sql(f"select count(*) > 0 from '{tmp_path}/spans.parquet'").fetchall() == [(True,)]
    assert not list(tmp_path.glob("*.tmp*"))
