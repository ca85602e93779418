# ruff: noqa: INP001 - a script, run by path
"""Flatten the installed genai-prices into the Parquet tables that spanscore ships.

Run it after upgrading the development dependency `genai-prices`:

    python scripts/build_prices.py

It writes `queries/prices/{prices,model_match,provider_match}.parquet` and `snapshot.json`. The same genai-prices
version gives the same bytes; the snapshot date changes only with the version, or when `--date` says so.
"""

import argparse
import datetime as dt
import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from genai_prices import types
from genai_prices.data import providers

PRICES_FOLDER = Path(__file__).resolve().parents[1] / "queries" / "prices"

CLAUSE_FIELDS = [
    pa.field("equals", pa.string()),
    pa.field("starts_with", pa.string()),
    pa.field("ends_with", pa.string()),
    pa.field("contains", pa.list_(pa.string())),
    pa.field("matches", pa.string()),
    pa.field("excludes", pa.string()),
]
PRICES = pa.schema(
    [
        pa.field("provider_id", pa.string()),
        pa.field("model_id", pa.string()),
        pa.field("seq", pa.int32()),
        pa.field("variant", pa.string()),
        pa.field("valid_from", pa.date32()),
        pa.field("tod_start", pa.time64("us")),
        pa.field("tod_end", pa.time64("us")),
        pa.field("price_key", pa.string()),
        pa.field("usd_base", pa.float64()),
        pa.field("tiers", pa.list_(pa.struct([pa.field("above_tokens", pa.int64()), pa.field("usd", pa.float64())]))),
    ]
)
MODEL_MATCH = pa.schema(
    [
        pa.field("provider_id", pa.string()),
        pa.field("ord", pa.int32()),
        pa.field("price_provider_id", pa.string()),
        pa.field("model_id", pa.string()),
        *CLAUSE_FIELDS,
    ]
)
PROVIDER_MATCH = pa.schema(
    [
        pa.field("looks_at", pa.string()),
        pa.field("ord", pa.int32()),
        pa.field("provider_id", pa.string()),
        *CLAUSE_FIELDS,
    ]
)


@dataclass(frozen=True)
class Clause:
    """One conjunction of tests on a lower-cased name; a test that is None is not made."""

    equals: str | None = None
    starts_with: str | None = None
    ends_with: str | None = None
    contains: tuple[str, ...] | None = None
    matches: str | None = None
    excludes: str | None = None

    def both(self, other: "Clause") -> "Clause":
        """The conjunction of two clauses.

        Raises:
            ValueError: both make the same single-valued test; the tables have one column for it.
        """
        joined: dict[str, Any] = {}
        for name in (field.name for field in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not None and theirs is not None:
                if name != "contains":
                    raise ValueError(f"two `{name}` tests in one conjunction: {mine!r} and {theirs!r}")
                joined[name] = mine + theirs
            else:
                joined[name] = theirs if mine is None else mine
        return Clause(**joined)


def regex_clause(pattern: str) -> Clause:
    """The clause of a regular expression, without what RE2 cannot do and with the literal start it can test cheaply."""
    negative = re.match(r"\^\(\?!((?:[^()]|\([^()]*\))*)\)", pattern)
    excludes = None
    if negative is not None:
        excludes = f"^(?:{negative[1]})"
        pattern = "^" + pattern[negative.end() :]
    if "(?!" in pattern or "(?=" in pattern or "(?<" in pattern:
        raise ValueError(f"RE2 has no lookaround: {pattern!r}")
    literal = re.match(r"\^((?:[a-z0-9/_-]|\\\.)+)(?![*+?{|a-z0-9/_-])", pattern)
    starts_with = None if literal is None or "|" in pattern else literal[1].replace("\\.", ".")
    return Clause(starts_with=starts_with, matches=None if pattern == "^" else pattern, excludes=excludes)


def clauses(logic: Any) -> list[Clause]:
    """The match logic as a list of conjunctions, one of which must hold."""
    match logic:
        case types.ClauseEquals(equals=text):
            return [Clause(equals=text.lower())]
        case types.ClauseStartsWith(starts_with=text):
            return [Clause(starts_with=text.lower())]
        case types.ClauseEndsWith(ends_with=text):
            return [Clause(ends_with=text.lower())]
        case types.ClauseContains(contains=text):
            return [Clause(contains=(text.lower(),))]
        case types.ClauseRegex(regex=pattern):
            return [regex_clause(pattern)]
        case types.ClauseOr(or_=parts):
            return [clause for part in parts for clause in clauses(part)]
        case types.ClauseAnd(and_=parts):
            joined = [Clause()]
            for part in parts:
                joined = [left.both(right) for left, right in product(joined, clauses(part))]
            return joined
    raise ValueError(f"unknown match logic: {logic!r}")


def utc_time(value: dt.time) -> dt.time:
    """A time of day in UTC; a naive time is UTC already."""
    if value.tzinfo is None:
        return value
    return dt.datetime.combine(dt.date(1970, 1, 1), value).astimezone(dt.UTC).time()


def constraint_columns(constraint: Any) -> tuple[dt.date | None, dt.time | None, dt.time | None]:
    """valid_from, tod_start and tod_end of a price's constraint."""
    match constraint:
        case None:
            return None, None, None
        case types.StartDateConstraint(start_date=start):
            return start, None, None
        case types.TimeOfDateConstraint(start_time=start, end_time=end):
            return None, utc_time(start), utc_time(end)
    raise ValueError(f"unknown price constraint: {constraint!r}")


def price_columns(price: Decimal | types.TieredPrices) -> tuple[float, list[dict[str, Any]] | None]:
    """Base price [USD] and tiers, lowest first, of one price."""
    if isinstance(price, types.TieredPrices):
        tiers = [{"above_tokens": tier.start, "usd": float(tier.price)} for tier in price.tiers]
        return float(price.base), tiers
    return float(price), None


def variant_name(when: dict[str, str]) -> str:
    """A request condition as text, `service_tier=flex`; several are joined by commas."""
    return ",".join(f"{key}={value}" for key, value in sorted(when.items()))


def price_rows() -> Iterator[tuple[Any, ...]]:
    """Rows of prices.parquet. A price set without any price has one row whose price_key is NULL."""
    for provider in providers:
        for model in provider.models:
            listed = model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]
            sets = [(seq, None, entry.constraint, entry.prices) for seq, entry in enumerate(listed)]
            sets += [
                (seq, variant_name(entry.when), entry.constraint, entry.prices)
                for seq, entry in enumerate(model.price_variants or [])
            ]
            for seq, variant, constraint, prices in sets:
                where = (provider.id, model.id, seq, variant, *constraint_columns(constraint))
                priced = sorted((key, price) for key, price in vars(prices).items() if price is not None)
                for key, price in priced:
                    yield (*where, key, *price_columns(price))
                if not priced and variant is None:
                    yield (*where, None, None, None)


def model_match_rows() -> Iterator[tuple[Any, ...]]:
    """Rows of model_match.parquet: what each provider's list is searched for, its own models before its fallbacks'."""
    by_id = {provider.id: provider for provider in providers}
    for provider in providers:
        searched = [provider, *(by_id[other] for other in provider.fallback_model_providers or ())]
        models = [(owner.id, model) for owner in searched for model in owner.models]
        for place, (owner_id, model) in enumerate(models):
            for clause in clauses(model.match):
                yield (provider.id, place, owner_id, model.id, *astuple(clause))


def provider_match_rows() -> Iterator[tuple[Any, ...]]:
    """Rows of provider_match.parquet: how a provider is known by its own name, and by a model's name alone."""
    for place, provider in enumerate(providers):
        yield ("provider", place, provider.id, *astuple(Clause(equals=provider.id)))
    for place, provider in enumerate(providers, start=len(providers)):
        for clause in clauses(provider.provider_match) if provider.provider_match is not None else []:
            yield ("provider", place, provider.id, *astuple(clause))
    for place, provider in enumerate(providers):
        for clause in clauses(provider.model_match) if provider.model_match is not None else []:
            yield ("model", place, provider.id, *astuple(clause))


def build_tables() -> dict[str, pa.Table]:
    """The three tables by file stem."""
    sources = {
        "prices": (PRICES, price_rows()),
        "model_match": (MODEL_MATCH, model_match_rows()),
        "provider_match": (PROVIDER_MATCH, provider_match_rows()),
    }
    return {
        name: pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
        for name, (schema, rows) in sources.items()
    }


def snapshot_date(folder: Path, version: str) -> str:
    """The date already written for this genai-prices version, or today in UTC."""
    path = folder / "snapshot.json"
    if path.exists():
        written = json.loads(path.read_text(encoding="utf-8"))
        if written["genai_prices_version"] == version:
            return str(written["snapshot_date"])
    return dt.datetime.now(dt.UTC).date().isoformat()


def main() -> None:
    """Write the tables and their snapshot file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--date", type=dt.date.fromisoformat, help="snapshot date (kept, or today for a new version)")
    parser.add_argument("--out", type=Path, default=PRICES_FOLDER, help="folder to write to")
    options = parser.parse_args()

    version = importlib.metadata.version("genai-prices")
    date = options.date.isoformat() if options.date is not None else snapshot_date(options.out, version)
    stamp = {"source": "genai-prices", "genai_prices_version": version, "snapshot_date": date}
    snapshot: dict[str, Any] = dict(stamp)
    for name, table in build_tables().items():
        path = options.out / f"{name}.parquet"
        pq.write_table(table.replace_schema_metadata(stamp), path, compression="zstd", compression_level=19)
        snapshot[name] = {"rows": table.num_rows, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        sys.stdout.write(f"{path}: {table.num_rows} rows, {path.stat().st_size} bytes\n")
    (options.out / "snapshot.json").write_text(json.dumps(snapshot, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
