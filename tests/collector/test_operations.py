"""What operators read: health, readiness, and figures for Prometheus."""

import http.client
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from made_up_secrets import secrets
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from spanscore.collector import Collector, CollectorLimits
from spanscore.collector.metrics import BOUNDS_S, Latencies, exposition
from spanscore.collector.records import SpoolRecord
from spanscore.collector.spool import Spool
from spanscore.errors import SpoolUnavailable

MakeTraces = Callable[..., ExportTraceServiceRequest]
MakeLogs = Callable[..., ExportLogsServiceRequest]


def ask(
    collector: Collector, path: str, body: bytes | None = None, kind: str = "application/x-protobuf", **headers: str
) -> tuple[int, Mapping[str, str], bytes]:
    assert collector.http_address is not None
    connection = http.client.HTTPConnection(collector.http_address, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        sent["Content-Type"] = kind
    connection.request("GET" if body is None else "POST", path, body, sent)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def figures(collector: Collector) -> dict[tuple[str, ...], float]:
    """Every sample as an independent parser reads it: (name, label values …) -> value."""
    status, headers, body = ask(collector, "/metrics")

    assert status == 200
    assert headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name.removeprefix("spanscore_collector_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def test_figures_tell_what_happened(collector: Collector, traces: MakeTraces, logs: MakeLogs) -> None:
    request = traces(1, 2, 3)
    request.resource_spans[0].scope_spans[0].spans[2].trace_id = b"short"
    (_, text, _), *_ = secrets(1)
    ask(collector, "/v1/traces", request.SerializeToString())
    ask(collector, "/v1/logs", logs("hello", text).SerializeToString())
    ask(collector, "/v1/traces", b"\xff\xff")
    ask(collector, "/v1/traces", b"{}", "text/plain")
    collector.drain()
    found = figures(collector)

    assert found["requests_accepted_total",] == 2
    assert found["items_accepted_total", "traces"] == 2
    assert found["items_accepted_total", "logs"] == 2
    assert found["items_rejected_total", "traces", "invalid_trace_id"] == 1
    assert found["requests_refused_total", "malformed"] == 1
    assert found["requests_refused_total", "unsupported_type"] == 1
    assert found["redactions_total", "aws_access_key"] == 1
    assert found["redacted_requests_total",] == 1
    assert found["ack_seconds_count",] == 2
    assert found["ack_seconds_bucket", "+Inf"] == 2
    assert 0 < found["ack_seconds_sum",] < 20
    assert found["spool_waiting_spans",] == 0
    assert found["spool_segments",] >= 1
    assert found["spans_stored_total",] == 2
    assert found["ready",] == 1
    assert found["process_resident_memory_bytes",] > 1 << 20
    assert abs(found["process_start_time_seconds",] - time.time()) < 60
    assert any(name[0] == "build_info" for name in found)


def test_the_page_on_operations_names_every_figure(collector: Collector) -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    names = {name[0].removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in figures(collector)}

    assert {name for name in names if f"`{name}" not in page} == set()


def test_what_is_not_known_has_no_figure(collector: Collector) -> None:
    found = figures(collector)

    assert ("lag_seconds",) not in found
    assert ("last_load_timestamp_seconds",) not in found
    assert found["ack_seconds_count",] == 0


def test_labels_survive_whatever_stands_in_them(collector: Collector) -> None:
    status = {**collector.status(), "refused_requests": {'a"b\\c\nd': 3}}
    page = exposition(status, Latencies(), is_ready=True, segments=0, resident_bytes=0).decode()
    (refused,) = [one for one in text_string_to_metric_families(page) if one.name.endswith("requests_refused")]

    assert [(sample.labels, sample.value) for sample in refused.samples] == [({"reason": 'a"b\\c\nd'}, 3)]
    assert "resident" not in page


def test_buckets_count_what_is_at_most_as_long() -> None:
    latencies = Latencies()
    for seconds in (0.0, BOUNDS_S[0], BOUNDS_S[0] * 1.01, BOUNDS_S[-1] * 2):
        latencies.observe(seconds)
    counts, _ = latencies.read()

    assert counts == [2, *[3] * (len(BOUNDS_S) - 1), 4]


def test_readiness_is_lost_whenever_requests_are_refused(tmp_path: Path, traces: MakeTraces) -> None:
    limits = CollectorLimits(min_free_bytes=1 << 60)
    with Collector(tmp_path / "store", limits=limits) as collector:
        status, headers, body = ask(collector, "/readyz")

        assert (status, headers["retry-after"]) == (503, "30")
        assert b"disk" in body
        assert ask(collector, "/v1/traces", traces(1).SerializeToString())[0] == 503
        assert ask(collector, "/healthz")[0] == 200
        assert figures(collector)["ready",] == 0


class BrokenSpool(Spool):
    """A spool whose disk fails until it is told otherwise."""

    is_broken = True

    def append(self, record: SpoolRecord) -> None:
        if self.is_broken:
            raise SpoolUnavailable("the disk fails")
        super().append(record)


def test_readiness_comes_back_with_the_disk(tmp_path: Path, traces: MakeTraces) -> None:
    payload = traces(1).SerializeToString()
    with Collector(tmp_path / "store", open_spool=BrokenSpool) as collector:
        found = [ask(collector, path, body)[0] for path, body in (("/readyz", None), ("/v1/traces", payload))]
        found.append(ask(collector, "/readyz")[0])
        collector._spool.is_broken = False  # type: ignore[attr-defined]
        found += [ask(collector, path, body)[0] for path, body in (("/v1/traces", payload), ("/readyz", None))]

    assert found == [200, 503, 503, 200, 200]


def test_a_full_collector_is_not_ready(collector: Collector) -> None:
    most = collector.config.limits.max_in_flight_bytes
    admission = collector._admission

    assert admission.take(most)
    assert ask(collector, "/readyz")[0] == 503
    admission.give_back(most)
    assert ask(collector, "/readyz")[0] == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_a_page_that_makes_its_name_point_here_gets_nothing(collector: Collector, path: str) -> None:
    assert collector.http_address is not None
    port = collector.http_address.rpartition(":")[2]
    own = ["localhost", "127.0.0.1", "[::1]", "127.0.0.2", "LOCALHOST", "agent.localhost"]

    for host in own:
        assert ask(collector, path, Host=f"{host}:{port}")[0] == 200
        assert ask(collector, path, Host=host)[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "localhost.evil.example",
    ):
        assert ask(collector, path, Host=host)[0] == 403


def test_a_page_cannot_send(collector: Collector, traces: MakeTraces) -> None:
    payload = traces(1).SerializeToString()
    accepted = collector.status()["accepted"]["requests"]

    assert ask(collector, "/v1/traces", payload, "text/plain", Origin="https://evil.example")[0] == 415
    assert ask(collector, "/v1/traces", payload, "application/x-www-form-urlencoded")[0] == 415
    assert ask(collector, "/v1/traces", payload, Host="evil.example", Origin="http://evil.example")[0] == 403
    assert collector.status()["accepted"]["requests"] == accepted
    assert ask(collector, "/v1/traces", payload, Host="collector.internal")[0] == 200
