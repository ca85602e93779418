"""Functions that send one request and say what went wrong."""

import http.client
from collections.abc import Callable

TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

Post = Callable[[bytes], str | None]
"""Sends one request: None once it is acknowledged, else what went wrong."""


def grpc_poster(address: str, *, timeout_s: float = 30.0) -> Post:
    """Over one gRPC channel, protobuf."""
    import grpc

    # Comes back at once to a collector that was down: the default waits longer and longer.
    backoff = [("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)]
    export = grpc.insecure_channel(address, options=backoff).unary_unary(TRACE_EXPORT)

    def post(payload: bytes) -> str | None:
        try:
            export(payload, timeout=timeout_s)
        except grpc.RpcError as error:
            return str(error.code().name)
        return None

    return post


def http_poster(address: str, *, timeout_s: float = 30.0, is_json: bool = False) -> Post:
    """Over one HTTP connection that is opened again after an error."""
    connection = http.client.HTTPConnection(address, timeout=timeout_s)
    headers = {"Content-Type": "application/json" if is_json else "application/x-protobuf"}

    def post(payload: bytes) -> str | None:
        try:
            connection.request("POST", "/v1/traces", payload, headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return type(error).__name__
        return None if answer.status == 200 else f"HTTP {answer.status}"

    return post
