"""Prices of LLM calls: puts the shipped price list and the user's own into a store, and runs the SQL that prices calls.

What a call costs is written in `queries/pricing`; here is only what is read, when, and in which order.
"""

from __future__ import annotations

import csv
import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from spanscore.store.price_overrides import PRICE_KEYS, read_price_overrides
from spanscore.store.queries import query_path, read_query

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from spanscore.store.price_overrides import PriceOverride
    from spanscore.store.session import ReadSession

PRICING_STEPS = ("model_names", "model_price_map", "calls_at_moments", "price_moments", "moment_rates", "priced_calls")
"""Files of `queries/pricing`, in the order in which they make `priced_calls` from `calls_to_price`."""

CALL_COLUMNS = {
    "llm_call_id": "varchar",
    "provider": "varchar",
    "request_model": "varchar",
    "response_model": "varchar",
    "at": "timestamp_ns",
    "input_tokens": "bigint",
    "output_tokens": "bigint",
    "cache_read_tokens": "bigint",
    "cache_write_tokens": "bigint",
    "cache_write_1h_tokens": "bigint",
    "reasoning_tokens": "bigint",
    "input_audio_tokens": "bigint",
    "output_audio_tokens": "bigint",
    "service_tier": "varchar",
}
"""Columns of `calls_to_price`. Counts [tokens] are inclusive, NULL is not reported, `at` is UTC."""

PRICE_LIST_COLUMNS = (
    "source",
    "provider_id",
    "model_id",
    "valid_from",
    *PRICE_KEYS,
    "tier_above_tokens",
    "offpeak",
    "service_tiers",
)
"""Columns of `list_prices`."""

_SNAPSHOT_FILES = (
    "snapshot.json",
    "prices.parquet",
    "model_match.parquet",
    "provider_match.parquet",
    "provider_aliases.csv",
    "model_shapes.csv",
)
_INSTALL = (
    ("prices.parquet", "insert into model_prices select 'snapshot' as source, * from read_parquet($1)"),
    ("model_match.parquet", "insert into price_model_match select * from read_parquet($1)"),
    ("provider_match.parquet", "insert into price_provider_match select * from read_parquet($1)"),
)


@dataclass(frozen=True, slots=True)
class InstalledPrices:
    """Which prices a store holds. `overrides` counts price rows of the user's own file; `changed`: they are new."""

    source_version: str
    snapshot_date: str
    overrides: int
    changed: bool


def install_prices(con: duckdb.DuckDBPyConnection, overrides_file: Path | None = None) -> InstalledPrices:
    """Puts the shipped price list and the user's overrides into the store, unless it holds just these.

    Costs that were computed before stay as they are until their traces are derived again.

    Args:
        con: read-write connection of the store.
        overrides_file: the user's price file, see `price_overrides`; None = none, and earlier overrides are removed.

    Raises:
        UsageError: the price file is wrong; the store is left as it is.
    """
    overrides = [] if overrides_file is None else read_price_overrides(overrides_file)
    snapshot = json.loads(query_path("prices/snapshot.json").read_text(encoding="utf-8"))
    fingerprint = _fingerprint(overrides)
    version = f"{snapshot['source']} {snapshot['genai_prices_version']}"
    n_overrides = sum(len(override.prices) for override in overrides)
    changed = _installed_fingerprint(con) != fingerprint
    if changed:
        # The fingerprint is written last: an installation that was cut short is done again.
        con.execute(read_query("pricing/tables.sql"))
        for name, statement in _INSTALL:
            con.execute(statement, [str(query_path(f"prices/{name}"))])
        _insert_provider_names(con)
        _insert_overrides(con, overrides)
        con.execute(
            "insert into price_snapshot values ($1, $2, $3, $4, $5, now() at time zone 'UTC')",
            ["genai-prices", snapshot["genai_prices_version"], snapshot["snapshot_date"], n_overrides, fingerprint],
        )
    return InstalledPrices(version, snapshot["snapshot_date"], n_overrides, changed)


def price_calls(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the temporary table `priced_calls` from `calls_to_price`, a temporary table or view with `CALL_COLUMNS`.

    The prices must be installed. Everything is set-based: the number of calls hardly matters, the number of distinct
    (provider, model) pairs and days little.
    """
    con.execute(read_query("pricing/name_macros.sql"))
    for step in PRICING_STEPS:
        con.execute(read_query(f"pricing/{step}.sql"))


@contextmanager
def price_session(overrides_file: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an empty database in memory that holds the prices, for questions that need no store."""
    con = duckdb.connect(":memory:", config={"python_enable_replacements": False})
    try:
        con.execute("set TimeZone = 'UTC'")
        con.execute("set enable_progress_bar = false")
        install_prices(con, overrides_file)
        yield con
    finally:
        con.close()


def list_prices(
    con: duckdb.DuckDBPyConnection, *, provider: str | None, model: str | None, day: dt.date
) -> list[dict[str, Any]]:
    """Models and what they cost on `day` [USD per million tokens], as rows of `pricing/price_list.sql`.

    Args:
        con: connection with the prices installed.
        provider: a provider id, or a part of one; None = all.
        model: a model id, or a part of one; None = all.
        day: the day the prices are for [UTC].
    """
    return _rows(con, read_query("pricing/price_list.sql"), {"provider": provider, "model": model, "day": day})


def check_model(
    con: duckdb.DuckDBPyConnection, *, provider: str | None, model: str, day: dt.date, service_tier: str | None
) -> dict[str, Any]:
    """How a call of `model` on `day` is priced: the price list entry it finds and a million tokens in and out.

    Args:
        con: connection with the prices installed.
        provider: as in a trace; None = not named.
        model: as in a trace.
        day: of the call [UTC]; off-peak hours are as at noon.
        service_tier: flex, priority, batch, fast; None = standard.
    """
    columns = ", ".join(f'null::{kind} as "{name}"' for name, kind in CALL_COLUMNS.items())
    con.execute(
        f"create or replace temp table calls_to_price as select * replace ("
        f"'check' as llm_call_id, $provider as provider, $model as request_model, $day + interval 12 hours as \"at\", "
        f"0 as input_tokens, 0 as output_tokens, $service_tier as service_tier) from (select {columns})",
        {"provider": provider, "model": model, "day": day, "service_tier": service_tier},
    )
    price_calls(con)
    return _rows(con, read_query("pricing/checked_model.sql"))[0]


def check_store(con: duckdb.DuckDBPyConnection, session: ReadSession) -> list[dict[str, Any]]:
    """Models of the LLM calls of a store, with what is priced today and why the rest is not.

    Args:
        con: connection with the prices installed; not the store's.
        session: reading session on the store.
    """
    present = {
        name for (name,) in session.rows("select column_name from duckdb_columns() where table_name = 'llm_calls'")
    }
    wanted = [
        f'{source if source in present else "null"}::{kind} as "{name}"'
        for name, kind in CALL_COLUMNS.items()
        for source in [{"at": "started_at"}.get(name, name)]
    ]
    con.register("calls_of_store", session.arrow(f"select {', '.join(wanted)} from llm_calls"))
    con.execute("create or replace temp table calls_to_price as select * from calls_of_store")
    con.unregister("calls_of_store")
    price_calls(con)
    return _rows(con, read_query("pricing/checked_calls.sql"))


def _fingerprint(overrides: Sequence[PriceOverride]) -> str:
    digest = hashlib.sha256()
    for name in _SNAPSHOT_FILES:
        digest.update(query_path(f"prices/{name}").read_bytes())
    digest.update(read_query("pricing/tables.sql").encode())
    digest.update(repr(overrides).encode())
    return digest.hexdigest()


def _installed_fingerprint(con: duckdb.DuckDBPyConnection) -> str | None:
    tables = con.execute(
        "select count(*) from duckdb_tables() "
        "where database_name = current_database() and table_name = 'price_snapshot'"
    ).fetchall()
    if tables[0][0] == 0:
        return None
    rows = con.execute("select fingerprint from price_snapshot").fetchall()
    return rows[0][0] if len(rows) == 1 else None


def _insert_provider_names(con: duckdb.DuckDBPyConnection) -> None:
    aliases = _csv_rows("prices/provider_aliases.csv")
    con.execute(
        "insert into price_provider_aliases select unnest($1::varchar[]), unnest($2::varchar[]), unnest($3::varchar[])",
        [[row[key] or None for row in aliases] for key in ("name", "kind", "provider_id")],
    )
    # Our own shapes are looked at before the rules of the price list, whose order starts at 0.
    shapes = _csv_rows("prices/model_shapes.csv")
    con.execute(
        "insert into price_provider_match (looks_at, ord, provider_id, matches) "
        "select 'model', -1, unnest($1::varchar[]), unnest($2::varchar[])",
        [[row[key] for row in shapes] for key in ("provider_id", "matches")],
    )


def _csv_rows(name: str) -> list[dict[str, str]]:
    with query_path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _insert_overrides(con: duckdb.DuckDBPyConnection, overrides: Sequence[PriceOverride]) -> None:
    rows = []
    counted: dict[tuple[str | None, str], int] = {}
    for override in sorted(overrides, key=lambda override: str(override.valid_from or "")):
        seq = counted.get((override.provider, override.model), 0)
        counted[override.provider, override.model] = seq + 1
        rows += [
            (override.provider, override.model, seq, override.valid_from, key, price)
            for key, price in override.prices.items()
        ]
    if not rows:
        return
    con.execute(
        "insert into model_prices (source, provider_id, model_id, seq, valid_from, price_key, usd_base) "
        "select 'override', unnest($1::varchar[]), unnest($2::varchar[]), unnest($3::integer[]), unnest($4::date[]), "
        "unnest($5::varchar[]), unnest($6::double[])",
        [list(column) for column in zip(*rows, strict=True)],
    )


def _rows(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, object] | None = None
) -> list[dict[str, Any]]:
    cursor = con.execute(sql, parameters)
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
