"""Clients of a collector that send what they are told to, right or wrong, and give back what was answered."""

import fcntl
import http.client
import json
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import grpc
from google.protobuf.json_format import ParseDict
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanscore.store import database_path

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
TYPES = {"protobuf": PROTOBUF, "json": JSON}
ENCODINGS = ("protobuf", "json", "grpc")
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
METRICS_EXPORT = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


class Server(Protocol):
    """A collector in this process, or where one in another process listens."""

    http_address: str | None
    grpc_address: str | None


@dataclass(frozen=True)
class CollectorProcess:
    """`spanscore collect` as a process of its own."""

    process: subprocess.Popen[str]
    http_address: str | None
    grpc_address: str | None
    store: Path

    @contextmanager
    def nothing_loaded(self) -> Iterator[None]:
        """A context in which spans gather in the spool: this process has the lock without which no store is opened."""
        with database_path(self.store).open("rb+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            yield


@contextmanager
def collector_process(store: Path) -> Iterator[CollectorProcess]:
    """Starts a collector on free ports, and kills it at the end if it still runs."""
    run = "import sys; from spanscore.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, "collect", "--store", str(store), "--grpc", "127.0.0.1:0"]
    process = subprocess.Popen([*command, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the collector did not start"
            found = re.search(r"OTLP/gRPC (\S+), OTLP/HTTP (\S+?)\. ", line)
        yield CollectorProcess(process, http_address=found[2], grpc_address=found[1], store=store)
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Answer:
    """What came back, over HTTP or gRPC.

    Attributes:
        status: of HTTP; 0 over gRPC.
        code: the name of a gRPC status code; over HTTP the one in the `google.rpc.Status`, "OK" where there is none.
    """

    status: int
    code: str
    message: str = ""
    response: ExportTraceServiceResponse = field(default_factory=ExportTraceServiceResponse)
    retry_after_s: int | None = None
    violations: list[str] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def rejected(self) -> int:
        """Spans that a partial success says were rejected."""
        return int(self.response.partial_success.rejected_spans)

    @property
    def warning(self) -> str:
        """The message of a partial success."""
        return str(self.response.partial_success.error_message)

    @property
    def is_full_success(self) -> bool:
        """Whether all was accepted and nothing said about it."""
        return self.code == "OK" and not self.response.HasField("partial_success")


def post(
    server: Server,
    body: bytes | Iterator[bytes],
    kind: str | None = PROTOBUF,
    *,
    path: str = "/v1/traces",
    method: str = "POST",
    **headers: str,
) -> Answer:
    """One request on a connection of its own."""
    assert server.http_address is not None
    connection = http.client.HTTPConnection(server.http_address, timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind is not None:
        sent["Content-Type"] = kind
    connection.request(method, path, body, sent, encode_chunked=True)
    answer = read_answer(connection)
    connection.close()
    return answer


def read_answer(connection: http.client.HTTPConnection) -> Answer:
    """The answer to the request that was sent."""
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return http_answer(answer.status, headers, answer.read())


def http_answer(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The parts of an HTTP answer, decoded with the official classes in the encoding that its Content-Type names."""
    kind = headers.get("content-type")
    if kind not in (PROTOBUF, JSON):
        return Answer(status, "UNKNOWN", headers=headers, body=body)
    if status == 200:
        response = ExportTraceServiceResponse()
        if kind == JSON:
            ParseDict(json.loads(body), response)
        else:
            response = ExportTraceServiceResponse.FromString(body)
        return Answer(status, "OK", response=response, headers=headers, body=body)
    found = ParseDict(json.loads(body), Status()) if kind == JSON else Status.FromString(body)
    return Answer(status, headers=headers, body=body, **_status_parts(found))


def _status_parts(status: Status) -> dict[str, Any]:
    codes = {code.value[0]: code.name for code in grpc.StatusCode}
    parts: dict[str, Any] = {"code": codes[status.code], "message": status.message}
    for detail in status.details:
        retry, bad = RetryInfo(), BadRequest()
        if detail.Unpack(retry):
            parts["retry_after_s"] = retry.retry_delay.seconds
        elif detail.Unpack(bad):
            parts["violations"] = [violation.description for violation in bad.field_violations]
    return parts


def call(
    server: Server,
    payload: bytes,
    method: str = TRACE_EXPORT,
    *,
    compression: grpc.Compression | None = None,
    channel: grpc.Channel | None = None,
) -> Answer:
    """One unary call, on a channel of its own unless one is given."""
    if channel is None:
        with own_channel(server) as own:
            return call(server, payload, method, compression=compression, channel=own)
    try:
        body: bytes = channel.unary_unary(method)(payload, timeout=60, compression=compression)
    except grpc.RpcError as error:
        return grpc_answer(error)
    return Answer(0, "OK", response=ExportTraceServiceResponse.FromString(body), body=body)


def grpc_answer(error: Any) -> Answer:
    """The parts of a call that failed."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    parts = {} if details is None else _status_parts(Status.FromString(details))
    assert parts.get("code", error.code().name) == error.code().name
    return Answer(0, **{**parts, "code": error.code().name, "message": error.details() or ""})


def own_channel(server: Server) -> grpc.Channel:
    """A channel with a connection of its own."""
    assert server.grpc_address is not None
    return grpc.insecure_channel(server.grpc_address, [("grpc.use_local_subchannel_pool", 1)])


def deliver(server: Server, encoding: str, document: Any) -> Answer:
    """Sends a trace request, given as OTLP/JSON (an object, or text for what no object can say) or as a message."""
    if encoding == "json":
        body = document if isinstance(document, (bytes, str)) else json.dumps(document)
        return post(server, body.encode() if isinstance(body, str) else body, JSON)
    message = document if isinstance(document, ExportTraceServiceRequest) else as_message(document)
    payload = message.SerializeToString()
    return post(server, payload) if encoding == "protobuf" else call(server, payload)


def as_message(document: Any) -> ExportTraceServiceRequest:
    """The message that an OTLP/JSON object stands for, by way of protobuf's own JSON, in which ids are base64."""
    if isinstance(document, (str, bytes)):
        document = json.loads(document)
    return ParseDict(_with_base64_ids(document), ExportTraceServiceRequest(), ignore_unknown_fields=True)


def _with_base64_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64encode(bytes.fromhex(item)).decode()
        if re.fullmatch("traceId|spanId|parentSpanId", key) and item is not None
        else _with_base64_ids(item)
        for key, item in value.items()
    }
