"""OTLP over HTTP: `/v1/traces` and `/v1/logs`, protobuf and JSON, plain and gzip."""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvicorn

from spanscore.collector.admission import QUEUE_WITHIN_S, THREADS, Admission, Hold, waited_too_long
from spanscore.collector.auth import Authenticator
from spanscore.collector.config import CollectorConfig, format_address, parse_address
from spanscore.collector.grpc_receiver import METRICS_REFUSED
from spanscore.collector.gunzip import gunzip, too_large
from spanscore.collector.http_body import ClientGone, Receive, RequestBody
from spanscore.collector.http_protocol import ReapingProtocol
from spanscore.collector.intake import Intake
from spanscore.collector.operations_app import FORBIDDEN, METHODS, PATHS, Operations
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.status import CollectorStatus
from spanscore.collector.tls import Certificates, HandshakeLoop
from spanscore.collector.wire import UNAUTHENTICATED, Accepted, Refusal, Refused
from spanscore.errors import UsageError

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_SIGNALS = {"/v1/traces": Signal.TRACES, "/v1/logs": Signal.LOGS}
_TYPES = {"application/x-protobuf": Encoding.PROTOBUF, "application/json": Encoding.JSON}
_TYPE_NAMES = {encoding: name.encode() for name, encoding in _TYPES.items()}
_GZIP = frozenset({"gzip", "x-gzip"})
_MAX_HEADERS = 100
_MAX_HEADER_BYTES = 64 << 10

log = logging.getLogger(__name__)


class OtlpApp:
    """The ASGI application; decoding and syncing happen on threads, so that the event loop stays free."""

    def __init__(
        self,
        config: CollectorConfig,
        intake: Intake,
        admission: Admission,
        status: CollectorStatus,
        authenticator: Authenticator,
    ) -> None:
        self._authenticator = authenticator
        self._operations = Operations(config, admission, status, authenticator)
        self._limit = config.limits.max_request_bytes
        self._intake = intake
        self._admission = admission
        self._status = status
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="otlp-http")

    def close(self) -> None:
        """Ends the threads once they are done."""
        self._threads.shutdown()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path, headers = scope["path"], scope["headers"]
        if path in PATHS and scope["method"] in METHODS:
            await self._answer_operator(path, headers, RequestBody(receive, is_awaited=False), send)
            return
        # What is refused is explained in the request's own encoding; where that is unknown, in JSON.
        encoding = _encoding(headers)
        signal = _SIGNALS.get(path)
        body = RequestBody(receive, is_awaited=_header(headers, b"expect").lower() == "100-continue")
        refused = self._check_sender(headers) or _check_head(scope["method"], path, headers)
        if refused is not None or signal is None or encoding is None:
            refused = refused or _unsupported(headers)
            self._status.count(refused)
            await self._refuse(refused, encoding or Encoding.JSON, body, send)
            return
        try:
            answer = await self._read_and_accept(signal, encoding, headers, body)
        except ClientGone:
            return
        if isinstance(answer, Refused):
            await self._refuse(answer, encoding, body, send)
        else:
            await _send(send, 200, _TYPE_NAMES[encoding], answer.response(encoding))

    async def _read_and_accept(
        self, signal: Signal, encoding: Encoding, headers: list[tuple[bytes, bytes]], body: RequestBody
    ) -> Accepted | Refused:
        with self._admission.hold() as held:
            refused = self._admission.refusal() or _check_length(headers, self._limit)
            if refused is not None:
                self._status.count(refused)
                return refused
            content = await body.read(limit=self._limit, held=held)
            if isinstance(content, Refused):
                self._status.count(content)
                return content
            is_gzip = _header(headers, b"content-encoding").lower() in _GZIP
            loop = asyncio.get_running_loop()
            read_at = time.monotonic()
            return await loop.run_in_executor(
                self._threads, self._accept, signal, encoding, content, is_gzip, held, read_at
            )

    def _accept(
        self, signal: Signal, encoding: Encoding, body: bytes, is_gzip: bool, held: Hold, read_at: float
    ) -> Accepted | Refused:
        with self._admission.turn(waits_since=read_at) as turn:
            payload: bytes | Refused = body
            if time.monotonic() - read_at > QUEUE_WITHIN_S:
                payload = waited_too_long()
            elif is_gzip:
                payload = gunzip(body, limit=self._limit, grow=lambda amount: turn.grow(amount) or held.grow(amount))
            if isinstance(payload, Refused):
                self._status.count(payload)
                return payload
            return self._intake.accept(signal, encoding, payload, read_at=read_at)

    async def _refuse(self, refused: Refused, encoding: Encoding, body: RequestBody, send: Send) -> None:
        extra = [(b"connection", b"close")]
        if refused.refusal.is_retryable:
            extra.append((b"retry-after", str(refused.retry_after_s).encode()))
        if refused.refusal is Refusal.METHOD_NOT_ALLOWED:
            extra.append((b"allow", b"POST"))
        if refused.refusal is Refusal.UNAUTHENTICATED:
            extra.append((b"www-authenticate", b'Bearer realm="spanscore"'))
        status, kind = refused.refusal.http_status, _TYPE_NAMES[encoding]
        # A client that waits for leave to send its body takes the answer for a no, and sends none.
        await _send(send, status, kind, refused.status(encoding), extra, discard=None if body.is_awaited else body)

    def _check_sender(self, headers: list[tuple[bytes, bytes]]) -> Refused | None:
        if not self._authenticator.accepts(_header(headers, b"authorization")):
            return UNAUTHENTICATED
        # Only browsers say where the page came from that sends something.
        if _header(headers, b"origin") and not self._operations.is_own_host(_header(headers, b"host")):
            return FORBIDDEN
        return None

    async def _answer_operator(
        self, path: str, headers: list[tuple[bytes, bytes]], body: RequestBody, send: Send
    ) -> None:
        authorization = _header(headers, b"authorization").encode("latin-1")
        page = self._operations.page(path, host=_header(headers, b"host"), authorization=authorization)
        if isinstance(page, Refused):
            self._status.count(page)
            await self._refuse(page, Encoding.JSON, body, send)
        else:
            await _send(send, page.status, page.content_type, page.body, page.headers)


class HttpReceiver:
    """uvicorn on a thread of its own."""

    def __init__(
        self,
        config: CollectorConfig,
        intake: Intake,
        admission: Admission,
        status: CollectorStatus,
        authenticator: Authenticator,
        certificates: Certificates | None,
    ) -> None:
        assert config.http is not None
        host, port = parse_address(config.http, option="--http")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=1024)
        except OSError as error:
            raise UsageError(f"Cannot listen on --http {config.http}: {error}. Choose another port.") from error
        # Accepted connections inherit it. Else the body of an answer waits 40 ms for the client to confirm its head:
        # asyncio sets it only where the protocol of the socket is given.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address = format_address(host, self._socket.getsockname()[1])
        self._app = OtlpApp(config, intake, admission, status, authenticator)
        context = None if certificates is None else certificates.http_context()
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._app,
                loop="asyncio",
                http=ReapingProtocol.limited_to(config.limits.max_connections),
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                log_level="error",
                server_header=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=max(1, round(config.limits.drain_s)),
                h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
                ssl_context_factory=None if context is None else lambda _config, _make: context,
            )
        )
        self._thread = threading.Thread(target=self._run, name="otlp-http-server", daemon=True)

    def start(self) -> None:
        """Begins to answer."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)

    def stop(self) -> None:
        """Takes nothing new, lets requests finish, and returns when the server is down."""
        self._server.should_exit = True
        self._thread.join()
        self._app.close()

    def discard(self) -> None:
        """Gives the port back when the server was never started."""
        self._socket.close()
        self._app.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=HandshakeLoop) as runner:
            runner.run(self._server.serve(sockets=[self._socket]))


def _check_head(method: str, path: str, headers: list[tuple[bytes, bytes]]) -> Refused | None:
    if len(headers) > _MAX_HEADERS:
        return Refused(Refusal.TOO_MANY_HEADERS, f"The request has more than {_MAX_HEADERS} headers.")
    if path == "/v1/metrics":
        return Refused(Refusal.NOT_FOUND, METRICS_REFUSED)
    if path not in _SIGNALS:
        return Refused(Refusal.NOT_FOUND, "There is nothing here. Send to /v1/traces or /v1/logs.")
    if method != "POST":
        return Refused(Refusal.METHOD_NOT_ALLOWED, "Only POST is answered here.")
    names = [name for name, _ in headers]
    if b"transfer-encoding" in names and b"content-length" in names:
        return Refused(Refusal.MALFORMED, "The request has both a Content-Length and a Transfer-Encoding.")
    compression = _header(headers, b"content-encoding").lower()
    if compression not in _GZIP and compression not in ("", "identity"):
        return Refused(Refusal.UNSUPPORTED_TYPE, "The Content-Encoding is not supported. Send gzip, or none.")
    return None


def _check_length(headers: list[tuple[bytes, bytes]], limit: int) -> Refused | None:
    length = _header(headers, b"content-length")
    return too_large(limit) if length.isdigit() and int(length) > limit else None


def _unsupported(headers: list[tuple[bytes, bytes]]) -> Refused:
    found = _header(headers, b"content-type")[:100] or "missing"
    wanted = " or ".join(_TYPES)
    return Refused(Refusal.UNSUPPORTED_TYPE, f"The Content-Type is {found!a}. Send {wanted}.")


def _encoding(headers: list[tuple[bytes, bytes]]) -> Encoding | None:
    return _TYPES.get(_header(headers, b"content-type").partition(";")[0].strip().lower())


def _header(headers: list[tuple[bytes, bytes]], name: bytes) -> str:
    """All values of a header, joined as HTTP has it; empty when it is missing."""
    return ",".join(value.decode("latin-1").strip() for key, value in headers if key == name)


async def _send(
    send: Send,
    status: int,
    content_type: bytes,
    body: bytes,
    extra: list[tuple[bytes, bytes]] | None = None,
    *,
    discard: RequestBody | None = None,
) -> None:
    """Answers; with `discard`, reads what the client is still sending before the connection is closed."""
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *(extra or [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if discard is None:
        await send({"type": "http.response.body", "body": body})
        return
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await discard.discard()
    await send({"type": "http.response.body", "body": b""})
