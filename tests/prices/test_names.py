"""Names find the same price list entry as in genai-prices, or nothing in both; every exception is named."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("genai_prices")
from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot, find_provider_by_id

SNAPSHOT = DataSnapshot(providers=providers, from_auto_update=False)
FRAMEWORKS = ["strands-agents", "langchain", "langgraph", "autogen", "microsoft.agent_framework", "gcp.vertex.agent"]
OTEL_PROVIDERS = [
    "openai", "azure.ai.openai", "azure.ai.inference", "anthropic", "aws.bedrock", "gcp.vertex_ai", "gcp.gemini",
    "gcp.gen_ai", "mistral_ai", "deepseek", "groq", "moonshot_ai", "cohere", "perplexity", "x_ai", "ibm.watsonx.ai",
    "openrouter", "litellm", "openai.chat", "google.generative-ai", "amazon-bedrock", "OpenAI", " anthropic ", None,
]  # fmt: skip
# Names that genai-prices does not know, or (Azure) takes for another provider.
OUR_PROVIDERS = {
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "gcp.gen_ai": "google",
    "x_ai": "x-ai",
}
DATE_AT_END = re.compile(r"([-@]20\d\d-?[01]\d-?[0-3]\d|[-@:]latest)$")
BEDROCK_ID = re.compile(r"((us|us-gov|eu|apac|jp|au|ca|global)\.)?[a-z0-9]+\.[a-z]")


def theirs(provider: str | None, model: str) -> tuple[str, str] | None:
    """The model that genai-prices finds, after the provider in whose list it stands (OpenAI's for a model on Azure)."""
    try:
        found, entry = SNAPSHOT.find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    searched = [found, *(other for other in providers if other.id in (found.fallback_model_providers or ()))]
    owner = next(other for other in searched if any(entry is listed for listed in other.models))
    return owner.id, entry.id


def mutated(random_: random.Random, model: str) -> str:
    """The model id as emitters write it, or not quite."""
    return random_.choice(
        [
            model.upper(),
            f"{model}-20260205",
            f"{model}-2026-02-05",
            f"{model}-latest",
            f"{model}:beta",
            f"{model}-v1:0",
            f"us.{model}",
            f"my-{model}",
            f"{model}x",
            model[:-1],
            re.sub(r"[-.]", "_", model),
            re.sub(r"-(\d{4})-(\d\d)-(\d\d)", r"-\1\2\3", model),
            f"{random_.choice(['openai', 'models', 'bedrock', 'openrouter', 'vendor'])}/{model}",
        ]
    )


def name_pairs() -> list[tuple[str | None, str]]:
    random_ = random.Random(20261129)
    pairs = [(provider.id, model.id) for provider in providers for model in provider.models]
    pairs += [(provider, mutated(random_, model)) for provider, model in list(pairs)]
    models = sorted({model for _, model in pairs})
    pairs += [(provider, model) for provider in OTEL_PROVIDERS for model in random_.sample(models, 300)]
    pairs += [(None, model) for model in models]
    pairs += [(provider, model) for provider in FRAMEWORKS for model in random_.sample(models, 60)]
    return list(dict.fromkeys(pairs))


def as_row(number: int, pair: tuple[str | None, str]) -> dict[str, Any]:
    return {"llm_call_id": str(number), "provider": pair[0], "response_model": pair[1]}


def respellings(provider: str | None, model: str) -> Iterator[tuple[str | None, str]]:
    """The lookups that ours may make beyond the name as given."""
    name = (provider or "").strip().lower()
    known = None if provider is None or name in FRAMEWORKS else find_provider_by_id(providers, provider)
    named = OUR_PROVIDERS.get(name) or (None if known is None else known.id)
    forms = [model.lower(), model.lower().partition("/")[2], model.lower().rpartition("/")[2]]
    forms = [form for form in [*forms, *(DATE_AT_END.sub("", form) for form in forms)] if form]
    if named is not None:
        yield from ((named, form) for form in forms)
    if named in (None, "openai", "openrouter"):
        prefix = model.lower().partition("/")[0]
        yield from ((OUR_PROVIDERS.get(prefix, prefix), form) for form in forms)
        yield from ((None, form) for form in forms)
        yield from (("aws", form) for form in forms if BEDROCK_ID.match(form))


def exception_of(
    provider: str | None, model: str, ours: dict[str, Any], expected: tuple[str, str] | None
) -> str | None:
    """Why a difference is meant, or None when it is not."""
    if expected is not None and model.lower().endswith(":free") and ours["price_model_id"] is None:
        return "a free offer is not charged as the model it is an offer of"
    found = (ours["price_provider_id"], ours["price_model_id"])
    if expected is None and found in {theirs(*pair) for pair in respellings(provider, model)}:
        return f"found under another spelling: {ours['price_matched_by']}"
    return None


def test_names_find_what_genai_prices_finds(price_them):
    pairs = name_pairs()

    priced = price_them([as_row(number, pair) for number, pair in enumerate(pairs)])

    wrong, exceptions, same = [], Counter[str](), 0
    for number, (provider, model) in enumerate(pairs):
        ours = priced[str(number)]
        expected = theirs(None if provider in FRAMEWORKS else provider, model)
        found = (ours["price_provider_id"], ours["price_model_id"])
        if found == (expected or (None, None)):
            same += 1
        elif (why := exception_of(provider, model, ours, expected)) is not None:
            exceptions[why] += 1
        else:
            wrong.append((provider, model, found, ours["price_matched_by"], expected))
    assert wrong[:5] == []
    assert same > 12_000
    assert exceptions.total() < 3_000
