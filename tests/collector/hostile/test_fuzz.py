"""Mutated requests: no crash, no hang, and the same answer to the same content in both encodings.

Short by default; `-m slow` runs the same for a minute or two.
"""

import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from otlp_clients import as_message

from spanscore.collector.gunzip import gunzip
from spanscore.collector.wire import Refused
from spanscore.otlp import DecodeError, RawTables, decode_logs, decode_logs_json, decode_traces, decode_traces_json
from spanscore.otlp.footprint import json_footprint, protobuf_footprint

SLOWEST_S = 2.0  # of one processor: the machine may be busy
TABLES = ("resources", "scopes", "spans", "span_events", "span_links", "log_records")
VALUE = {
    "arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "x"}, {"kvlistValue": {"values": [{"key": "k"}]}}]}
}
DOCUMENT = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]},
            "scopeSpans": [
                {
                    "scope": {"name": "tests", "version": "1"},
                    "spans": [
                        {
                            "traceId": f"{n:032x}",
                            "spanId": f"{n:016x}",
                            "parentSpanId": f"{n - 1:016x}" if n > 1 else None,
                            "name": "chat",
                            "kind": 3,
                            "startTimeUnixNano": "1700000000000000000",
                            "endTimeUnixNano": "1700000000000000001",
                            "attributes": [
                                {"key": "text", "value": {"stringValue": "hello"}},
                                {"key": "ratio", "value": {"doubleValue": 0.5}},
                                {"key": "nested", "value": VALUE},
                            ],
                            "events": [{"name": "token", "attributes": [{"key": "n", "value": {"intValue": str(n)}}]}],
                            "links": [{"traceId": "ab" * 16, "spanId": "cd" * 8}],
                            "status": {"code": 2, "message": "no"},
                        }
                        for n in (1, 2, 3)
                    ],
                }
            ],
        }
    ]
}
PROTOBUF, JSON = as_message(DOCUMENT).SerializeToString(), json.dumps(DOCUMENT).encode()
INTERESTING = [
    b"\x00",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\x0a\x00",
    b"\xff" * 10,
    b'"',
    b"{",
    b"}",
    b"[",
    b"null",
    b"1e999",
    b"\\u0000",
]


def mutants(seed: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with pieces overwritten, removed, repeated and put in."""
    places = st.integers(0, len(seed))
    pieces = st.sampled_from(INTERESTING) | st.binary(max_size=6)
    changes = st.lists(st.tuples(st.sampled_from("owrci"), places, st.integers(0, 40), pieces), min_size=1, max_size=6)

    def mutated(edits: list[tuple[str, int, int, bytes]]) -> bytes:
        out = seed
        for kind, place, length, piece in edits:
            start, end = min(place, len(out)), min(place + length, len(out))
            middle = {"o": piece, "w": piece * 3, "r": out[start:end] * 2, "c": b"", "i": out[start:end] + piece}[kind]
            out = out[:start] + middle + out[end if kind != "w" else start :]
        return out

    return changes.map(mutated)


def outcome(decode: Callable[[], RawTables]) -> RawTables | None:
    """The tables, sound as Arrow finds them, or None for what is refused as malformed. Nothing else may happen."""
    started = time.thread_time()
    try:
        tables = decode()
    except DecodeError:
        return None
    finally:
        assert time.thread_time() - started < SLOWEST_S
    for name in TABLES:
        getattr(tables, name).validate(full=True)
    return tables


def run(strategy: st.SearchStrategy[Any], check: Callable[[Any], None], examples: int) -> None:
    checked = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))(
        given(strategy)(check)
    )
    checked()


@pytest.mark.parametrize("examples", [150, pytest.param(3_000, marks=pytest.mark.slow)])
def test_protobuf(examples: int) -> None:
    def check(payload: bytes) -> None:
        protobuf_footprint(payload * 300)
        outcome(lambda: decode_traces([payload]))
        outcome(lambda: decode_logs([payload]))

    run(mutants(PROTOBUF), check, examples)


@pytest.mark.parametrize("examples", [150, pytest.param(3_000, marks=pytest.mark.slow)])
def test_json_and_protobuf_agree(examples: int) -> None:
    """What a mutated JSON request still says is the same when the official classes say it in protobuf."""

    def check(payload: bytes) -> None:
        json_footprint(payload * 300)
        outcome(lambda: decode_logs_json(payload))
        tables = outcome(lambda: decode_traces_json(payload))
        if tables is None or tables.rejected_spans:
            return
        if b"\\u0000" in payload:
            return  # protobuf's own JSON takes a key with NUL behind it for the key
        try:
            message = as_message(payload)
        except (ValueError, TypeError, AttributeError):
            return  # protobuf's own JSON is stricter about unknown fields' values and laxer about others
        same = outcome(lambda: decode_traces([message.SerializeToString()]))
        assert same is not None
        assert repr(tables.spans.to_pylist()) == repr(same.spans.to_pylist())
        assert repr(tables.span_events.to_pylist()) == repr(same.span_events.to_pylist())

    run(mutants(JSON), check, examples)


@pytest.mark.parametrize("examples", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_gzip(examples: int) -> None:
    """Mutated framing gives the bytes, or a refusal that a client understands; never more than the limit."""
    limit = 2 * len(PROTOBUF)

    def check(packed: bytes) -> None:
        held: list[int] = []
        started = time.thread_time()
        found = gunzip(packed, limit=limit, grow=held.append)
        assert time.thread_time() - started < SLOWEST_S
        if isinstance(found, Refused):
            assert found.refusal.http_status in (400, 413)
        else:
            assert sum(held) == len(found) <= limit
            assert found == gzip.decompress(packed)

    run(mutants(gzip.compress(PROTOBUF)) | mutants(gzip.compress(PROTOBUF[:50]) * 2), check, examples)
