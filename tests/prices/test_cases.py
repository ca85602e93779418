"""Prices that other tools got wrong in public, with the right answer worked out by hand."""

import datetime as dt

import pytest

BEFORE_EVERYTHING = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
LAST_OLD_O3 = dt.datetime(2025, 6, 9, 23, 59, 59, 999999, tzinfo=dt.UTC)
OWN_PRICES = """provider,model,valid_from,input_mtok,output_mtok,cache_read_mtok,cache_write_mtok
,half-off,,1,2,0.1,
,thirty,,3,15,0.30,3.75
,two-twelve,,2,12,,
vendor,model-x,,5,25,,
,on-our-gpu,,0,0,,
,stepped,2026-01-01,2,10,,
,stepped,2026-09-01,3,15,,
"""


def call(provider=None, model=None, at=BEFORE_EVERYTHING, **counts):
    return {
        "llm_call_id": "a",
        "provider": provider,
        "response_model": model,
        "at": at,
        **{f"{name}_tokens" if name != "service_tier" else name: value for name, value in counts.items()},
    }


MILLION = 1_000_000
CASES = {
    "cached tokens are inside input": (call(model="half-off", input=1000, output=0, cache_read=900), 0.00019, None),
    "an exclusive count that was made inclusive": (
        call(model="thirty", input=39_019, output=0, cache_read=39_000),
        (19 * 3 + 39_000 * 0.30) / 1e6,
        None,
    ),
    "an exclusive count is refused, not clamped": (
        call(model="thirty", input=19, output=5, cache_read=39_000),
        None,
        "inconsistent_usage",
    ),
    "cache reads and writes are not output": (
        call(model="thirty", input=57_660, output=631, cache_read=35_574, cache_write=17_787),
        0.09973545,
        None,
    ),
    "reasoning is part of output": (
        call(model="two-twelve", input=0, output=1970, reasoning=956),
        1970 * 12 / 1e6,
        None,
    ),
    "reasoning beside the candidates was added to them": (
        call(model="two-twelve", input=324, output=1859, reasoning=495),
        0.022956,
        None,
    ),
    "more reasoning than output is refused": (
        call(model="two-twelve", input=324, output=300, reasoning=495),
        None,
        "inconsistent_usage",
    ),
    "a negative count is refused": (
        call(model="thirty", input=10, output=5, cache_read=-1),
        None,
        "inconsistent_usage",
    ),
    "the largest counts there are": (
        call(model="thirty", input=-(2**63), output=2**63 - 1, cache_read=2**63 - 1, cache_write=2**63 - 1),
        None,
        "inconsistent_usage",
    ),
    "an unknown model has no price": (call(model="no-such", input=1000, output=0), None, "unknown_model"),
    "a model priced 0 costs 0": (call(model="on-our-gpu", input=1000, output=10), 0.0, None),
    "a free model costs 0": (
        call("openrouter", "mistralai/mistral-7b-instruct:free", input=1000, output=10),
        0.0,
        None,
    ),
    "a model listed without a price is not free": (call("google", "gemma-3", input=1000, output=10), None, "no_price"),
    "a server of one's own has no list price": (
        call("ollama", "mistral-small", input=9, output=9),
        None,
        "self_hosted",
    ),
    "no name": (call("openai", "  ", input=9, output=9), None, "no_model"),
    "no time": (call("openai", "gpt-4o", at=None, input=9, output=9), None, "no_time"),
    "no usage": (call("openai", "gpt-4o"), None, "no_usage"),
    "half a usage": (call("openai", "gpt-4o", input=9), None, "no_usage"),
    "zero tokens cost zero": (call("openai", "gpt-4o", input=0, output=0), 0.0, None),
    "embeddings report no output": (call("openai", "text-embedding-3-small", input=MILLION), 0.02, None),
    "tokens the model has no price for": (
        call("openai", "text-embedding-3-small", input=9, output=9),
        None,
        "no_token_price",
    ),
    "the last second of the old price": (
        call(model="stepped", at=dt.datetime(2026, 8, 31, 23, 59, 59, tzinfo=dt.UTC), input=MILLION, output=100_000),
        3.00,
        None,
    ),
    "the first second of the new price": (
        call(model="stepped", at=dt.datetime(2026, 9, 1, tzinfo=dt.UTC), input=MILLION, output=100_000),
        4.50,
        None,
    ),
    "one-hour cache writes have their own price": (
        call("anthropic", "claude-sonnet-4-5", input=3000, output=0, cache_write=2000, cache_write_1h=500),
        (1000 * 3 + 1500 * 3.75 + 500 * 6) / 1e6,
        None,
    ),
    "at the tier": (call("google", "gemini-2.5-pro", input=200_000, output=1000), 0.2 * 1.25 + 0.01, None),
    "above the tier the whole call is dearer": (
        call("google", "gemini-2.5-pro", input=200_001, output=1000),
        0.200001 * 2.5 + 0.015,
        None,
    ),
    "the shipped price of the last second before a change": (
        call("openai", "o3", at=LAST_OLD_O3, input=MILLION, output=100_000),
        14.00,
        None,
    ),
    "the shipped price of the first second after it": (
        call("openai", "o3", at=dt.datetime(2025, 6, 10, tzinfo=dt.UTC), input=MILLION, output=100_000),
        2.80,
        None,
    ),
}


@pytest.mark.parametrize(("given", "cost_usd", "reason"), CASES.values(), ids=CASES.keys())
def test_cost(price_with, given, cost_usd, reason):
    priced = price_with(OWN_PRICES, [given])["a"]

    assert priced["unpriced_reason"] == reason
    assert priced["cost_usd"] == (None if cost_usd is None else pytest.approx(cost_usd, abs=1e-12))
    assert (priced["input_cost_usd"] is None) == (cost_usd is None)


@pytest.mark.parametrize(
    "name",
    ["vendor/model-x-20260205", "model-x-2026-02-05", "model-x@20260205", "model-x-latest"],
)
def test_an_override_is_found_without_the_date(price_with, name):
    priced = price_with(OWN_PRICES, [call("vendor", name, input=MILLION, output=MILLION)])["a"]

    assert (priced["cost_usd"], priced["price_matched_by"]) == (30.0, "override_base_name")


@pytest.mark.parametrize("name", ["gpt-4o-20990205", "gpt-4o-2099-02-05", "gpt-4o@20990205", "openai/gpt-4o-latest"])
def test_a_date_that_the_list_does_not_know_is_taken_off(price_them, name):
    priced = price_them([call("openai", name, input=MILLION, output=0)])["a"]

    assert (priced["cost_usd"], priced["price_model_id"], priced["price_matched_by"]) == (2.5, "gpt-4o", "base_name")


@pytest.mark.parametrize(
    ("provider", "model", "entry"),
    [
        ("strands-agents", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ("aws", "model")),
        ("langchain", "gpt-4o-mini", ("openai", "model")),
        ("gcp.vertex.agent", "gemini-2.5-flash", ("google", "model")),
        ("gcp.gemini", "models/gemini-2.5-pro", ("google", "provider")),
        ("litellm", "anthropic/claude-sonnet-4-5", ("anthropic", "model_prefix")),
        ("openai", "deepseek-chat", ("deepseek", "model")),
        ("x_ai", "grok-4.5", ("x-ai", "provider")),
        ("groq", "gpt-4o", (None, None)),
        ("openrouter", "deepseek/deepseek-r1-distill-new:free", (None, None)),
        ("langchain", "ollama/gpt-oss", (None, None)),
    ],
)
def test_provider_names_of_traces(price_them, provider, model, entry):
    priced = price_them([call(provider, model, input=1, output=1)])["a"]

    assert (priced["price_provider_id"], priced["price_matched_by"]) == entry


def test_the_response_model_goes_before_the_request_model(price_them):
    names = [("gpt-4o", "gpt-4o-mini"), ("gpt-4o", None), ("gpt-4o", "my-deployment")]
    calls = [
        {**call("openai", response, input=1, output=1), "request_model": request, "llm_call_id": str(number)}
        for number, (request, response) in enumerate(names)
    ]

    priced = price_them(calls)

    assert [priced[str(number)]["price_model_id"] for number in range(3)] == ["gpt-4o-mini", "gpt-4o", "gpt-4o"]


def test_a_service_tier_changes_the_price_from_the_day_it_is_listed(price_them):
    days = {
        "before": dt.datetime(2026, 10, 11, 23, 59, tzinfo=dt.UTC),
        "after": dt.datetime(2026, 10, 12, tzinfo=dt.UTC),
    }
    calls = [
        {**call("openai", "gpt-4.1", at, input=MILLION, output=0, service_tier=tier), "llm_call_id": f"{name} {tier}"}
        for name, at in days.items()
        for tier in ("default", "priority")
    ]

    priced = price_them(calls)

    assert {name: row["cost_usd"] for name, row in priced.items()} == {
        "before default": 2.0,
        "before priority": 2.0,
        "after default": 2.0,
        "after priority": 3.5,
    }


def test_every_call_has_one_row(price_them):
    """Unknown, unnamed and repeated calls too: a total must not lose or double any."""
    calls = [
        {**call(provider, model, input=1, output=1), "llm_call_id": f"{provider} {model} {number}"}
        for provider in (None, "openai", "nobody")
        for model in (None, "", "gpt-4o", "no-such")
        for number in range(3)
    ]

    assert len(price_them(calls)) == len(calls)
