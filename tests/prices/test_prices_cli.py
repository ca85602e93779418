"""`spanscore prices`, on no store and on a store."""

import csv
import io
import json

import duckdb
import pytest
from typer.testing import CliRunner

from spanscore.cli.prices import app
from spanscore.errors import StoreMissing
from spanscore.report.prices import print_checked_store
from spanscore.store.prices import check_store, price_session
from spanscore.store.session import ReadSession

STORED_CALLS = """
create or replace table llm_calls as
select * from (values
    ('1', 'openai', 'gpt-4o', timestamp_ns '2026-01-01 00:00:00', 1000, 100),
    ('2', 'openai', 'gpt-4o', timestamp_ns '2026-01-01 00:00:00', null, null),
    ('3', 'ollama', 'llama', timestamp_ns '2026-01-01 00:00:00', 1000, 100)
) as calls(llm_call_id, provider, request_model, started_at, input_tokens, output_tokens)
"""


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPANSCORE_PRICES", raising=False)
    monkeypatch.delenv("SPANSCORE_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_the_list_as_json_and_csv_has_the_same_rows(run):
    arguments = ("list", "--provider", "openai", "--model", "gpt-4o", "--date", "2026-01-01", "--format")

    as_json = json.loads(run(*arguments, "json").stdout)
    as_csv = list(csv.DictReader(io.StringIO(run(*arguments, "csv").stdout)))

    assert [row["model_id"] for row in as_json] == [row["model_id"] for row in as_csv]
    assert {row["model_id"]: row["input_mtok"] for row in as_json}["gpt-4o"] == 2.5
    assert list(as_json[0]) == list(as_csv[0])


def test_the_list_gives_the_price_of_the_day(run):
    rows = {
        day: json.loads(run("list", "--provider", "openai", "--model", "o3", "--date", day, "--format", "json").stdout)
        for day in ("2025-06-09", "2025-06-10")
    }

    prices = {day: next(row["input_mtok"] for row in found if row["model_id"] == "o3") for day, found in rows.items()}
    assert prices == {"2025-06-09": 10.0, "2025-06-10": 2.0}


def test_a_table_names_prices_and_tiers(run):
    shown = run("list", "--model", "gemini-2.5-pro", "--provider", "google")

    assert shown.exit_code == 0
    assert "200,000" in shown.stdout
    assert "$1.25" in shown.stdout


def test_a_model_is_checked(run):
    found = run("check", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "--provider", "strands-agents")
    unknown = run("check", "no-such-model", "--format", "json")

    assert (found.exit_code, unknown.exit_code) == (0, 1)
    assert "aws / " in found.stdout
    assert "$3.30 per million tokens" in found.stdout
    assert json.loads(unknown.stdout)["unpriced_reason"] == "unknown_model"


def test_own_prices_are_taken_from_option_and_environment(run, tmp_path, monkeypatch):
    (tmp_path / "own.csv").write_text("model,input_mtok,output_mtok\nno-such-model,0.125,0.25\n", encoding="utf-8")

    by_option = run("check", "no-such-model", "--prices", "own.csv")
    monkeypatch.setenv("SPANSCORE_PRICES", "own.csv")
    by_environment = run("check", "no-such-model")

    assert "$0.125 per million tokens" in by_option.stdout
    assert by_environment.stdout == by_option.stdout


def test_a_bad_day_is_a_usage_error(run):
    assert run("list", "--date", "yesterday").exit_code == 2


def test_the_models_of_a_store_are_checked(tmp_path, capsys, monkeypatch):
    """The store's calls have only some of the columns that pricing reads: the others were not reported."""
    monkeypatch.setenv("COLUMNS", "200")
    with duckdb.connect() as calls, price_session() as con:
        calls.execute(STORED_CALLS)
        checked = check_store(con, ReadSession(calls, tmp_path / "spanscore.duckdb", None))

    rows = {(row["request_model"], row["unpriced_reason"]): row for row in checked}
    assert len(rows) == len(checked) == 3
    assert rows["gpt-4o", None]["cost_usd"] == pytest.approx(0.0035)
    assert rows["gpt-4o", "no_usage"]["cost_usd"] is None
    assert rows["llama", "self_hosted"]["llm_calls"] == 1
    print_checked_store(checked, "text")
    shown = capsys.readouterr()
    assert "openai / gpt-4o" in shown.out
    assert "self_hosted: a server of one's own" in shown.err


def test_a_check_of_no_store_says_so(run):
    assert isinstance(run("check", "--store", "none").exception, StoreMissing)
