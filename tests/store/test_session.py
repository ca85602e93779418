"""Reading sessions: what a query may do, and that nothing else works."""

from __future__ import annotations

import hashlib
import math
import shutil
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from spanscore.errors import QueryError, QueryTimeout
from spanscore.store import ReadSession, Store, read_session, run_arrow_query, run_query


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory, make_tables: Any) -> Path:
    directory = tmp_path_factory.mktemp("session")
    with Store.open(directory) as store:
        store.load(
            make_tables(
                [{"attributes": {"n": 2**63 - 1, "nan": math.nan, "list": {"json_value": "[1]"}}}],
                logs=[{"body": {"json_value": '{"a": [1, 2]}'}}],
            ),
            source="test",
        )
    return directory


@pytest.fixture(scope="module")
def session(directory: Path) -> Any:
    with read_session(directory, threads=1) as opened:
        yield opened


@pytest.fixture
def copy(directory: Path, tmp_path: Path) -> Path:
    """The same store elsewhere: one process cannot open one file with two sets of limits."""
    return Path(shutil.copytree(directory, tmp_path / "copy"))


ATTACKS = {
    "reads a file": "select * from read_text('/etc/passwd')",
    "reads a file by name": "select * from '/etc/passwd'",
    "reads a csv": "select * from read_csv('/etc/passwd')",
    "reads a blob": "select * from read_blob('/etc/passwd')",
    "lists files": "select * from glob('/*')",
    "sniffs a file": "select * from sniff_csv('/etc/passwd')",
    "reads parquet metadata": "select * from parquet_metadata('/etc/passwd')",
    "reads a file in a query string": "select * from query('select * from read_text(''/etc/passwd'')')",
    "reads a file from serialized SQL": (
        "select * from json_execute_serialized_sql(json_serialize_sql('select * from read_text(''/etc/passwd'')'))"
    ),
    "fetches": "select * from read_text('https://example.invalid/x')",
    "copies out": "copy spans to 'stolen.csv'",
    "exports": "export database 'stolen'",
    "attaches": "attach 'other.duckdb'",
    "attaches memory": "attach ':memory:' as m",
    "installs": "install httpfs",
    "loads": "load httpfs",
    "sets": "set memory_limit = '100GB'",
    "unlocks": "set lock_configuration = false",
    "resets": "reset memory_limit",
    "lets itself out": "set enable_external_access = true",
    "logs queries": "set log_query_path = 'stolen.log'",
    "pragma": "pragma enable_profiling",
    "calls": "call pragma_version()",
    "two statements": "select 1; select 2",
    "hidden second statement": "select 1; drop table spans",
    "no statement": "-- nothing",
    "inserts": "insert into pending_traces (trace_id) values ('x')",
    "deletes": "delete from spans",
    "deletes in a CTE": "with gone as (delete from spans returning *) select * from gone",
    "inserts in a CTE": "with new as (insert into store_meta values ('x', 'y') returning *) select * from new",
    "drops": "drop table spans",
    "creates": "create table mine (a integer)",
    "creates temporarily": "create temp table mine (a integer)",
    "shadows": "create temp view spans as select 1",
    "shadows a function": "create temp macro sum(x) as 0",
    "begins": "begin transaction",
    "checkpoints": "checkpoint",
    "explains analyzed": "explain analyze delete from spans",
    "pivots": "pivot spans on kind",
    "prepares": "prepare p as select 1",
    "reads a Python variable": "select * from secret_rows",
    "reads an environment variable": "select getenv('HOME')",
}


def fingerprint(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


WAYS: dict[str, Callable[[ReadSession, str], object]] = {
    "rows": lambda session, sql: session.rows(sql),
    "arrow": lambda session, sql: session.arrow(sql),
    "run_query": lambda session, sql: list(run_query(session, sql).rows),
    "run_arrow_query": lambda session, sql: run_arrow_query(session, sql).table(),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_and_the_store_unchanged(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    monkeypatch.chdir(tmp_path)
    secret_rows = [("secret",)]
    before = fingerprint(directory)
    with read_session(directory, threads=1) as session:
        for run in WAYS.values():
            with pytest.raises(QueryError) as refused:
                run(session, ATTACKS[attack])
            assert refused.value.exit_code == 2
        assert session.rows("select count(*) from spans") == [(1,)]

    assert fingerprint(directory) == before
    assert list(tmp_path.iterdir()) == []
    assert secret_rows


@pytest.mark.parametrize(
    "sql",
    [
        "from spans",
        "table spans",
        "values (1)",
        "describe spans",
        "summarize spans",
        "show tables",
        "with a as (select 1 as x) select x from a",
        "select 1 as a -- and a remark",
        "select 1 as a;",
        "select ';' as a; -- done",
        "select count(*) from spans union all select count(*) from log_records order by 1 limit 1",
    ],
)
def test_whatever_only_selects_is_allowed(session: ReadSession, sql: str) -> None:
    assert len(list(run_query(session, sql).rows)) >= 1
    assert run_arrow_query(session, sql).table().num_rows >= 1


def test_a_remark_after_the_statement_does_not_swallow_the_wrapping(session: ReadSession) -> None:
    result = run_query(session, "select start_time from spans; -- moments")

    assert list(result.rows) == [("2023-11-14T22:13:20.123456789Z",)]


EXACT = [
    ("170141183460469231731687303715884105727::hugeint", 2**127 - 1),
    ("340282366920938463463374607431768211455::uhugeint", 2**128 - 1),
    ("9223372036854775807", 2**63 - 1),
    ("1.10::decimal(38, 2)", Decimal("1.10")),
    ("timestamp_ns '2023-11-14 22:13:20.123456789'", "2023-11-14T22:13:20.123456789Z"),
    ("timestamp '2023-11-14 22:13:20.5'", "2023-11-14T22:13:20.5Z"),
    ("timestamptz '2023-11-14 22:13:20+02'", "2023-11-14T20:13:20Z"),
    ("timestamp 'infinity'", "infinity"),
    ("date '2023-11-14'", "2023-11-14"),
    ("time '22:13:20.000001'", "22:13:20.000001"),
    ("interval '14 months'", "1 year 2 months"),
    ("'\\xAB\\x00'::blob", b"\xab\x00"),
    ("null", None),
    ("false", False),
    ("'x' || chr(0)", "x\0"),
    ("{'a': [1, 2], 'b': {'c': null}}", {"a": [1, 2], "b": {"c": None}}),
    ("map {'k': 9223372036854775807::variant}", {"k": 2**63 - 1}),
    ("'{\"a\": 18446744073709551616}'::json", '{"a": 18446744073709551616}'),
    ("[timestamp_ns '2023-11-14 22:13:20.123456789']", '["2023-11-14 22:13:20.123456789"]'),
]


@pytest.mark.parametrize(("expression", "value"), EXACT)
def test_values_are_exact(session: ReadSession, expression: str, value: object) -> None:
    ((found,),) = run_query(session, f"select {expression} as value").rows

    assert found == value
    assert type(found) is type(value)


def test_names_are_made_unique(session: ReadSession) -> None:
    result = run_query(session, "select 1 as a, 2 as a, 3 as a_1, 4 as a")

    assert [column.name for column in result.columns] == ["a", "a_1", "a_1_1", "a_2"]
    assert list(result.rows) == [(1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("limit", "rows", "is_truncated"), [(0, 0, True), (2, 2, True), (3, 3, False), (None, 3, False)]
)
def test_the_limit_cuts_and_says_so(session: ReadSession, limit: int | None, rows: int, is_truncated: bool) -> None:
    result = run_query(session, "select * from range(3)", limit=limit)

    assert len(list(result.rows)) == rows
    assert result.is_truncated is is_truncated
    assert run_arrow_query(session, "select * from range(3)", limit=limit).table().num_rows == rows


def test_a_limit_reads_no_more_than_it_gives(session: ReadSession) -> None:
    started = time.monotonic()
    rows = list(run_query(session, "select i from range(1000000000000) as t(i)", limit=5).rows)

    assert rows == [(0,), (1,), (2,), (3,), (4,)]
    assert time.monotonic() - started < 5


def test_the_order_of_the_query_is_kept_when_it_is_wrapped(session: ReadSession) -> None:
    sql = "select timestamp '2020-01-01' + to_seconds(i) as at, i from range(5000) as t(i) order by i % 7, i desc"
    found = [i for _, i in run_query(session, sql).rows]

    assert found == sorted(range(5000), key=lambda i: (i % 7, -i))


def test_every_type_goes_to_parquet(session: ReadSession, tmp_path: Path) -> None:
    expressions = ", ".join(f"{expression} as c{i}" for i, (expression, _) in enumerate(EXACT) if i != 0)
    table = run_arrow_query(session, f"select 5::hugeint as h, {expressions}, 1.5 as x from spans").table()
    pq.write_table(table, tmp_path / "out.parquet")
    with duckdb.connect() as connection:
        back = connection.execute(
            "select h, c2, c4::varchar, c16 from read_parquet(?)", [str(tmp_path / "out.parquet")]
        )

        assert back.fetchall() == [(5, 2**63 - 1, "2023-11-14 22:13:20.123456789", '{"k":9223372036854775807}')]


def test_whole_spans_go_to_parquet(session: ReadSession, tmp_path: Path) -> None:
    pq.write_table(run_arrow_query(session, "from spans").table(), tmp_path / "spans.parquet")

    assert pq.read_table(tmp_path / "spans.parquet").num_rows == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from range(1000000000) as a, range(1000000000) as b",
        "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r",
    ],
)
def test_a_query_ends_at_its_time_limit(copy: Path, sql: str) -> None:
    started = time.monotonic()
    with read_session(copy, timeout_s=0.5) as session:
        with pytest.raises(QueryTimeout, match=r"0\.5 s"):
            list(run_query(session, sql).rows)
        assert session.rows("select 1") == [(1,)]

    assert time.monotonic() - started < 10


def test_memory_is_bounded_and_nothing_spills(copy: Path) -> None:
    with read_session(copy, memory_limit="64MiB", threads=1) as session, pytest.raises(QueryError, match="memory"):
        session.rows("select list(i order by hash(i)) from range(20000000) as t(i)")

    assert [path.name for path in copy.iterdir()] == ["spanscore.duckdb"]


def test_parameters_are_bound_and_never_spliced(session: ReadSession) -> None:
    text = "'; drop table spans; --"

    assert session.rows("select $text", {"text": text}) == [(text,)]
    assert session.arrow("select ? as text", [text]).to_pylist() == [{"text": text}]


def test_a_mistake_in_a_query_is_told_in_duckdbs_words(session: ReadSession) -> None:
    with pytest.raises(QueryError, match="nowhere does not exist"):
        session.rows("select * from nowhere")
    with pytest.raises(QueryError, match="syntax error"):
        session.rows("selekt 1")
