"""Captures taken to pieces, put together in other ways, and what is derived of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spanscore.otlp import decode_logs_json, decode_traces_json
from spanscore.store import Store
from spanscore.store.derive import TABLES

CORPUS = Path(__file__).parents[1] / "corpus"


def pieces(capture: str) -> list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Every span and log record of a capture by itself: (envelope keys, resource part, scope part, record)."""
    found = []
    for path in sorted(CORPUS.glob(f"{capture}.*jsonl*")):
        raw = path.read_bytes()
        for line in (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8").splitlines():
            for outer, middle, inner in (
                ("resourceSpans", "scopeSpans", "spans"),
                ("resourceLogs", "scopeLogs", "logRecords"),
            ):
                for resource in json.loads(line).get(outer, []):
                    for scope in resource[middle]:
                        found += [(outer, middle, resource, scope, record) for record in scope[inner]]
    return found


def request(piece: tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]) -> tuple[bool, bytes]:
    """(whether it is spans, the request that holds this piece alone)."""
    outer, middle, resource, scope, record = piece
    inner = "spans" if outer == "resourceSpans" else "logRecords"
    body = {outer: [{**resource, middle: [{**scope, inner: [record]}]}]}
    return outer == "resourceSpans", json.dumps(body).encode("utf-8")


def derived(requests: list[tuple[bool, bytes]], derive_after: set[int]) -> dict[str, list[str]]:
    with TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        for index, (is_spans, body) in enumerate(requests):
            store.load((decode_traces_json if is_spans else decode_logs_json)(body), source="test")
            if index in derive_after:
                store.derive()
        store.derive()
        return {
            table: sorted(map(repr, store.connection.execute(f'select * from "{table}"').fetchall()))
            for table in TABLES
        }


def merged(requests: list[tuple[bool, bytes]], cuts: list[int]) -> list[tuple[bool, bytes]]:
    """The same requests with neighbours of one signal joined between the cuts."""
    out: list[tuple[bool, bytes]] = []
    for index, (is_spans, body) in enumerate(requests):
        if out and index not in cuts and out[-1][0] == is_spans:
            key = "resourceSpans" if is_spans else "resourceLogs"
            joined = json.loads(out[-1][1])[key] + json.loads(body)[key]
            out[-1] = (is_spans, json.dumps({key: joined}).encode("utf-8"))
        else:
            out.append((is_spans, body))
    return out
