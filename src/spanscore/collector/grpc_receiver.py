"""OTLP over gRPC.

The handlers take raw bytes: undecodable requests are then ours to answer (grpcio would say INTERNAL), and the same
bytes go to the spool without being serialised again.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from spanscore.collector.admission import Admission
from spanscore.collector.config import CollectorConfig, format_address, parse_address
from spanscore.collector.intake import Intake
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.status import CollectorStatus
from spanscore.collector.wire import MAX_MESSAGE_CHARACTERS, Refused
from spanscore.errors import UsageError

METRICS_REFUSED = (
    "spanscore stores traces and logs, no metrics. Switch the metrics exporter off, for example with "
    "OTEL_METRICS_EXPORTER=none."
)
_SERVICE = "/opentelemetry.proto.collector.{0}.v1.{1}Service/Export"
_METRICS_METHOD = _SERVICE.format("metrics", "Metrics")
_SIGNALS = {_SERVICE.format("trace", "Trace"): Signal.TRACES, _SERVICE.format("logs", "Logs"): Signal.LOGS}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_THREADS = 16


class GrpcReceiver:
    """A gRPC server for the trace and the log service."""

    def __init__(self, config: CollectorConfig, intake: Intake, admission: Admission, status: CollectorStatus) -> None:
        assert config.grpc is not None
        self._drain_s = config.limits.drain_s
        host, port = parse_address(config.grpc, option="--grpc")
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="otlp-grpc")
        self._server = grpc.server(
            self._threads,
            handlers=[_Export(intake, admission, status)],
            options=[
                ("grpc.max_receive_message_length", config.limits.max_request_bytes),
                # Two collectors on one port would share the connections between them.
                ("grpc.so_reuseport", 0),
                ("grpc.max_concurrent_streams", 256),
            ],
        )
        try:
            bound = self._server.add_insecure_port(format_address(host, port))
        except RuntimeError as error:
            raise UsageError(f"Cannot listen on --grpc {config.grpc}: {error}. Choose another port.") from error
        self.address = format_address(host, bound)

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()

    def stop(self) -> None:
        """Takes nothing new, lets requests finish, and returns when the server is down."""
        self._server.stop(self._drain_s).wait()
        self._threads.shutdown(wait=False)

    def discard(self) -> None:
        """Gives the port back when the server was never started."""
        self._server.stop(None)
        self._threads.shutdown(wait=False)


class _Export(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, intake: Intake, admission: Admission, status: CollectorStatus) -> None:
        self._intake = intake
        self._admission = admission
        self._status = status

    def service(self, details: Any) -> Any:
        """The handler of a method; None for one that does not exist, which grpcio answers UNIMPLEMENTED."""
        if details.method == _METRICS_METHOD:
            return grpc.unary_unary_rpc_method_handler(self._refuse_metrics)
        signal = _SIGNALS.get(details.method)
        if signal is None:
            return None

        def export(payload: bytes, context: Any) -> bytes:
            return self._export(signal, payload, context)

        return grpc.unary_unary_rpc_method_handler(export)

    def _export(self, signal: Signal, payload: bytes, context: Any) -> bytes:
        with self._admission.hold() as held:
            refused = self._admission.refusal() or held.grow(len(payload))
            if refused is not None:
                self._status.count(refused)
                _abort(context, refused)
            answer = self._intake.accept(signal, Encoding.PROTOBUF, payload)
        if isinstance(answer, Refused):
            _abort(context, answer)
        return answer.response(Encoding.PROTOBUF)

    def _refuse_metrics(self, payload: bytes, context: Any) -> bytes:
        del payload
        context.abort(grpc.StatusCode.UNIMPLEMENTED, METRICS_REFUSED)
        raise AssertionError("abort raises")


def _abort(context: Any, refused: Refused) -> NoReturn:
    context.set_trailing_metadata((("grpc-status-details-bin", refused.status(Encoding.PROTOBUF)),))
    context.abort(_CODES[refused.refusal.grpc_code], refused.message[:MAX_MESSAGE_CHARACTERS])
    raise AssertionError("abort raises")
