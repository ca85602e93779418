"""Moves one batch of decoded telemetry into the raw tables: inside the caller's transaction, each thing once."""

from __future__ import annotations

import uuid
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from spanscore.store.archive.recall import has_archive, recall
from spanscore.store.counts import LoadCounts, ManifestRow, SignalCounts
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.otlp import RawTables

_FOLDER = Path(__file__).with_name("loading")
_ARROW_NAMES = ("resources", "scopes", "spans", "span_events", "span_links", "log_records")


@cache
def _sql(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def load_tables(
    connection: duckdb.DuckDBPyConnection,
    tables: RawTables,
    *,
    source: str,
    manifest: ManifestRow | None,
    received_ns: int | None = None,
) -> LoadCounts:
    """Stores what is new of `tables` and accounts for all of it, in one transaction.

    An attribute map that repeats a key, which decoders do not hand on, costs a second attempt that keeps the last pair.
    """
    try:
        return _in_transaction(connection, tables, source=source, manifest=manifest, received_ns=received_ns)
    except duckdb.InvalidInputException as error:
        if "Map keys" not in str(error):
            raise
    unique = {name: _with_unique_keys(getattr(tables, name)) for name in _ARROW_NAMES}
    return _in_transaction(
        connection, replace(tables, **unique), source=source, manifest=manifest, received_ns=received_ns
    )


def _with_unique_keys(table: pa.Table) -> pa.Table:
    place = table.column_names.index("attributes")
    column = table.column(place)
    # A dictionary per row is slow but linear, whatever the number of pairs.
    unique = [
        None
        if pairs is None
        else list({pair["key"] or "": {**pair, "key": pair["key"] or ""} for pair in pairs}.values())
        for pairs in column.to_pylist()
    ]
    return table.set_column(place, table.field(place), pa.array(unique, type=column.type))


def _in_transaction(
    connection: duckdb.DuckDBPyConnection,
    tables: RawTables,
    *,
    source: str,
    manifest: ManifestRow | None,
    received_ns: int | None,
) -> LoadCounts:
    connection.execute("begin transaction")
    try:
        connection.execute(_sql("values"))
        connection.execute(_sql("macros"))
        connection.execute(f"set variable received_us = {'null' if received_ns is None else received_ns // 1000}")
        counts = _load(connection, tables)
        record_counts(connection, counts, source=source)
        if manifest is not None:
            _record_manifest(connection, manifest)
        connection.execute("commit")
    except BaseException:
        roll_back(connection)
        raise
    finally:
        for name in _ARROW_NAMES:
            connection.unregister(f"arrow_{name}")
    return counts


def _load(connection: duckdb.DuckDBPyConnection, tables: RawTables) -> LoadCounts:
    if tables.spans.num_rows or tables.log_records.num_rows:
        _recall(connection, tables)
        connection.register("arrow_resources", tables.resources)
        connection.register("arrow_scopes", tables.scopes)
        connection.execute(_sql("resources"))
    return LoadCounts(
        spans=_load_spans(connection, tables),
        log_records=_load_log_records(connection, tables),
    )


def _recall(connection: duckdb.DuckDBPyConnection, tables: RawTables) -> None:
    """Brings back from the archive what this batch has more rows of: they are compared with rows of the database."""
    if not has_archive(connection):
        return
    arriving = [table.select(["trace_id"]) for table in (tables.spans, tables.log_records) if table.num_rows]
    connection.register("arrow_trace_ids", pa.concat_tables(arriving))
    try:
        recall(connection, "select lower(hex(trace_id)) from arrow_trace_ids")
    finally:
        connection.unregister("arrow_trace_ids")


def _load_spans(connection: duckdb.DuckDBPyConnection, tables: RawTables) -> SignalCounts:
    n = tables.spans.num_rows
    rejected = _positive(tables.rejected_spans)
    if n == 0:
        return SignalCounts(received=sum(rejected.values()), rejected=rejected)
    connection.register("arrow_spans", _numbered(tables.spans, "span_index"))
    connection.register("arrow_span_events", tables.span_events)
    connection.register("arrow_span_links", tables.span_links)
    connection.execute(_sql("incoming"))
    connection.execute(_sql("repeats"))
    ((any_repeats,),) = connection.execute("select count(*) > 0 from repeated_ids").fetchall()
    if any_repeats:
        connection.execute(_sql("verdicts"))
    connection.execute(_sql("spans"))
    verdicts: dict[str, int] = dict(
        connection.execute("select verdict, count(*) from set_aside group by verdict").fetchall()
    )
    duplicate, conflict = verdicts.get("duplicate", 0), verdicts.get("conflict", 0)
    return SignalCounts(
        received=n + sum(rejected.values()),
        stored=n - duplicate - conflict,
        duplicate=duplicate,
        conflict=conflict,
        rejected=rejected,
    )


def _load_log_records(connection: duckdb.DuckDBPyConnection, tables: RawTables) -> SignalCounts:
    n = tables.log_records.num_rows
    rejected = _positive(tables.rejected_log_records)
    if n == 0:
        return SignalCounts(received=sum(rejected.values()), rejected=rejected)
    connection.register("arrow_log_records", _numbered(tables.log_records, "log_index"))
    connection.execute(_sql("log_records"))
    ((stored,),) = connection.execute("select count(*) from new_log_ids").fetchall()
    return SignalCounts(received=n + sum(rejected.values()), stored=stored, duplicate=n - stored, rejected=rejected)


def record_counts(connection: duckdb.DuckDBPyConnection, counts: LoadCounts, *, source: str) -> None:
    """Writes the rows of `ingest_accounting` that say what one load did; a count of 0 is no row."""
    rows: list[tuple[str, str, str | None, int]] = []
    for signal, one in (("spans", counts.spans), ("log_records", counts.log_records)):
        outcomes = [
            ("received", None, one.received),
            ("stored", None, one.stored),
            ("duplicate", None, one.duplicate),
            ("conflict", None, one.conflict),
            *(("rejected", reason, n) for reason, n in sorted(one.rejected.items())),
        ]
        rows.extend((signal, outcome, reason, n) for outcome, reason, n in outcomes if n)
    if not rows:
        return
    signals, outcomes_of_rows, reasons, counted = zip(*rows, strict=True)
    connection.execute(
        """
        insert into ingest_accounting by name
        select
            $ingest_id as ingest_id,
            current_localtimestamp()::timestamp as recorded_at,
            $source as source,
            unnest($signals::varchar[]) as signal,
            unnest($outcomes::varchar[]) as outcome,
            unnest($reasons::varchar[]) as reason,
            unnest($counted::bigint[]) as n
        """,
        {
            "ingest_id": uuid.uuid4().hex,
            "source": source,
            "signals": list(signals),
            "outcomes": list(outcomes_of_rows),
            "reasons": list(reasons),
            "counted": list(counted),
        },
    )


def _record_manifest(connection: duckdb.DuckDBPyConnection, manifest: ManifestRow) -> None:
    connection.execute(
        "insert into spool_manifest values (?, ?, ?, current_localtimestamp()::timestamp)",
        [manifest.segment, manifest.end_offset, manifest.records],
    )


def _numbered(table: pa.Table, name: str) -> pa.Table:
    return table.append_column(name, pa.arange(0, table.num_rows))


def _positive(reasons: Mapping[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in reasons.items() if n > 0}
