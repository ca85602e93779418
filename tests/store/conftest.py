"""Builds the Arrow tables a decoder would hand over, from plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spanscore.otlp import schema
from spanscore.store import Store

Tables = schema.RawTables
MakeTables = Callable[..., Tables]

_MEMBER = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value", bytes: "bytes_value"}


def any_value(value: object) -> dict[str, object] | None:
    """One any-value struct; a dictionary is taken as it is, so that `{"json_value": …}` can be said."""
    if value is None or isinstance(value, dict):
        return value
    return {_MEMBER[type(value)]: value}


def attributes(pairs: Mapping[str, object] | Sequence[tuple[str, object]]) -> list[dict[str, object]]:
    """A list of key-value structs; a sequence of pairs may repeat a key."""
    items = pairs.items() if isinstance(pairs, Mapping) else pairs
    return [{"key": key, "value": any_value(value)} for key, value in items]


def _rows(given: Sequence[Mapping[str, Any]], defaults: Mapping[str, Any], spec: pa.Schema) -> pa.Table:
    rows = [{**defaults, **row} for row in given]
    for row in rows:
        row["attributes"] = attributes(row.get("attributes", {}))
        if "body" in row:
            row["body"] = any_value(row["body"])
    return pa.Table.from_pylist(rows, schema=spec)


@pytest.fixture(scope="session")
def make_tables() -> MakeTables:
    """Raw tables with these spans, events (by `span_index`), links and log records, under one resource and scope."""

    def make(
        spans: Sequence[Mapping[str, Any]] = (),
        *,
        events: Sequence[Mapping[str, Any]] = (),
        links: Sequence[Mapping[str, Any]] = (),
        logs: Sequence[Mapping[str, Any]] = (),
        resource: Mapping[str, object] | None = None,
        scope: Mapping[str, Any] | None = None,
        rejected_spans: Mapping[str, int] | None = None,
        rejected_log_records: Mapping[str, int] | None = None,
    ) -> Tables:
        numbers = {"resource_index": 0, "scope_index": 0}
        span = {
            **numbers,
            "trace_id": bytes(15) + b"\x01",
            "span_id": bytes(7) + b"\x01",
            "name": "chat",
            "kind": 3,
            "start_time_unix_nano": 1_700_000_000_123_456_789,
            "end_time_unix_nano": 1_700_000_001_123_456_790,
            "status_code": 0,
            "flags": 0,
        }
        resources = [{"resource_index": 0, "attributes": {"service.name": "agent"} if resource is None else resource}]
        scopes = [{"scope_index": 0, "name": "tests", **(scope or {})}]
        return Tables(
            resources=_rows(resources, {}, schema.RESOURCES),
            scopes=_rows(scopes, {}, schema.SCOPES),
            spans=_rows(spans, span, schema.SPANS),
            span_events=_rows(events, {"span_index": 0, "event_index": 0, "name": "event"}, schema.SPAN_EVENTS),
            span_links=_rows(links, {"span_index": 0, "link_index": 0}, schema.SPAN_LINKS),
            log_records=_rows(logs, {**numbers, "time_unix_nano": 1_700_000_000_000_000_000}, schema.LOG_RECORDS),
            rejected_spans=rejected_spans or {},
            rejected_log_records=rejected_log_records or {},
        )

    return make


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A new store, open for writing."""
    with Store.open(tmp_path / "store") as opened:
        yield opened
