"""`spanscore traces`: the list, its filters and its formats."""

import csv
import io

import pytest
from commands import HANDOFFS_TRACE, run


def rows(store, *words):
    ended = run("traces", "--store", store, "--format", "json", *words)
    assert ended.code == 0, ended.err
    return ended.document


def test_json_has_one_object_per_run(store):
    listed = rows(store)

    assert len(listed) == 5
    wanted = {"run_id", "trace_id", "started_at", "status", "question", "cost_usd", "unpriced_llm_calls", "handoffs"}
    assert wanted <= set(listed[0])
    assert all(row["started_at"].endswith("Z") and len(row["started_at"]) == 30 for row in listed)


def test_newest_first_and_oldest_on_request(store):
    newest = [row["started_at"] for row in rows(store)]

    assert newest == sorted(newest, reverse=True)
    assert [row["started_at"] for row in rows(store, "--sort", "oldest")] == newest[::-1]


@pytest.mark.parametrize(
    ("sort", "column"), [("duration", "duration_s"), ("errors", "tool_errors"), ("cost", "cost_usd")]
)
def test_sorting_puts_the_largest_first_and_the_unknown_last(store, sort, column):
    values = [row[column] for row in rows(store, "--sort", sort)]

    known = [value for value in values if value is not None]
    assert values == sorted(known, reverse=True) + [None] * (len(values) - len(known))


def test_filters_narrow_the_list(store):
    everything = rows(store)

    assert [row["trace_id"] for row in rows(store, "--agent", "researcher")] == [HANDOFFS_TRACE]
    assert {row["status"] for row in rows(store, "--status", "error")} == {"error"}
    assert rows(store, "--service", "nobody") == []
    assert len(rows(store, "--source", "production")) == len(everything)
    assert rows(store, "--source", "benchmark") == []
    assert len(rows(store, "--limit", "2")) == 2
    assert rows(store, "--min-cost", "1000000") == []


def test_the_question_is_searched_without_regard_to_case(store):
    (found,) = rows(store, "--contains", "UNITS OF A-113")

    assert found["trace_id"] == HANDOFFS_TRACE


def test_since_takes_an_age_or_a_moment(store):
    started = sorted(row["started_at"] for row in rows(store))

    assert len(rows(store, "--since", started[1])) == len(started) - 1
    assert len(rows(store, "--since", "2000-01-01")) == len(started)
    assert rows(store, "--since", "0s") == []


def test_the_table_shows_what_identifies_a_run(store):
    wide = run("traces", "--store", store, width=170)

    assert wide.code == 0
    assert HANDOFFS_TRACE[:8] in wide.out
    assert "question" in wide.out
    assert max(map(len, wide.out.splitlines())) <= 170


def test_a_narrow_terminal_gets_fewer_columns_and_whole_ids(store):
    narrow = run("traces", "--store", store, width=100)

    assert HANDOFFS_TRACE[:8] in narrow.out
    assert "question" not in narrow.out
    assert max(map(len, narrow.out.splitlines())) <= 100


def test_a_list_that_ends_at_the_limit_says_so(store):
    assert "--limit 2" in run("traces", "--store", store, "--limit", "2").err
    assert run("traces", "--store", store).err == ""


def test_csv_has_a_header_and_one_line_per_run(store):
    ended = run("traces", "--store", store, "--format", "csv")

    parsed = list(csv.DictReader(io.StringIO(ended.out)))
    assert len(parsed) == 5
    assert HANDOFFS_TRACE in {row["trace_id"] for row in parsed}
    assert "run_id" in run("traces", "--store", store, "--format", "csv", "--agent", "nobody").out


def test_nothing_found_is_said_beside_the_output(store):
    ended = run("traces", "--store", store, "--agent", "nobody")

    assert ended.code == 0
    assert ended.out == ""
    assert "No run passes" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ["--since", "yesterday"],
        ["--since", "5 fortnights"],
        ["--since", "99999999999999d"],
        ["--status", "fine"],
        ["--sort", "colour"],
        ["--limit", "0"],
        ["--format", "xml"],
        ["--min-cost", "cheap"],
    ],
    ids=" ".join,
)
def test_a_value_that_means_nothing_is_exit_2(store, words):
    ended = run("traces", "--store", store, *words)

    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
