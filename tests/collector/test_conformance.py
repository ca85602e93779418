"""What OTLP asks of a server, request by request, over HTTP and gRPC."""

import gzip
import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import ParseDict
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanscore.collector import Collector, CollectorLimits

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
LIMIT = 1 << 20
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
METRICS_EXPORT = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"

SPAN: dict[str, Any] = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "parentSpanId": "eee19b7ec3c1b173",
    "name": "chat",
    "kind": 2,
    "startTimeUnixNano": "1544712660000000000",
    "endTimeUnixNano": "1544712661000000000",
    "attributes": [{"key": "n", "value": {"intValue": "1"}}],
}


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    store = tmp_path_factory.mktemp("conformance") / "store"
    with Collector(store, limits=CollectorLimits(max_request_bytes=LIMIT)) as opened:
        yield opened


def post(
    server: Collector,
    body: bytes | Iterator[bytes],
    kind: str | None = PROTOBUF,
    *,
    path: str = "/v1/traces",
    method: str = "POST",
    **headers: str,
) -> Answer:
    assert server.http_address is not None
    connection = http.client.HTTPConnection(server.http_address, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind is not None:
        sent["Content-Type"] = kind
    connection.request(method, path, body, sent, encode_chunked=True)
    answer = connection.getresponse()
    found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    connection.close()
    return found


def one_span(**changes: object) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, **changes}]}]}]}


def as_json(document: object) -> bytes:
    return json.dumps(document).encode()


def status_of(answer: Answer) -> Status:
    """The error's body, in the encoding its Content-Type names."""
    if answer.headers["content-type"] == JSON:
        return ParseDict(json.loads(answer.body), Status())
    assert answer.headers["content-type"] == PROTOBUF
    return Status.FromString(answer.body)


def call(server: Collector, method: str, payload: bytes, compression: grpc.Compression | None = None) -> bytes:
    assert server.grpc_address is not None
    with grpc.insecure_channel(server.grpc_address) as channel:
        answer: bytes = channel.unary_unary(method)(payload, timeout=20, compression=compression)
        return answer


TRACES = ExportTraceServiceRequest()
ParseDict(
    {
        "resource_spans": [
            {
                "scope_spans": [
                    {"spans": [{"name": "chat", "trace_id": "AAAAAAAAAAAAAAAAAAAAAQ==", "span_id": "AAAAAAAAAAE="}]}
                ]
            }
        ]
    },
    TRACES,
)
PAYLOAD = TRACES.SerializeToString()
MEMBERS = gzip.compress(PAYLOAD[:20]) + gzip.compress(PAYLOAD[20:])


@pytest.mark.parametrize(
    ("kind", "body", "headers"),
    [
        pytest.param(PROTOBUF, PAYLOAD, {}, id="C01 protobuf"),
        pytest.param(JSON, as_json(one_span()), {}, id="C02 json"),
        pytest.param(
            "Application/JSON; charset=utf-8", as_json(one_span()), {}, id="C03 media type parameters and case"
        ),
        pytest.param(PROTOBUF, b"", {}, id="C08 empty protobuf"),
        pytest.param(JSON, b"{}", {}, id="C09 empty object"),
        pytest.param(JSON, b'{"resourceSpans":[]}', {}, id="C09 empty list"),
        pytest.param(JSON, b'{"resourceSpans":[{}]}', {}, id="C09 no scopeSpans"),
        pytest.param(PROTOBUF, gzip.compress(PAYLOAD), {"Content_Encoding": "gzip"}, id="C11 gzip protobuf"),
        pytest.param(JSON, gzip.compress(as_json(one_span())), {"Content_Encoding": "gzip"}, id="C11 gzip json"),
        pytest.param(PROTOBUF, PAYLOAD, {"Content_Encoding": "identity"}, id="C12 identity"),
        pytest.param(PROTOBUF, MEMBERS, {"Content_Encoding": "gzip"}, id="C15 two gzip members"),
        pytest.param(JSON, as_json(one_span(kind=99)), {}, id="C25 unknown kind"),
        pytest.param(JSON, as_json({**one_span(), "new": {"a": [1]}}), {}, id="C26 unknown field"),
        pytest.param(
            JSON, as_json({"resource_spans": one_span()["resourceSpans"]}), {}, id="C28 snake case is unknown"
        ),
        pytest.param(JSON, as_json(one_span(startTimeUnixNano=1544712660000000000)), {}, id="C29 time as a number"),
        pytest.param(JSON, as_json(one_span(events=None, links=None, parentSpanId=None)), {}, id="C38 null is absent"),
        pytest.param(PROTOBUF, PAYLOAD, {"Expect": "100-continue"}, id="C55 expect"),
    ],
)
def test_is_accepted_in_full(server: Collector, kind: str, body: bytes, headers: dict[str, str]) -> None:
    answer = post(server, body, kind, **headers)
    is_json = kind.lower().startswith(JSON)

    assert (answer.status, answer.body) == (200, b"{}" if is_json else b"")
    assert answer.headers["content-type"] == (JSON if is_json else PROTOBUF)


@pytest.mark.parametrize(
    ("status", "kind", "body", "headers"),
    [
        pytest.param(400, JSON, b"", {}, id="C10 empty json"),
        pytest.param(400, PROTOBUF, PAYLOAD, {"Content_Encoding": "gzip"}, id="C14 not gzip"),
        pytest.param(400, PROTOBUF, b"", {"Content_Encoding": "gzip"}, id="C14 nothing instead of gzip"),
        pytest.param(400, PROTOBUF, gzip.compress(PAYLOAD)[:-9], {"Content_Encoding": "gzip"}, id="C14 cut gzip"),
        pytest.param(
            400, PROTOBUF, gzip.compress(PAYLOAD) + b"x", {"Content_Encoding": "gzip"}, id="C14 trailing garbage"
        ),
        pytest.param(
            400, PROTOBUF, gzip.compress(PAYLOAD)[:-8] + bytes(8), {"Content_Encoding": "gzip"}, id="C14 wrong crc"
        ),
        pytest.param(400, PROTOBUF, b"\xff\xff\xff", {}, id="C19 malformed protobuf"),
        pytest.param(400, JSON, b'{"resourceSpans":[', {}, id="C19 malformed json"),
        pytest.param(400, JSON, as_json(one_span(kind="SPAN_KIND_SERVER")), {}, id="C24 enum by name"),
        pytest.param(
            400,
            JSON,
            as_json(one_span(attributes=[{"key": "n", "value": {"intValue": "9223372036854775808"}}])),
            {},
            id="C31 int64 overflow",
        ),
        pytest.param(
            400, JSON, as_json(one_span(attributes=[{"key": "n", "value": {"intValue": "1.5"}}])), {}, id="C31 fraction"
        ),
        pytest.param(
            400, JSON, as_json(one_span(attributes=[{"key": "n", "value": {"intValue": "abc"}}])), {}, id="C31 word"
        ),
        pytest.param(400, JSON, b'{"resourceSpans":[],"x":NaN}', {}, id="C33 bare NaN"),
        pytest.param(413, PROTOBUF, bytes(LIMIT + 1), {}, id="C16 over the limit"),
        pytest.param(
            413,
            PROTOBUF,
            gzip.compress(bytes(LIMIT + 1)),
            {"Content_Encoding": "gzip"},
            id="C17 over the limit once unpacked",
        ),
        pytest.param(413, JSON, gzip.compress(bytes(100 * LIMIT)), {"Content_Encoding": "gzip"}, id="I01 gzip bomb"),
        pytest.param(415, "text/plain", PAYLOAD, {}, id="C04 text"),
        pytest.param(415, None, PAYLOAD, {}, id="C04 no type"),
        pytest.param(415, "multipart/form-data; boundary=x", PAYLOAD, {}, id="C04 multipart"),
        pytest.param(415, PROTOBUF, PAYLOAD, {"Content_Encoding": "br"}, id="C13 br"),
        pytest.param(415, PROTOBUF, PAYLOAD, {"Content_Encoding": "gzip, gzip"}, id="C13 gzip twice"),
    ],
)
def test_is_refused_for_good(
    server: Collector, status: int, kind: str | None, body: bytes, headers: dict[str, str]
) -> None:
    answer = post(server, body, kind, **headers)

    assert answer.status == status
    assert answer.headers["content-type"] == (PROTOBUF if kind == PROTOBUF else JSON)
    assert status_of(answer).message
    assert "retry-after" not in answer.headers
    assert post(server, PAYLOAD).status == 200


def test_c16_a_request_of_exactly_the_limit_is_read(server: Collector) -> None:
    head = PAYLOAD + b"\x7a"  # field 15, unknown: ignored
    size = LIMIT - len(head) - 3
    body = head + bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14]) + bytes(size)

    assert len(body) == LIMIT
    assert post(server, body).status == 200
    assert post(server, body + b"\x00").status == 413


def test_c18_a_chunked_body_over_the_limit_is_refused_while_it_is_read(server: Collector) -> None:
    answer = post(server, (bytes(1 << 16) for _ in range(40)), PROTOBUF)

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_c19_a_malformed_request_says_so_in_detail(server: Collector) -> None:
    status = status_of(post(server, b"\xff\xff\xff"))
    detail = BadRequest()

    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert status.details[0].Unpack(detail)
    assert detail.field_violations[0].description == status.message


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_c05_c07_only_post_is_answered(server: Collector, method: str) -> None:
    answer = post(server, b"", None, method=method)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("path", "says"), [("/nope", "/v1/traces"), ("/v1/metrics", "OTEL_METRICS_EXPORTER=none")])
def test_c06_other_paths_are_not_found(server: Collector, path: str, says: str) -> None:
    answer = post(server, PAYLOAD, path=path)

    assert answer.status == 404
    assert says in status_of(answer).message


def test_i19_length_and_chunks_at_once_are_refused(server: Collector) -> None:
    answer = post(server, iter([PAYLOAD]), Content_Length="5", Transfer_Encoding="chunked")

    assert answer.status == 400


def test_i20_a_flood_of_headers_is_refused(server: Collector) -> None:
    assert post(server, PAYLOAD, **{f"X_{n}": "y" for n in range(90)}).status == 200
    assert post(server, PAYLOAD, **{f"X_{n}": "y" for n in range(200)}).status == 431


def test_c20_c22_c29_c30_json_values_are_exact(
    collector: Collector, stored: Callable[..., list[tuple[Any, ...]]]
) -> None:
    """Hex ids in any case, 64-bit integers and times as text or number."""
    spans = [
        {
            **SPAN,
            "spanId": "EEE19B7EC3C1B174",
            "traceId": "5B8EFFF798038103D269B633813FC60C",
            "startTimeUnixNano": 2**63,
        },
        {**SPAN, "spanId": "00000000000000aB", "links": [{"traceId": "AB" * 16, "spanId": "cD" * 8}]},
        {
            **SPAN,
            "spanId": "00000000000000ac",
            "attributes": [{"key": "n", "value": {"intValue": "9223372036854775807"}}],
        },
        {**SPAN, "spanId": "00000000000000ad", "attributes": [{"key": "n", "value": {"intValue": -(2**63)}}]},
    ]
    answer = post(collector, as_json({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), JSON)
    rows = stored(
        collector,
        "select trace_id, span_id, parent_span_id, start_time_unix_nano, attributes['n']::bigint from spans order by 2",
    )

    assert answer.status == 200
    trace_id, parent, start = SPAN["traceId"], SPAN["parentSpanId"], 1544712660000000000
    assert rows == [
        (trace_id, "00000000000000ab", parent, start, 1),
        (trace_id, "00000000000000ac", parent, start, 2**63 - 1),
        (trace_id, "00000000000000ad", parent, start, -(2**63)),
        (trace_id, "eee19b7ec3c1b174", parent, 2**63, 1),
    ]
    assert stored(collector, "select linked_trace_id, linked_span_id from span_links") == [("ab" * 16, "cd" * 8)]


@pytest.mark.parametrize("transport", ["http", "json", "grpc"])
def test_c41_invalid_spans_are_counted_and_the_others_stored(
    collector: Collector, stored: Callable[..., list[tuple[Any, ...]]], traces: Callable[..., Any], transport: str
) -> None:
    request = traces(0, 1, 2, 3, 4)
    request.resource_spans[0].scope_spans[0].spans[1].trace_id = b"short"
    request.resource_spans[0].scope_spans[0].spans[3].span_id = bytes(8)
    if transport == "grpc":
        answer = ExportTraceServiceResponse.FromString(call(collector, TRACE_EXPORT, request.SerializeToString()))
    elif transport == "http":
        answer = ExportTraceServiceResponse.FromString(post(collector, request.SerializeToString()).body)
    else:
        spans = [{**SPAN, "spanId": f"{n:016x}"} for n in range(1, 6)]
        spans[1]["traceId"], spans[3]["spanId"] = "W47/95gDgQPSabYzgT/GDA==", "0" * 16
        body = as_json({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
        answer = ParseDict(json.loads(post(collector, body, JSON).body), ExportTraceServiceResponse())
    accounting = "select outcome, reason, n from ingest_accounting order by outcome, reason"

    assert answer.partial_success.rejected_spans == 2
    assert answer.partial_success.error_message.startswith("2 of 5 spans rejected: 1 invalid span id")
    assert stored(collector, "select count(*) from spans") == [(3,)]
    assert stored(collector, accounting) == [
        ("received", None, 5),
        ("rejected", "invalid_span_id", 1),
        ("rejected", "invalid_trace_id", 1),
        ("stored", None, 3),
    ]


def test_log_records_are_stored(
    collector: Collector, stored: Callable[..., list[tuple[Any, ...]]], logs: Callable[..., Any]
) -> None:
    document = {
        "resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "7", "body": {"stringValue": "c"}}]}]}]
    }
    answers = [
        post(collector, logs("a").SerializeToString(), path="/v1/logs").body,
        post(collector, as_json(document), JSON, path="/v1/logs").body,
        call(collector, LOGS_EXPORT, logs("b").SerializeToString()),
    ]

    assert answers == [b"", b"{}", b""]
    assert not ExportLogsServiceResponse.FromString(answers[2]).HasField("partial_success")
    assert stored(collector, "select body::varchar from log_records order by 1") == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_c44_c50_grpc_accepts_in_full(server: Collector, compression: grpc.Compression | None) -> None:
    assert call(server, TRACE_EXPORT, PAYLOAD, compression) == b""


@pytest.mark.parametrize(
    ("method", "payload", "compression", "code", "says"),
    [
        pytest.param(TRACE_EXPORT, bytes(LIMIT + 1), None, "RESOURCE_EXHAUSTED", "larger than max", id="C48 plain"),
        pytest.param(
            TRACE_EXPORT,
            bytes(LIMIT * 9),
            grpc.Compression.Gzip,
            "RESOURCE_EXHAUSTED",
            "larger than max",
            id="C48 gzip",
        ),
        pytest.param(TRACE_EXPORT, b"\xff\xff\xff", None, "INVALID_ARGUMENT", "cannot be decoded", id="C49"),
        pytest.param(TRACE_EXPORT + "s", PAYLOAD, None, "UNIMPLEMENTED", "Method not found", id="C51"),
        pytest.param(METRICS_EXPORT, b"", None, "UNIMPLEMENTED", "OTEL_METRICS_EXPORTER=none", id="metrics"),
    ],
)
def test_grpc_refuses_for_good(
    server: Collector, method: str, payload: bytes, compression: grpc.Compression | None, code: str, says: str
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        call(server, method, payload, compression)

    assert (raised.value.code().name, says in raised.value.details()) == (code, True)
    details = dict(raised.value.trailing_metadata()).get("grpc-status-details-bin", b"")
    assert b"RetryInfo" not in details
    assert call(server, TRACE_EXPORT, PAYLOAD) == b""


def test_c53_c54_one_connection_carries_both_encodings_many_times(server: Collector) -> None:
    assert server.http_address is not None
    connection = http.client.HTTPConnection(server.http_address, timeout=20)
    connection.connect()
    socket = connection.sock
    for n in range(100):
        kind, body = (JSON, b"{}") if n % 2 else (PROTOBUF, PAYLOAD)
        connection.request("POST", "/v1/traces", body, {"Content-Type": kind})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200

    assert connection.sock is socket
    connection.close()


def test_c52_a_hundred_calls_at_once_are_all_answered(server: Collector) -> None:
    assert server.grpc_address is not None
    with grpc.insecure_channel(server.grpc_address) as channel:
        export = channel.unary_unary(TRACE_EXPORT)
        answers = [export.future(PAYLOAD, timeout=30) for _ in range(100)]

        assert [answer.result() for answer in answers] == [b""] * 100


def test_health_paths_answer(server: Collector) -> None:
    answers = [post(server, b"", None, method="GET", path=path) for path in ("/healthz", "/readyz")]

    assert [(answer.status, answer.body) for answer in answers] == [(200, b"ok\n")] * 2
