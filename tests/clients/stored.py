"""What a golden description should have become in the store, what did become of it, and where the two differ."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spanscore.store import read_session

Record = dict[str, Any]
LARGEST_TIME = 2**63 - 2
SHOWN = 5

OWNERS = """
    service_name, scope_name, scope_version,
    r.attributes as resource_attributes,
    r.dropped_attributes_count as resource_dropped,
    r.schema_url as resource_schema_url,
    s.attributes as scope_attributes,
    s.dropped_attributes_count as scope_dropped,
    s.schema_url as scope_schema_url
"""
JOINS = "left join resources as r using (resource_id) left join scopes as s using (scope_id)"
SPANS = f"""
    select
        trace_id, span_id, parent_span_id, trace_state, flags, t.name, kind, start_time_unix_nano, end_time_unix_nano,
        epoch_ns(start_time) as start_time, epoch_ns(end_time) as end_time, duration_ns, status_code, status_message,
        t.attributes as attributes, t.dropped_attributes_count, dropped_events_count, dropped_links_count, {OWNERS}
    from spans as t {JOINS}
"""
EVENTS = """
    select
        trace_id, span_id, event_index, time_unix_nano, epoch_ns(time) as time, name, attributes,
        dropped_attributes_count
    from span_events
    order by event_index
"""
LINKS = """
    select
        trace_id, span_id, link_index, linked_trace_id, linked_span_id, trace_state, flags, attributes,
        dropped_attributes_count
    from span_links
    order by link_index
"""
LOG_RECORDS = f"""
    select
        trace_id, span_id, time_unix_nano, observed_time_unix_nano, epoch_ns(time) as time,
        epoch_ns(observed_time) as observed_time, severity_number, severity_text, event_name, body,
        t.attributes as attributes, t.dropped_attributes_count, flags, {OWNERS}
    from log_records as t {JOINS}
"""


def plain(value: list[Any], *, is_nested: bool = False) -> Any:
    """A golden value as the store has it: inside arrays and kvlists JSON decides how bytes and odd doubles look."""
    kind, content = value
    if kind == "int":
        return int(content)
    if kind == "double":
        number = float(content)
        if is_nested and not math.isfinite(number):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[content]
        return number
    if kind == "bytes":
        return content if is_nested else b64decode(content)
    if kind == "array":
        return [plain(part, is_nested=True) for part in content]
    if kind == "kvlist":
        return {key: plain(part, is_nested=True) for key, part in content}
    return content


def attributes(pairs: list[list[Any]]) -> dict[str, Any]:
    """Golden attributes as the store has them."""
    return {key: plain(value) for key, value in pairs}


def timestamp(nanoseconds: int) -> int | None:
    """The time as a timestamp, in nanoseconds again; None where there is none."""
    return nanoseconds if 1 <= nanoseconds <= LARGEST_TIME else None


def duration(start: int, end: int) -> int | None:
    return end - start if start and end and start <= end else None


def owner_columns(description: Record, item: Record) -> Record:
    resource, scope = description["resources"][item["resource"]], description["scopes"][item["scope"]]
    resource_attributes = attributes(resource["attributes"])
    return {
        "service_name": resource_attributes.get("service.name"),
        "scope_name": scope["name"],
        "scope_version": scope["version"] or None,
        "resource_attributes": resource_attributes,
        "resource_dropped": resource["dropped_attributes_count"],
        "resource_schema_url": resource["schema_url"] or None,
        "scope_attributes": attributes(scope["attributes"]),
        "scope_dropped": scope["dropped_attributes_count"],
        "scope_schema_url": scope["schema_url"] or None,
    }


def expected_spans(description: Record) -> Iterator[Record]:
    """The rows that the golden spans should be, with their events and links."""
    for span in description["spans"]:
        start, end = int(span["start_time_unix_nano"]), int(span["end_time_unix_nano"])
        counts = ("dropped_attributes_count", "dropped_events_count", "dropped_links_count")
        yield {
            **{key: span[key] for key in ("trace_id", "span_id", "flags", "name", "kind", *counts)},
            "parent_span_id": span["parent_span_id"] or None,
            "trace_state": span["trace_state"] or None,
            "start_time_unix_nano": start,
            "end_time_unix_nano": end,
            "start_time": timestamp(start),
            "end_time": timestamp(end),
            "duration_ns": duration(start, end),
            "status_code": span["status"]["code"],
            "status_message": span["status"]["message"] or None,
            "attributes": attributes(span["attributes"]),
            **owner_columns(description, span),
            "events": [
                {
                    "event_index": place,
                    "time_unix_nano": int(event["time_unix_nano"]),
                    "time": timestamp(int(event["time_unix_nano"])),
                    "name": event["name"],
                    "attributes": attributes(event["attributes"]),
                    "dropped_attributes_count": event["dropped_attributes_count"],
                }
                for place, event in enumerate(span["events"])
            ],
            "links": [
                {
                    "link_index": place,
                    "linked_trace_id": link["trace_id"],
                    "linked_span_id": link["span_id"],
                    "trace_state": link["trace_state"] or None,
                    "flags": link["flags"],
                    "attributes": attributes(link["attributes"]),
                    "dropped_attributes_count": link["dropped_attributes_count"],
                }
                for place, link in enumerate(span["links"])
            ],
        }


def expected_log_records(description: Record) -> Iterator[Record]:
    """The rows that the golden log records should be."""
    for record in description["log_records"]:
        time, observed = int(record["time_unix_nano"]), int(record["observed_time_unix_nano"])
        yield {
            **{key: record[key] for key in ("severity_number", "dropped_attributes_count", "flags")},
            **{key: record[key] or None for key in ("trace_id", "span_id", "severity_text", "event_name")},
            "time_unix_nano": time,
            "observed_time_unix_nano": observed,
            "time": timestamp(time),
            "observed_time": timestamp(observed),
            "body": plain(record["body"]),
            "attributes": attributes(record["attributes"]),
            **owner_columns(description, record),
        }


def read(store: Path) -> tuple[list[Record], list[Record]]:
    """Spans, with their events and links, and log records, as the store has them."""
    with read_session(store) as session:
        found = {sql: records(session.connection, sql) for sql in (SPANS, EVENTS, LINKS, LOG_RECORDS)}
    spans = {(span["trace_id"], span["span_id"]): {**span, "events": [], "links": []} for span in found[SPANS]}
    assert len(spans) == len(found[SPANS])
    for sql, name in ((EVENTS, "events"), (LINKS, "links")):
        for part in found[sql]:
            spans[part.pop("trace_id"), part.pop("span_id")][name].append(part)
    return list(spans.values()), found[LOG_RECORDS]


def records(connection: Any, sql: str) -> list[Record]:
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def exact(value: Any) -> Any:
    """Something that is equal only where values and their types are: 1 is not True, 0.0 not -0.0, NaN is NaN."""
    if isinstance(value, Mapping):
        return {key: exact(part) for key, part in value.items()}
    if isinstance(value, list):
        return [exact(part) for part in value]
    return (type(value).__name__, repr(value))


def differences(expected: Mapping[Any, Record], actual: Mapping[Any, Record]) -> list[str]:
    """What is missing, too many, or other than expected, field by field."""
    found = [f"{key}: not stored" for key in expected.keys() - actual.keys()]
    found += [f"{key}: not sent" for key in actual.keys() - expected.keys()]
    for key in expected.keys() & actual.keys():
        want, have = expected[key], actual[key]
        assert want.keys() == have.keys()
        found += [
            f"{key}: {name}: expected {want[name]!r:.300}, is {have[name]!r:.300}"
            for name in want
            if exact(want[name]) != exact(have[name])
        ]
    return found


def compare(description: Record, store: Path) -> tuple[int, int]:
    """Spans and log records that are stored exactly as described: asserts that all are.

    Returns:
        How many spans and log records were compared [count].
    """
    spans, log_records = read(store)
    both = (
        ([*expected_spans(description)], spans, lambda span: (span["trace_id"], span["span_id"])),
        ([*expected_log_records(description)], log_records, lambda record: record["attributes"].get("number")),
    )
    for wanted, stored, key in both:
        assert len({key(row) for row in stored}) == len(stored)
        found = differences({key(row): row for row in wanted}, {key(row): row for row in stored})
        assert not found, f"{len(found)} differences:\n" + "\n".join(found[:SHOWN])
    return len(spans), len(log_records)
