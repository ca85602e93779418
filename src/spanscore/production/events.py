"""Scores as OTLP log records, `gen_ai.evaluation.result`, to an endpoint or a file.

The same score always makes the same record, time included: who receives one twice can tell.

Source: https://github.com/open-telemetry/semantic-conventions-genai, model/gen-ai/events.yaml
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore import __version__
from spanscore.addresses import Address, read_address
from spanscore.errors import DeliveryFailed, UsageError
from spanscore.production.delivery import post
from spanscore.store.outbox import forget_sent, keep_failure, waiting_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

EVENT = "gen_ai.evaluation.result"
NOT_APPLICABLE = "not_applicable"
_SEVERITY_INFO = 9
# Runs whose scores go in one request: some 20,000 records with the whole catalogue.
_RUNS_AT_ONCE = 200
# Receivers refuse bodies of more than a few MB.
_RECORDS_AT_ONCE = 2_000
_TIMEOUT_S = 30.0

# `localhost:4318`, `https//host`: an endpoint with something missing, and no file that anybody means.
_LOOKS_LIKE_ADDRESS = re.compile(r"[A-Za-z0-9.-]+:\d+(/|$)|\[[0-9A-Fa-f:]+\]:\d+|https?[:/]", re.IGNORECASE)

Record = dict[str, Any]


class Destination:
    """Where scores are sent: an OTLP/HTTP endpoint, or a file of OTLP/JSON lines that grows."""

    def __init__(self, word: str, environ: Mapping[str, str]) -> None:
        """`word` is a URL, to which `/v1/logs` is added, or a file.

        Raises:
            UsageError: it is neither.
        """
        self.is_url = "://" in word
        self._headers: dict[str, str] = {}
        if not self.is_url:
            if not word or _LOOKS_LIKE_ADDRESS.match(word):
                raise UsageError(
                    f"`{word}` is neither an endpoint nor a file for scores.\n"
                    "  Write an endpoint with its scheme, as http://localhost:4318, or a file as ./scores.jsonl."
                )
            self.name = str(Path(word).absolute())
            if Path(word).is_dir():
                raise UsageError(
                    f"--emit `{word}` is a folder.\n  Name a file, or an endpoint as http://localhost:4318."
                )
            return
        address = read_address(word, called="--emit")
        parts = urllib.parse.urlsplit(address.url)
        path = parts.path.rstrip("/")
        self._url = parts._replace(path=path if path.endswith("/v1/logs") else f"{path}/v1/logs").geturl()
        # User, password, query and tokens in the path are secrets, and the store is read by many.
        self.name = Address(self._url).name
        listed = environ.get("OTEL_EXPORTER_OTLP_LOGS_HEADERS") or environ.get("OTEL_EXPORTER_OTLP_HEADERS") or ""
        for pair in filter(None, (one.strip() for one in listed.split(","))):
            key, _, value = pair.partition("=")
            self._headers[key.strip()] = urllib.parse.unquote(value.strip())
        if address.authorization is not None:
            if any(key.lower() == "authorization" for key in self._headers):
                raise UsageError(
                    "--emit names a user, and $OTEL_EXPORTER_OTLP_HEADERS or $OTEL_EXPORTER_OTLP_LOGS_HEADERS an "
                    "authorization.\n  Only one of them can be sent: take the other out."
                )
            self._headers |= address.headers

    def send(self, records: Sequence[Record]) -> int:
        """Sends records; returns how many of them the receiver rejected for good [count].

        Raises:
            DeliveryFailed: they did not arrive.
        """
        rejected = 0
        for first in range(0, len(records), _RECORDS_AT_ONCE):
            if not self.is_url:
                _append(Path(self.name), records[first : first + _RECORDS_AT_ONCE])
                continue
            headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip", **self._headers}
            body = gzip.compress(as_protobuf(records[first : first + _RECORDS_AT_ONCE]), compresslevel=1)
            rejected += _rejected(post(self._url, body, headers=headers, timeout_s=_TIMEOUT_S))
        return rejected


def emit(store: Path, destination: Destination, *, on_sent: Callable[[int], None] | None = None) -> tuple[int, int]:
    """Sends all scores that wait for `destination`; returns how many were sent and how many of these rejected [count].

    Raises:
        DeliveryFailed: some did not arrive; they wait for the next pass, and the store knows why.
    """
    sent = rejected = 0
    while True:
        waiting = waiting_scores(store, destination.name, limit=_RUNS_AT_ONCE)
        if not waiting.subjects:
            return sent, rejected
        records = [record(row) for row in waiting.scores.to_pylist()]
        try:
            rejected += destination.send(records)
        except DeliveryFailed as error:
            keep_failure(store, destination.name, str(error))
            raise
        sent += len(records)
        if on_sent is not None:
            on_sent(sent)
        forget_sent(store, destination.name, waiting.subjects)


def record(row: Mapping[str, Any]) -> Record:
    """The log record of a score, as OTLP/JSON writes it.

    `spanscore.evaluation.id` is made of the evaluator with its file and parameters, of what was scored and of the spans
    that it saw: a later score of the same subject has another one.
    """
    value, label = row["score_value"], row["score_label"]
    if value is None and label is None and row["error"] is None:
        label = NOT_APPLICABLE
    identity = (row["evaluator"], row["evaluator_sha256"], row["params"], row["grain"], row["run_id"], row["scored_id"])
    digest = hashlib.sha256(repr((*identity, row["trace_fingerprint"])).encode()).hexdigest()
    attributes = {
        "gen_ai.evaluation.name": row["evaluator"],
        "gen_ai.evaluation.score.value": None if row["error"] is not None else value,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": row["explanation"],
        "gen_ai.response.id": row["response_id"],
        "gen_ai.conversation.id": row["session_id"],
        "gen_ai.agent.name": row["agent_name"],
        "error.type": row["error"],
        "spanscore.evaluation.not_applicable_reason": row["not_applicable_reason"],
        "spanscore.evaluation.id": digest[:32],
        "spanscore.evaluation.grain": row["grain"],
        "spanscore.evaluation.subject.id": row["scored_id"],
        "spanscore.evaluation.run.id": row["run_id"],
        "spanscore.evaluator.sha256": row["evaluator_sha256"],
    }
    moment = str(row["scored_at_us"] * 1000)
    found: Record = {
        "timeUnixNano": moment,
        "observedTimeUnixNano": moment,
        "severityNumber": _SEVERITY_INFO,
        "severityText": "INFO",
        "eventName": EVENT,
        "attributes": [
            {"key": key, "value": {"doubleValue": given} if isinstance(given, float) else {"stringValue": given}}
            for key, given in attributes.items()
            if given is not None
        ],
    }
    if row["trace_id"] is not None:
        found["traceId"] = row["trace_id"]
        if row["span_id"] is not None:
            found["spanId"] = row["span_id"]
    return found


def as_json(records: Sequence[Record]) -> bytes:
    """One line of OTLP/JSON."""
    import orjson

    scope = {"name": "spanscore", "version": __version__}
    document = {
        "resourceLogs": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "spanscore"}}]},
                "scopeLogs": [{"scope": scope, "logRecords": list(records)}],
            }
        ]
    }
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def as_protobuf(records: Iterable[Record]) -> bytes:
    """An ExportLogsServiceRequest."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource

    def value(given: Mapping[str, Any]) -> AnyValue:
        if "doubleValue" in given:
            return AnyValue(double_value=given["doubleValue"])
        return AnyValue(string_value=given["stringValue"])

    def log_record(one: Record) -> LogRecord:
        return LogRecord(
            time_unix_nano=int(one["timeUnixNano"]),
            observed_time_unix_nano=int(one["observedTimeUnixNano"]),
            severity_number=one["severityNumber"],
            severity_text=one["severityText"],
            event_name=one["eventName"],
            trace_id=bytes.fromhex(one.get("traceId", "")),
            span_id=bytes.fromhex(one.get("spanId", "")),
            attributes=[KeyValue(key=pair["key"], value=value(pair["value"])) for pair in one["attributes"]],
        )

    resource = Resource(attributes=[KeyValue(key="service.name", value=AnyValue(string_value="spanscore"))])
    scope = InstrumentationScope(name="spanscore", version=__version__)
    scope_logs = ScopeLogs(scope=scope, log_records=[log_record(one) for one in records])
    request = ExportLogsServiceRequest(resource_logs=[ResourceLogs(resource=resource, scope_logs=[scope_logs])])
    return request.SerializeToString()


def _rejected(answer: bytes) -> int:
    """What a partial success says was rejected [records]; sending that again is pointless, says OTLP."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    try:
        response = ExportLogsServiceResponse.FromString(answer)
    except DecodeError:
        # Some receivers answer in JSON, or in words: 2xx is what counts.
        return 0
    return int(response.partial_success.rejected_log_records)


def _append(path: Path, records: Sequence[Record]) -> None:
    """Writes one line and sees it to the disk. A line that a killed process left torn gets an end first."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            start = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
            line = start + as_json(records)
            written = 0
            while written < len(line):
                written += os.write(descriptor, line[written:])
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DeliveryFailed(f"`{path}` cannot be written: {error.strerror}.") from error
