"""Costs are those of genai-prices' own `calc_price`, for thousands of random calls of every priced model."""

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

genai_prices = pytest.importorskip("genai_prices")
from genai_prices import types  # noqa: E402
from genai_prices.data import providers  # noqa: E402

TOLERANCE_USD = 1e-9
TOKEN_KEYS = {"input_mtok", "output_mtok", "requests_kcount"}
TIERS = [None, None, None, "default", "flex", "priority", "batch", "fast", "auto", "standard"]
FIRST_MOMENT, LAST_MOMENT = dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2027, 12, 31, tzinfo=dt.UTC)


def price_sets(model: types.ModelInfo) -> list[Any]:
    listed = model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]
    return [*listed, *(model.price_variants or [])]


def moments(random_: random.Random, model: types.ModelInfo) -> Iterator[dt.datetime]:
    """A random moment, and the last one before and the first one of every change of the model's prices."""
    yield FIRST_MOMENT + random_.random() * (LAST_MOMENT - FIRST_MOMENT)
    for entry in price_sets(model):
        match entry.constraint:
            case types.StartDateConstraint(start_date=day):
                change = dt.datetime.combine(day, dt.time(), dt.UTC)
            case types.TimeOfDateConstraint(start_time=start, end_time=end):
                day = dt.date(2026, 10, random_.randint(1, 31))
                change = dt.datetime.combine(day, random_.choice([start, end]).replace(tzinfo=dt.UTC))
            case _:
                continue
        yield from (change - dt.timedelta(microseconds=1), change)


def input_size(random_: random.Random, model: types.ModelInfo) -> int:
    """A number of input tokens, often exactly at a context tier or one above it."""
    starts = [
        tier.start
        for entry in price_sets(model)
        for price in vars(entry.prices).values()
        if isinstance(price, types.TieredPrices)
        for tier in price.tiers
    ]
    if starts and random_.random() < 0.6:
        return random_.choice(starts) + random_.choice([0, 1])
    return random_.choice([0, random_.randint(0, 2000), random_.randint(0, 400_000)])


def part_of(random_: random.Random, whole: int) -> int | None:
    return random_.choice([None, 0, random_.randint(0, whole), random_.randint(0, whole)])


def call(random_: random.Random, model: types.ModelInfo) -> dict[str, Any]:
    """Consistent counts: parts never exceed what contains them."""
    input_tokens = input_size(random_, model)
    output_tokens = random_.randint(0, 20_000)
    cache_read = part_of(random_, input_tokens)
    cache_write = part_of(random_, input_tokens - (cache_read or 0))
    cache_write_1h = part_of(random_, cache_write or 0) if cache_write is not None else None
    has_audio = random_.random() < 0.3
    input_audio = part_of(random_, input_tokens - (cache_read or 0) - (cache_write or 0)) if has_audio else None
    reasoning = part_of(random_, output_tokens)
    output_audio = part_of(random_, output_tokens - (reasoning or 0)) if has_audio else None
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_tokens": cache_read,
        "cache_write_tokens": cache_write,
        "cache_write_1h_tokens": cache_write_1h,
        "reasoning_tokens": reasoning,
        "input_audio_tokens": input_audio,
        "output_audio_tokens": output_audio,
        "service_tier": random_.choice(TIERS),
    }


def sold_models() -> Iterator[tuple[types.Provider, types.ModelInfo]]:
    """Every provider with its own models, and with those of others that it resells."""
    by_id = {provider.id: provider for provider in providers}
    for provider in providers:
        for owner in [provider.id, *(provider.fallback_model_providers or ())]:
            yield from ((provider, model) for model in by_id[owner].models)


def random_calls(seed: int) -> list[dict[str, Any]]:
    random_ = random.Random(seed)
    return [
        {
            "llm_call_id": f"{place} {provider.id} {model.id} {number}",
            "provider": provider.id,
            "response_model": model.id,
            "at": at,
            **call(random_, model),
        }
        for place, (provider, model) in enumerate(sold_models())
        for number, at in enumerate([*moments(random_, model), *moments(random_, model)])
    ]


def expected(call: dict[str, Any]) -> types.PriceCalculation | str:
    """What genai-prices says, or the class of its refusal."""
    usage = {
        {"reasoning_tokens": "output_reasoning_tokens"}.get(name, name): value
        for name, value in call.items()
        if name.endswith("_tokens")
    }
    tier = call["service_tier"]
    context = {"service_tier": tier} if tier is not None else {}
    context |= {"batch": {"processing": "batch"}, "fast": {"speed": "fast"}}.get(tier, {})
    try:
        return genai_prices.calc_price(
            genai_prices.Usage(**usage),
            call["response_model"],
            provider_id=call["provider"],
            genai_request_timestamp=call["at"],
            price_context=context or None,
        )
    except (LookupError, ValueError) as error:
        return type(error).__name__


def test_costs_are_those_of_genai_prices(price_them):
    calls = random_calls(seed=20261129)

    priced = price_them(calls)

    wrong, largest, compared = [], 0.0, 0
    for call in calls:
        ours, theirs = priced[call["llm_call_id"]], expected(call)
        reason = ours["unpriced_reason"]
        if theirs == "LookupError":
            continue  # an id that its own list does not find: names are the subject of test_names.py
        if reason is None:
            if isinstance(theirs, str):
                wrong.append((call, ours, theirs))
                continue
            compared += 1
            differences = [
                abs(Decimal(ours[name]) - exact)
                for name, exact in (
                    ("cost_usd", theirs.total_price),
                    ("input_cost_usd", theirs.input_price),
                    ("output_cost_usd", theirs.output_price),
                )
            ]
            largest = max(largest, *map(float, differences))
            if max(differences) > TOLERANCE_USD:
                wrong.append((call, ours, theirs))
        elif not refused_rightly(reason, call, theirs):
            wrong.append((call, ours, theirs))
    assert wrong[:3] == []
    assert largest <= TOLERANCE_USD
    assert compared > 5_000


def refused_rightly(reason: str, call: dict[str, Any], theirs: types.PriceCalculation | str) -> bool:
    """Where we give no cost, genai-prices raises too, or gives a cost in which tokens were free for want of a price."""
    if isinstance(theirs, str):
        return reason == "audio_cache_overlap" and theirs == "ValueError"
    keys = {key for key, price in vars(theirs.model_price).items() if price is not None}
    if reason == "no_price":
        return not keys & TOKEN_KEYS and "free" not in theirs.model.id and theirs.total_price == 0
    if reason == "no_token_price":
        return (call["input_tokens"] > 0 and "input_mtok" not in keys) or (
            call["output_tokens"] > 0 and "output_mtok" not in keys
        )
    return False
