"""Captured telemetry taken apart: every span and log record by itself, to arrive in any order and in any batches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from spanscore.otlp import decode_logs_json, decode_traces_json
from spanscore.store import Store

CORPUS = Path(__file__).parents[1] / "corpus"

# One run in a trace, a trace for each call, message hops over many traces, content in logs, turns of one session.
CAPTURES = (
    "openai-genai/multi_handoff",
    "openai-otelv2legacy/one_tool",
    "autogen-native/multi_handoff",
    "msagentframework-native/one_tool",
    "pydanticai-v5/session",
)

Request = tuple[bool, bytes]
"""(whether it is spans, an OTLP/JSON request)."""


def pieces(captures: tuple[str, ...] = CAPTURES) -> list[Request]:
    """Every span and log record of the captures as a request of its own."""
    found = []
    for capture in captures:
        for path in sorted(CORPUS.glob(f"{capture}.*jsonl*")):
            raw = path.read_bytes()
            for line in (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8").splitlines():
                found += _pieces(json.loads(line))
    return found


def _pieces(document: dict[str, Any]) -> list[Request]:
    found = []
    for outer, middle, inner in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for resource in document.get(outer, []):
            for scope in resource[middle]:
                for record in scope[inner]:
                    body = {outer: [{**resource, middle: [{**scope, inner: [record]}]}]}
                    found.append((outer == "resourceSpans", json.dumps(body).encode("utf-8")))
    return found


def merged(requests: list[Request], cuts: set[int]) -> list[list[Request]]:
    """The requests in batches that begin at the cuts."""
    out: list[list[Request]] = []
    for index, request in enumerate(requests):
        if not out or index in cuts:
            out.append([])
        out[-1].append(request)
    return out


def load(directory: Path, requests: list[Request]) -> None:
    """Loads the requests and derives what they changed."""
    joined: dict[bool, list[Any]] = {True: [], False: []}
    for is_spans, body in requests:
        joined[is_spans] += json.loads(body)["resourceSpans" if is_spans else "resourceLogs"]
    with Store.open(directory) as store:
        for is_spans, key, decode in (
            (True, "resourceSpans", decode_traces_json),
            (False, "resourceLogs", decode_logs_json),
        ):
            if joined[is_spans]:
                store.load(decode(json.dumps({key: joined[is_spans]}).encode("utf-8")), source="test")
        store.derive()
