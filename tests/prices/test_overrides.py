"""The user's own prices: what a file may say, where it is found, and that it wins."""

import datetime as dt
import re

import duckdb
import pytest

from spanscore.errors import UsageError
from spanscore.store.price_overrides import PriceOverride, find_price_file, read_price_overrides
from spanscore.store.prices import install_prices

CALL = {
    "llm_call_id": "a",
    "provider": "openai",
    "request_model": "gpt-4o-2024-08-06",
    "at": dt.datetime(2026, 6, 1, tzinfo=dt.UTC),
    "input_tokens": 1_000_000,
    "output_tokens": 0,
}
HEADER = "provider,model,valid_from,input_mtok,output_mtok,cache_read_mtok\n"


def read(tmp_path, text):
    path = tmp_path / "prices.csv"
    path.write_text(text, encoding="utf-8")
    return read_price_overrides(path)


def test_a_file_is_read(tmp_path):
    text = "# ours\n\n" + HEADER + "Azure, My-Deployment ,2026-01-01,2.00,8,\n,own,,0,0,\n"

    assert read(tmp_path, text) == [
        PriceOverride("azure", "my-deployment", dt.date(2026, 1, 1), {"input_mtok": 2.0, "output_mtok": 8.0}),
        PriceOverride(None, "own", None, {"input_mtok": 0.0, "output_mtok": 0.0}),
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (",m,,-1,1,", "input_mtok `-1` is no price"),
        (",m,,nan,1,", "input_mtok `nan` is no price"),
        (",m,,1,inf,", "output_mtok `inf` is no price"),
        (",m,,1,1e999,", "output_mtok `1e999` is no price"),
        (",m,,1.5 USD,1,", "input_mtok `1.5 USD` is no price"),
        (",,,1,1,", "`model` is empty"),
        (",m,2026-02-30,1,1,", "valid_from `2026-02-30` is no day"),
        (",m,,,,", "the row has no price"),
        (",m,,1,1", "5 cells under 6 columns"),
        (",m,,,1,0.5", "cache_read_mtok needs input_mtok"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, complaint):
    with pytest.raises(UsageError) as refusal:
        read(tmp_path, HEADER + ",good,,1,1,\n" + line + "\n")

    assert f"prices.csv:3: {complaint}" in str(refusal.value)


def test_every_bad_line_is_named_at_once(tmp_path):
    with pytest.raises(UsageError) as refusal:
        read(tmp_path, HEADER + ",a,,-1,1,\n,b,,1,1,\n,c,,1,nan,\n")

    assert re.findall(r"prices\.csv:(\d+): ", str(refusal.value)) == ["2", "4"]


def test_two_prices_from_the_same_day_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"prices.csv:3: line 2 already prices `m` from the same day"):
        read(tmp_path, HEADER + "openai,M,2026-01-01,1,1,\nOpenAI,m,2026-01-01,2,2,\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("model,price\nm,1\n", "unknown column `price`"),
        ("provider,input_mtok\no,1\n", "no column `model`"),
        ("model,valid_from\nm,\n", "no price column"),
        ("model,model,input_mtok\na,b,1\n", "column `model` is there twice"),
        ("", "no column `model`"),
    ],
)
def test_a_bad_header_is_refused(tmp_path, text, complaint):
    with pytest.raises(UsageError, match=complaint):
        read(tmp_path, text)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_price_overrides(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("rows", "cost_usd", "matched_by"),
    [
        ("openai,gpt-4o-2024-08-06,,1,1,\n", 1.0, "override"),
        (",gpt-4o-2024-08-06,,1,1,\n", 1.0, "override"),
        (",gpt-4o,,1,1,\n", 1.0, "override_base_name"),
        (",gpt-4o-2024-08-06,,1,1,\nopenai,gpt-4o-2024-08-06,,7,7,\n", 7.0, "override"),
        ("azure,gpt-4o-2024-08-06,,1,1,\n", 2.5, "provider"),
        (",gpt-4o-2024-08-06,2026-06-01,1,1,\n", 1.0, "override"),
        (",gpt-4o-2024-08-06,2026-06-02,1,1,\n", 2.5, "provider"),
        (
            ",gpt-4o-2024-08-06,,1,1,\n,gpt-4o-2024-08-06,2026-01-01,3,3,\n,gpt-4o-2024-08-06,2027-01-01,9,9,\n",
            3.0,
            "override",
        ),
    ],
)
def test_an_override_wins_where_it_applies(price_with, rows, cost_usd, matched_by):
    priced = price_with(HEADER + rows, [CALL])["a"]

    assert (priced["cost_usd"], priced["price_matched_by"]) == (cost_usd, matched_by)


def test_an_override_names_a_listed_model_by_its_id(price_with):
    """The trace says `models/gemini-2.5-pro-preview-05-06`, the price list and the file `gemini-2.5-pro`."""
    call = {**CALL, "provider": "gcp.gemini", "request_model": "models/gemini-2.5-pro-preview-05-06"}

    priced = price_with(HEADER + "google,gemini-2.5-pro,,1,1,\n", [call])["a"]

    assert (priced["cost_usd"], priced["price_matched_by"]) == (1.0, "override")


def test_an_override_leaves_nothing_of_the_listed_price(price_with):
    """Cached tokens without a price of their own cost the override's input price, not the list's cache price."""
    priced = price_with(HEADER + ",gpt-4o-2024-08-06,,1,1,\n", [{**CALL, "cache_read_tokens": 900_000}])["a"]

    assert priced["cost_usd"] == 1.0


def test_prices_are_installed_once_and_again_when_the_overrides_change(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(HEADER + ",m,,1,1,\n", encoding="utf-8")
    con = duckdb.connect()

    first, second = install_prices(con, path), install_prices(con, path)
    path.write_text(HEADER + ",m,,2,2,\n", encoding="utf-8")
    changed = install_prices(con, path)
    without = install_prices(con)

    assert [result.changed for result in (first, second, changed, without)] == [True, False, True, True]
    assert [result.overrides for result in (first, second, changed, without)] == [2, 2, 2, 0]
    assert con.sql("select count(*) from model_prices where source = 'override'").fetchall() == [(0,)]
    assert con.sql("select count(*) from price_snapshot").fetchall() == [(1,)]


def test_an_installation_that_was_cut_short_is_done_again():
    con = duckdb.connect()
    install_prices(con)
    con.execute("delete from price_snapshot")

    assert install_prices(con).changed


def test_where_the_price_file_is_found(tmp_path):
    settings = tmp_path / "spanscore.toml"
    option = tmp_path / "option.csv"

    assert find_price_file(None, environ={}, folder=tmp_path) is None
    settings.write_text("[evaluators]\npaths = []\n", encoding="utf-8")
    assert find_price_file(None, environ={}, folder=tmp_path) is None
    settings.write_text('[prices]\nfile = "own.csv"\n', encoding="utf-8")
    assert find_price_file(None, environ={}, folder=tmp_path) == tmp_path / "own.csv"
    assert find_price_file(None, environ={"SPANSCORE_PRICES": "env.csv"}, folder=tmp_path) == tmp_path / "env.csv"
    assert find_price_file(option, environ={"SPANSCORE_PRICES": "env.csv"}, folder=tmp_path) == option


@pytest.mark.parametrize("text", ["[prices]\nfile = 3\n", '[prices]\nfiles = "x"\n', "prices = 1\n", "[prices\n"])
def test_bad_settings_are_refused(tmp_path, text):
    (tmp_path / "spanscore.toml").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"spanscore\.toml"):
        find_price_file(None, environ={}, folder=tmp_path)
