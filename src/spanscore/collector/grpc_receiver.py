"""OTLP over gRPC.

The handlers take raw bytes: undecodable requests are then ours to answer (grpcio would say INTERNAL), and the same
bytes go to the spool without being serialised again. They read the request themselves, as if it were a stream of one
message: so that nothing is read while the collector is overloaded, and a message that never ends holds no thread and is
given up after a while.
"""

import asyncio
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from spanscore.collector.admission import THREADS, Admission, Hold
from spanscore.collector.auth import Authenticator
from spanscore.collector.config import CollectorConfig, format_address, parse_address
from spanscore.collector.intake import Intake
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.status import CollectorStatus
from spanscore.collector.tls import Certificates
from spanscore.collector.wire import MAX_MESSAGE_CHARACTERS, UNAUTHENTICATED, Accepted, Refusal, Refused
from spanscore.errors import UsageError

METRICS_REFUSED = (
    "spanscore stores traces and logs, no metrics. Switch the metrics exporter off, for example with "
    "OTEL_METRICS_EXPORTER=none."
)
MESSAGE_WITHIN_S = 30.0
_LOOK_EVERY_S = 1.0
_SERVICE = "/opentelemetry.proto.collector.{0}.v1.{1}Service/Export"
_METRICS_METHOD = _SERVICE.format("metrics", "Metrics")
_SIGNALS = {_SERVICE.format("trace", "Trace"): Signal.TRACES, _SERVICE.format("logs", "Logs"): Signal.LOGS}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_OPTIONS = [
    # Two collectors on one port would share the connections between them.
    ("grpc.so_reuseport", 0),
    ("grpc.max_concurrent_streams", 256),
    # Connections of clients that say nothing, have nothing to say any more, or are gone [ms].
    ("grpc.server_handshake_timeout_ms", 10_000),
    ("grpc.max_connection_idle_ms", 300_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Clients that look for dead servers more often than every 5 minutes would otherwise be sent away.
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
]


class GrpcReceiver:
    """A gRPC server for the trace and the log service, with its event loop on a thread of its own."""

    def __init__(
        self,
        config: CollectorConfig,
        intake: Intake,
        admission: Admission,
        status: CollectorStatus,
        authenticator: Authenticator,
        certificates: Certificates | None,
    ) -> None:
        assert config.grpc is not None
        self._drain_s = config.limits.drain_s
        host, port = parse_address(config.grpc, option="--grpc")
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_ignore)
        self._thread = threading.Thread(target=self._loop.run_forever, name="otlp-grpc-server", daemon=True)
        self._thread.start()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="otlp-grpc")
        export = _Export(intake, admission, status, authenticator, self._threads)
        size = ("grpc.max_receive_message_length", config.limits.max_request_bytes)
        self._server = self._await(_make_server(export, [size, *_OPTIONS]))
        try:
            address = format_address(host, port)
            if certificates is None:
                bound = self._server.add_insecure_port(address)
            else:
                bound = self._server.add_secure_port(address, certificates.grpc_credentials())
        except RuntimeError as error:
            self.discard()
            raise UsageError(f"Cannot listen on --grpc {config.grpc}: {error}. Choose another port.") from error
        self.address = format_address(host, bound)

    def start(self) -> None:
        """Begins to answer."""
        self._await(self._server.start())

    def stop(self) -> None:
        """Takes nothing new, lets requests finish, and returns when the server is down."""
        self._stop(self._drain_s)

    def discard(self) -> None:
        """Gives the port back when the server was never started."""
        self._stop(None)

    def _stop(self, grace_s: float | None) -> None:
        self._await(self._server.stop(grace_s))
        self._threads.shutdown(wait=False)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _await(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


async def _make_server(export: "_Export", options: list[tuple[str, int]]) -> Any:
    return grpc.aio.server(handlers=[export], options=options)


def _ignore(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Drops what grpcio reports when the events of several servers in one process wake each other's loops."""
    if not isinstance(context.get("exception"), BlockingIOError):
        loop.default_exception_handler(context)


class _Export(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(
        self,
        intake: Intake,
        admission: Admission,
        status: CollectorStatus,
        authenticator: Authenticator,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._authenticator = authenticator
        self._intake = intake
        self._admission = admission
        self._status = status
        self._threads = threads

    def service(self, details: Any) -> Any:
        """The handler of a method; None for one that does not exist, which grpcio answers UNIMPLEMENTED."""
        header = next((value for key, value in details.invocation_metadata or () if key == "authorization"), None)
        if not self._authenticator.accepts(header):
            self._status.count(UNAUTHENTICATED)
            # The message of a stranger is never read.
            return grpc.stream_unary_rpc_method_handler(_refuse_stranger)
        if details.method == _METRICS_METHOD:
            return grpc.stream_unary_rpc_method_handler(_refuse_metrics)
        signal = _SIGNALS.get(details.method)
        if signal is None:
            return None

        async def export(_requests: Any, context: Any) -> bytes:
            answer = await self._export(signal, context)
            if isinstance(answer, Refused):
                await _abort(context, answer)
            return answer.response(Encoding.PROTOBUF)

        return grpc.stream_unary_rpc_method_handler(export)

    async def _export(self, signal: Signal, context: Any) -> Accepted | Refused:
        payload = self._admission.refusal() or await self._read(context)
        held = self._admission.hold()
        if not isinstance(payload, Refused):
            payload = held.grow(len(payload)) or payload
        if isinstance(payload, Refused):
            self._status.count(payload)
            return payload
        content, read_at = payload, time.monotonic()
        try:
            accepting = asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: self._intake.accept(signal, Encoding.PROTOBUF, content, read_at=read_at)
            )
        except RuntimeError:
            # The threads have ended: the collector is stopping.
            held.give_back()
            raise
        # A client that gives up ends this coroutine, not the thread or the queue that has its request.
        accepting.add_done_callback(lambda done: _give_back(held, done))
        return await asyncio.shield(accepting)

    async def _read(self, context: Any) -> bytes | Refused:
        """The request's message, or why it is not read to its end."""
        deadline = time.monotonic() + MESSAGE_WITHIN_S
        reading = asyncio.ensure_future(context.read())
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=min(_LOOK_EVERY_S, MESSAGE_WITHIN_S))
                if reading.done():
                    break
                if time.monotonic() > deadline:
                    return Refused(Refusal.UNAVAILABLE, "The request came too slowly.")
                refused = self._admission.memory_refusal()
                if refused is not None:
                    return refused
        finally:
            reading.cancel()
        message = reading.result()
        if message is grpc.aio.EOF:
            return Refused(Refusal.MALFORMED, "The call ended without a request.")
        payload: bytes = message
        return payload


def _give_back(held: Hold, done: asyncio.Future[Accepted | Refused]) -> None:
    held.give_back()
    if not done.cancelled():
        # Looked at, so that asyncio does not report as lost what nobody waits for any more.
        done.exception()


async def _refuse_metrics(_requests: Any, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, METRICS_REFUSED)
    raise AssertionError("abort raises")


async def _refuse_stranger(_requests: Any, context: Any) -> bytes:
    await _abort(context, UNAUTHENTICATED)


async def _abort(context: Any, refused: Refused) -> NoReturn:
    details = (("grpc-status-details-bin", refused.status(Encoding.PROTOBUF)),)
    code = _CODES[refused.refusal.grpc_code]
    await context.abort(code, refused.message[:MAX_MESSAGE_CHARACTERS], trailing_metadata=details)
    raise AssertionError("abort raises")
