"""`spanscore sql`: exact values out, nothing in."""

import csv
import io
import json
import subprocess
import time

import pyarrow.parquet as pq
import pytest
from commands import run, start


def sql(store, query, *words):
    return run("sql", query, "--store", store, *words)


def rows(store, query, *words):
    ended = sql(store, query, "--format", "json", *words)
    assert ended.code == 0, ended.err
    return ended.document


def test_json_is_one_array_of_row_objects(store):
    assert rows(store, "select 1 as a, 'x' as b union all select 2, null order by a") == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": None},
    ]


def test_json_without_rows_is_an_empty_array(store):
    assert rows(store, "select 1 as a where false") == []


def test_integers_are_exact_however_large(store):
    (row,) = rows(store, "select 9007199254740993 as past_double, sum(9223372036854775807) as huge from range(3)")

    assert row == {"past_double": 9007199254740993, "huge": 3 * 9223372036854775807}


def test_a_number_that_is_not_finite_is_null(store):
    (row,) = rows(store, "select 'nan'::double as a, 'infinity'::double as b, 0.1 as c, [1.5, 'nan'::double] as d")

    assert row == {"a": None, "b": None, "c": 0.1, "d": [1.5, None]}


def test_moments_are_iso_in_utc_to_the_nanosecond(store):
    (row,) = rows(store, "select make_timestamp_ns(1795984036059827201) as ns, timestamp '2026-11-29 08:00:00' as s")

    assert row == {"ns": "2026-11-29T20:27:16.059827201Z", "s": "2026-11-29T08:00:00Z"}


def test_nested_values_stay_nested(store):
    (row,) = rows(store, "select {'a': [1, 2]} as s, map {'k': 1::bigint} as m, '\\x00ff'::blob as b")

    assert row["s"] == {"a": [1, 2]}
    assert row["m"] == {"k": 1}
    assert isinstance(row["b"], str)


def test_json_columns_and_variants_are_nested(store):
    query = """select '{"a": [1, 18446744073709551616]}'::json as j, '{"b": 2}'::json::variant as v, 1.10 as d"""
    (row,) = rows(store, query)

    assert row == {"j": {"a": [1, 18446744073709551616]}, "v": {"b": 2}, "d": 1.1}


def test_columns_of_one_name_are_both_kept(store):
    (row,) = rows(store, "select 1 as n, 2 as n")

    assert sorted(row.values()) == [1, 2]


def test_json_escapes_what_a_terminal_would_obey(store):
    ended = sql(store, "select chr(155) || '2J' || chr(8238) || chr(27) || chr(917569) as x", "--format", "json")

    assert not {"\x1b", "\x9b", "\u202e", "\U000e0041"} & set(ended.out)
    assert ended.document == [{"x": "\x9b2J\u202e\x1b\U000e0041"}]


def test_the_limit_is_told(store):
    ended = sql(store, "from range(10)", "--limit", "3", "--format", "json")

    assert len(ended.document) == 3
    assert "--limit" in ended.err
    assert sql(store, "from range(3)", "--limit", "3").err == ""


def test_a_table_ends_at_200_rows_unless_told_otherwise(store):
    assert "200 rows" in sql(store, "from range(201)").out
    assert "201 rows" in sql(store, "from range(201)", "--limit", "300").out
    assert len(rows(store, "from range(5000)")) == 5000


def test_csv_is_csv_and_runs_no_formula(store):
    query = "select '=1+1' as f, 'a,\"b\"' as q, null as n, -5 as i, '-5' as t, true as yes"

    parsed = list(csv.reader(io.StringIO(sql(store, query, "--format", "csv").out)))
    raw = list(csv.reader(io.StringIO(sql(store, query, "--format", "csv", "--csv-raw").out)))

    assert parsed == [["f", "q", "n", "i", "t", "yes"], ["'=1+1", 'a,"b"', "", "-5", "'-5", "true"]]
    assert raw[1][0] == "=1+1"


def test_parquet_goes_to_a_file(store, tmp_path):
    ended = sql(store, "from range(10)", "--format", "parquet", "--output", tmp_path / "out.parquet")

    assert ended.code == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 10
    assert ended.out == ""


def test_parquet_may_go_into_a_pipe(store):
    process = start("sql", "from range(10)", "--format", "parquet", "--store", store)
    out, err = process.communicate(timeout=30)

    assert process.returncode == 0, err
    assert pq.read_table(io.BytesIO(out)).num_rows == 10


def test_a_failed_query_leaves_no_file(store, tmp_path):
    ended = sql(
        store, "select error('x') from range(3)", "--format", "json", "--output", tmp_path / "out.json"
    )  # fmt: skip

    assert ended.code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_exit_2(store, tmp_path):
    for form in ("json", "parquet"):
        ended = sql(store, "select 1", "--format", form, "--output", tmp_path / "no" / "such" / "folder.out")
        assert ended.code == 2
        assert "cannot be written" in ended.err


def test_a_query_may_come_from_a_file(store, tmp_path):
    (tmp_path / "q.sql").write_text("-- a comment\nselect 41 + 1 as n;\n", encoding="utf-8")

    ended = run("sql", "-f", tmp_path / "q.sql", "--store", store, "--format", "json")

    assert ended.document == [{"n": 42}]


@pytest.mark.parametrize(
    "words", [[], ["select 1", "-f", "q.sql"], ["select 1", "--example", "slowest_tools"]], ids=str
)
def test_exactly_one_query_is_needed(store, words):
    assert run("sql", *words, "--store", store).code == 2


def test_a_file_that_cannot_be_read_is_told_in_words(store, tmp_path):
    (tmp_path / "latin.sql").write_bytes(b"select '\xe9'")

    assert "`nowhere.sql` cannot be read: No such file or directory." in run("sql", "-f", "nowhere.sql").err
    assert "is not UTF-8" in run("sql", "-f", tmp_path / "latin.sql", "--store", store).err


def test_without_a_terminal_the_query_comes_from_standard_input(store):
    process = start("sql", "--store", store, "--format", "json", stdin=subprocess.PIPE)
    out, err = process.communicate(b"select 41 + 1 as n;", timeout=60)

    assert (process.returncode, json.loads(out)) == (0, [{"n": 42}]), err


def test_saved_queries_are_listed_and_run(store):
    listed = run("sql", "--list", "--format", "json").document
    shown = run("sql", "--list")

    assert {"name", "question", "columns", "sql"} == listed[0].keys()
    assert "slowest_tools" in shown.out
    assert "Which tools are slowest?" in shown.out
    assert "tool_name" in run("sql", "--example", "slowest_tools", "--store", store).out
    assert "There is no saved query `../runs`" in run("sql", "--example", "../runs", "--store", store).err


def test_a_reader_that_has_enough_ends_the_query(store):
    process = start("sql", "--store", store, "--format", "csv", "from range(1000000000)")
    assert process.stdout.readline() == b"range\n"
    began = time.monotonic()
    process.stdout.close()
    process.wait(60)

    assert process.returncode == 141
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    "query",
    [
        "",
        "selekt 1",
        "select nothing from runs",
        "select 1; select 2",
        "insert into runs (run_id) values ('x')",
        "delete from spans",
        "drop table spans",
        "create table x as select 1",
        "attach 'x.db'",
        "copy spans to 'out.csv'",
        "set memory_limit = '1GB'",
        "pragma version",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "install httpfs",
    ],
)
def test_what_is_wrong_or_not_allowed_is_exit_2_without_traceback(store, query):
    ended = sql(store, query, "--format", "json")

    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert ended.err.startswith("spanscore: ")


def test_a_query_that_runs_too_long_is_stopped(store):
    ended = sql(store, "select count(*) from range(100000000) a, range(100000) b", "--timeout", "0.2")

    assert ended.code == 3
    assert "--timeout" in ended.err


def test_an_unknown_format_is_exit_2(store):
    assert sql(store, "select 1", "--format", "xml").code == 2


def test_the_tables_of_the_trajectory_answer(store):
    counted = rows(store, "select count(*) as n from llm_calls join runs using (run_id)")

    assert counted[0]["n"] > 10


def test_a_table_shows_null_as_a_dash_and_cuts_long_values(store):
    shown = sql(store, "select null as nothing, repeat('x', 1000000) as long, 5 as five").out

    assert "xxx…" in shown
    assert len(shown) < 5000
    assert json.dumps("x" * 200) not in shown
