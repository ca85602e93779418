"""Golden telemetry in each encoding: every field of what is stored is what was meant."""

import copy
import gzip
import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from spanscore.collector import Collector
from tests.clients import golden, stored, wire
from tests.clients.conftest import CollectorProcess

SERVICES = {
    False: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    True: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
PATHS = {False: "/v1/traces", True: "/v1/logs"}
MEDIA_TYPES = {"json": "application/json", "protobuf": "application/x-protobuf"}

Described = Callable[..., tuple[Path, dict[str, Any]]]


def requests(description: dict[str, Any], encoding: str) -> Iterator[tuple[bool, bytes]]:
    """Whether it is of log records, and the bytes, of every request."""
    for are_logs, noun in ((False, "spans"), (True, "log_records")):
        for items in wire.batches(description[noun]):
            if encoding == "json":
                yield are_logs, json.dumps(wire.json_request(description, items, are_logs=are_logs)).encode()
            else:
                yield are_logs, wire.protobuf(description, items, are_logs=are_logs)


def send_over_http(address: str, description: dict[str, Any], *, encoding: str, is_gzip: bool) -> None:
    headers = {"Content-Type": MEDIA_TYPES[encoding]} | ({"Content-Encoding": "gzip"} if is_gzip else {})
    for are_logs, body in requests(description, encoding):
        data = gzip.compress(body, 1) if is_gzip else body
        request = urllib.request.Request(f"http://{address}{PATHS[are_logs]}", data, headers)
        with urllib.request.urlopen(request) as answer:
            assert answer.read() == {"json": b"{}", "protobuf": b""}[encoding]


def send_over_grpc(address: str, description: dict[str, Any], *, is_gzip: bool) -> None:
    compression = grpc.Compression.Gzip if is_gzip else grpc.Compression.NoCompression
    with grpc.insecure_channel(address, compression=compression) as channel:
        for are_logs, body in requests(description, "protobuf"):
            assert channel.unary_unary(SERVICES[are_logs])(body) == b""


def send(collector: Collector | CollectorProcess, description: dict[str, Any], encoding: str, *, is_gzip: bool) -> None:
    """Sends everything in one encoding, and checks that each request was taken in full."""
    if encoding == "grpc":
        send_over_grpc(str(collector.grpc_address), description, is_gzip=is_gzip)
    else:
        send_over_http(str(collector.http_address), description, encoding=encoding, is_gzip=is_gzip)


@pytest.mark.parametrize(("encoding", "is_gzip"), [("grpc", False), ("protobuf", True), ("json", False)])
def test_everything_otlp_can_say_is_stored_as_it_was_meant(
    tmp_path: Path, described: Described, encoding: str, is_gzip: bool
) -> None:
    _, description = described(golden.ANYTHING)
    with Collector(tmp_path / "store") as collector:
        send(collector, description, encoding, is_gzip=is_gzip)

    counts = (len(description["spans"]), len(description["log_records"]))
    assert stored.compare(description, tmp_path / "store") == counts


@pytest.mark.slow
@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", ["grpc", "protobuf", "json"])
def test_five_thousand_golden_spans_in_every_encoding(
    collect: CollectorProcess, described: Described, encoding: str, is_gzip: bool
) -> None:
    _, description = described(golden.ANYTHING, at_least=5000)
    send(collect, description, encoding, is_gzip=is_gzip)
    collect.stop()

    assert stored.compare(description, collect.store) == (5000, 500)


@pytest.mark.parametrize("profile", [golden.ANYTHING, golden.JAVASCRIPT_JSON], ids=lambda profile: profile.name)
def test_every_pair_of_levels_occurs(described: Described, profile: golden.Profile) -> None:
    spans = described(profile)[1]["spans"]
    # as the file has them: tuples are lists there
    levels = [{factor: json.dumps(level) for factor, level in span["row"].items()} for span in spans]
    seen = set().union(*map(golden.pairs, levels))
    factors = {factor: tuple(map(json.dumps, levels)) for factor, levels in profile.factors().items()}

    assert golden.all_pairs(factors) == seen
    assert len(spans) == 400


def changes(row: stored.Record) -> Iterator[tuple[str, Any]]:
    """Every field of a row, each with something else in it."""
    for name, content in row.items():
        yield name, {str: "other", int: -1, dict: {"other": 1}, list: [1], type(None): 0}[type(content)]


def test_each_field_that_differs_is_noticed(described: Described) -> None:
    """The comparison itself."""
    _, description = described(golden.ANYTHING)
    for rows in ([*stored.expected_spans(description)], [*stored.expected_log_records(description)]):
        row = rows[1]
        for name, other in changes(row):
            found = stored.differences({1: row}, {1: {**copy.deepcopy(row), name: other}})

            assert [line.split(": ")[1] for line in found] == [name]
        assert stored.differences({1: row}, {1: copy.deepcopy(row)}) == []
        assert stored.differences({1: row}, {}) == ["1: not stored"]
        assert stored.differences({}, {1: row}) == ["1: not sent"]


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), (b"1", "1"), (None, ""), ([1], [True]), ([], {})]
)
def test_values_of_different_types_are_different(one: Any, other: Any) -> None:
    assert stored.exact({"value": one}) != stored.exact({"value": other})
