"""The few OTLP answers, as bytes: an export response, and `google.rpc.Status` for everything that is refused.

Written by hand because the messages are tiny and the collector then needs no generated code for them; the tests decode
every one with the official classes.

Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/status.proto
"""

import json
from dataclasses import dataclass, field
from enum import Enum

from spanscore.collector.records import Encoding, Signal

MAX_MESSAGE_CHARACTERS = 1024

_REJECTED_KEY = {Signal.TRACES: "rejectedSpans", Signal.LOGS: "rejectedLogRecords"}
_TYPE_PREFIX = "type.googleapis.com/google.rpc."


class Refusal(Enum):
    """Why a request is not accepted: gRPC status code, HTTP status, and whether sending it again may help."""

    MALFORMED = (3, 400, False)
    TOO_LARGE = (8, 413, False)
    UNAVAILABLE = (14, 503, True)
    NOT_FOUND = (5, 404, False)
    UNAUTHENTICATED = (16, 401, False)
    FORBIDDEN = (7, 403, False)
    METHOD_NOT_ALLOWED = (12, 405, False)
    UNSUPPORTED_TYPE = (3, 415, False)
    TOO_MANY_HEADERS = (3, 431, False)

    def __init__(self, grpc_code: int, http_status: int, is_retryable: bool) -> None:
        self.grpc_code = grpc_code
        self.http_status = http_status
        self.is_retryable = is_retryable


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer to a request that was not accepted.

    Attributes:
        retry_after_s: when to try again [s]; only where the refusal is retryable.
    """

    refusal: Refusal
    message: str
    retry_after_s: int = 1

    def status(self, encoding: Encoding) -> bytes:
        """A `google.rpc.Status` with `RetryInfo` where a retry may help and `BadRequest` where the bytes are wrong."""
        message = self.message[:MAX_MESSAGE_CHARACTERS]
        if encoding is Encoding.JSON:
            return json.dumps(self._json(message), separators=(",", ":")).encode()
        status = _integer(1, self.refusal.grpc_code) + _text(2, message)
        if self.refusal.is_retryable:
            status += _bytes(3, _any("RetryInfo", _bytes(1, _integer(1, self.retry_after_s))))
        elif self.refusal is Refusal.MALFORMED:
            status += _bytes(3, _any("BadRequest", _bytes(1, _text(1, "body") + _text(2, message))))
        return status

    def _json(self, message: str) -> dict[str, object]:
        document: dict[str, object] = {"code": self.refusal.grpc_code, "message": message}
        if self.refusal.is_retryable:
            document["details"] = [{"@type": _TYPE_PREFIX + "RetryInfo", "retryDelay": f"{self.retry_after_s}s"}]
        elif self.refusal is Refusal.MALFORMED:
            violations = [{"field": "body", "description": message}]
            document["details"] = [{"@type": _TYPE_PREFIX + "BadRequest", "fieldViolations": violations}]
        return document


UNAUTHENTICATED = Refused(
    Refusal.UNAUTHENTICATED,
    "The request carries no token that this collector knows. Send `Authorization: Bearer TOKEN`.",
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to a request that is on disk.

    Attributes:
        received: spans or log records in it [count].
        rejected: why some of them cannot be stored: reason -> count.
        warnings: what is odd about some that are stored: problem -> count.
    """

    signal: Signal
    received: int
    rejected: dict[str, int]
    warnings: dict[str, int] = field(default_factory=dict)

    def response(self, encoding: Encoding) -> bytes:
        """An export response; `partial_success` is unset where all was stored and nothing odd about it."""
        count = sum(self.rejected.values())
        if not count and not self.warnings:
            return b"{}" if encoding is Encoding.JSON else b""
        message = self._message(count)
        if encoding is Encoding.JSON:
            partial = {_REJECTED_KEY[self.signal]: str(count)} if count else {}
            return json.dumps({"partialSuccess": partial | {"errorMessage": message}}, separators=(",", ":")).encode()
        return _bytes(1, (_integer(1, count) if count else b"") + _text(2, message))

    def _message(self, count: int) -> str:
        noun = "spans" if self.signal is Signal.TRACES else "log records"
        parts = []
        if count:
            parts.append(f"{count} of {self.received} {noun} rejected: {_counted(self.rejected)}.")
        if self.warnings:
            parts.append(f"Stored with a warning: {_counted(self.warnings)}.")
        return " ".join(parts)[:MAX_MESSAGE_CHARACTERS]


def _counted(reasons: dict[str, int]) -> str:
    return ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in sorted(reasons.items()))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _integer(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _bytes(field, content.encode("utf-8", "replace"))


def _any(kind: str, content: bytes) -> bytes:
    return _text(1, _TYPE_PREFIX + kind) + _bytes(2, content)
