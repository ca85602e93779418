"""Encrypted ports: who gets through, who does not, and certificates that change meanwhile."""

import http.client
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from certificates import Authority, Pair, self_signed
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from spanscore.collector import Collector, Security
from spanscore.errors import UsageError

TOKEN = "token-" + "a" * 32
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

MakeRequest = Callable[..., ExportTraceServiceRequest]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture(scope="module")
def tls(folder: Path, authority: Authority) -> Iterator[Collector]:
    """A collector with TLS and a token, that asks for no client certificates."""
    own = authority.issue("server")
    security = Security(tls_cert=own.cert, tls_key=own.key, tokens=(TOKEN,))
    with Collector(folder / "tls-store", security=security) as opened:
        yield opened


@pytest.fixture(scope="module")
def mutual(folder: Path, authority: Authority) -> Iterator[Collector]:
    """A collector that asks for client certificates."""
    own = authority.issue("mutual-server")
    security = Security(tls_cert=own.cert, tls_key=own.key, tls_client_ca=authority.cert)
    with Collector(folder / "mutual-store", security=security) as opened:
        yield opened


def by_http(
    server: Collector,
    payload: bytes,
    *,
    trusts: Path,
    shows: Pair | None = None,
    newest: ssl.TLSVersion | None = None,
    token: str | None = TOKEN,
) -> int | None:
    """HTTP status; None where there was no connection."""
    context = ssl.create_default_context(cafile=str(trusts))
    if newest is not None:
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = newest
    if shows is not None:
        context.load_cert_chain(shows.cert, shows.key)
    assert server.http_address is not None
    connection = http.client.HTTPSConnection(server.http_address, timeout=20, context=context)
    headers = {"Content-Type": "application/x-protobuf"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request("POST", "/v1/traces", payload, headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def by_grpc(
    server: Collector, payload: bytes, *, trusts: Path, shows: Pair | None = None, token: str | None = TOKEN
) -> grpc.StatusCode:
    assert server.grpc_address is not None
    credentials = grpc.ssl_channel_credentials(
        trusts.read_bytes(), *((shows.key.read_bytes(), shows.cert.read_bytes()) if shows is not None else ())
    )
    metadata = () if token is None else (("authorization", f"Bearer {token}"),)
    with grpc.secure_channel(server.grpc_address, credentials) as channel:
        try:
            channel.unary_unary(TRACE_EXPORT)(payload, timeout=5, metadata=metadata)
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            return code
    return grpc.StatusCode.OK


def test_encrypted_requests_with_a_token_are_accepted(
    tls: Collector, authority: Authority, traces: MakeRequest
) -> None:
    payload = traces(1).SerializeToString()

    assert by_http(tls, payload, trusts=authority.cert) == 200
    assert by_grpc(tls, payload, trusts=authority.cert) is grpc.StatusCode.OK
    assert by_http(tls, payload, trusts=authority.cert, token=None) == 401
    assert by_grpc(tls, payload, trusts=authority.cert, token=None) is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(
    ("version", "status"),
    [
        (ssl.TLSVersion.TLSv1, None),
        (ssl.TLSVersion.TLSv1_1, None),
        (ssl.TLSVersion.TLSv1_2, 200),
        (ssl.TLSVersion.TLSv1_3, 200),
    ],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_protocols_are_refused(
    tls: Collector, authority: Authority, traces: MakeRequest, version: ssl.TLSVersion, status: int | None
) -> None:
    assert by_http(tls, traces(1).SerializeToString(), trusts=authority.cert, newest=version) == status


def test_old_protocols_are_refused_by_grpc(tls: Collector, authority: Authority) -> None:
    assert tls.grpc_address is not None
    host, _, port = tls.grpc_address.rpartition(":")
    context = ssl.create_default_context(cafile=str(authority.cert))
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_alpn_protocols(["h2"])
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    with socket.create_connection((host, int(port)), timeout=10) as raw, pytest.raises(OSError):  # noqa: PT011
        context.wrap_socket(raw, server_hostname="localhost")


def test_plain_requests_to_an_encrypted_port_are_refused(tls: Collector, traces: MakeRequest) -> None:
    assert tls.http_address is not None
    assert tls.grpc_address is not None
    payload = traces(1).SerializeToString()
    connection = http.client.HTTPConnection(tls.http_address, timeout=20)

    with pytest.raises((OSError, http.client.HTTPException)):
        connection.request("POST", "/v1/traces", payload, {"Content-Type": "application/x-protobuf"})
        connection.getresponse()
    with grpc.insecure_channel(tls.grpc_address) as channel, pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary(TRACE_EXPORT)(payload, timeout=5)
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE


def test_encrypted_requests_to_a_plain_port_are_refused(
    collector: Collector, authority: Authority, traces: MakeRequest
) -> None:
    payload = traces(1).SerializeToString()

    assert by_http(collector, payload, trusts=authority.cert) is None
    assert by_grpc(collector, payload, trusts=authority.cert) is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("shows", ["good", "none", "expired", "self-signed", "another authority's"])
def test_only_certificates_of_the_authority_are_let_in(
    mutual: Collector, authority: Authority, folder: Path, traces: MakeRequest, shows: str
) -> None:
    payload = traces(1).SerializeToString()
    pair = {
        "good": lambda: authority.issue("client"),
        "none": lambda: None,
        "expired": lambda: authority.issue("expired", valid_days=-1),
        "self-signed": lambda: self_signed(folder, "alone"),
        "another authority's": lambda: Authority(folder, "another").issue("stranger"),
    }[shows]()
    is_good = shows == "good"

    assert by_http(mutual, payload, trusts=authority.cert, shows=pair) == (200 if is_good else None)
    found = by_grpc(mutual, payload, trusts=authority.cert, shows=pair)
    assert found is (grpc.StatusCode.OK if is_good else grpc.StatusCode.UNAVAILABLE)


def test_certificates_and_authorities_are_read_again_when_they_change(
    tmp_path: Path, traces: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.collector.tls._LOOK_EVERY_S", 0.0)
    payload = traces(1).SerializeToString()
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    own = old.issue("server")
    client_ca = tmp_path / "client-ca.pem"
    client_ca.write_bytes(old.cert.read_bytes())
    before, after = old.issue("before"), new.issue("after")
    security = Security(tls_cert=own.cert, tls_key=own.key, tls_client_ca=client_ca)
    with Collector(tmp_path / "store", security=security) as server:

        def statuses() -> list[object]:
            return [
                send(server, payload, trusts=trusted.cert, shows=shown)
                for send in (by_http, by_grpc)
                for trusted, shown in ((old, before), (new, after), (new, before))
            ]

        found = [statuses()]
        own.key.write_bytes(b"half a ke")
        found.append(statuses())
        new.issue("server", to=own)
        client_ca.write_bytes(new.cert.read_bytes())
        _touch(own.cert, own.key, client_ca)
        found.append(statuses())

    ok, gone = grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE
    assert found == [
        [200, None, None, ok, gone, gone],
        [200, None, None, ok, gone, gone],
        [None, 200, None, gone, ok, gone],
    ]


def _touch(*files: Path) -> None:
    for file in files:
        os.utime(file, ns=(time.time_ns(), time.time_ns()))


def test_real_exporters_get_through(tls: Collector, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where these are set, requests prefers them to the file that its session was given.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    exporters = [
        HttpExporter(
            endpoint=f"https://{tls.http_address}/v1/traces",
            headers={"authorization": f"Bearer {TOKEN}"},
            certificate_file=str(authority.cert),
        ),
        GrpcExporter(
            endpoint=f"https://{tls.grpc_address}",
            headers={"authorization": f"Bearer {TOKEN}"},
            credentials=grpc.ssl_channel_credentials(authority.cert.read_bytes()),
        ),
    ]
    before = tls.status()["accepted"]["spans"]
    for exporter in exporters:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        provider.get_tracer("t").start_span("chat").end()
        provider.shutdown()

    assert tls.status()["accepted"]["spans"] == before + len(exporters)


@pytest.mark.parametrize("broken", ["missing", "no PEM", "another key", "encrypted key"])
def test_files_that_cannot_be_used_are_exit_2(tmp_path: Path, broken: str) -> None:
    own = Authority(tmp_path).issue("server")
    if broken == "missing":
        own.cert.unlink()
    elif broken == "no PEM":
        own.cert.write_bytes(b"certificate")
    elif broken == "another key":
        own.key.write_bytes(self_signed(tmp_path, "other").key.read_bytes())
    else:
        _encrypt(own.key)

    with pytest.raises(UsageError, match="TLS files") as raised:
        Collector(tmp_path / "store", security=Security(tls_cert=own.cert, tls_key=own.key)).open()
    assert raised.value.exit_code == 2


def _encrypt(file: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(file.read_bytes(), None)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"passphrase"),
        )
    )


@pytest.mark.slow
def test_silence_instead_of_a_handshake_is_ended(tls: Collector) -> None:
    from spanscore.collector.tls import HANDSHAKE_WITHIN_S

    assert HANDSHAKE_WITHIN_S <= 15
    assert tls.http_address is not None
    host, _, port = tls.http_address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=HANDSHAKE_WITHIN_S + 10) as raw:
        started = time.monotonic()

        assert raw.recv(1) == b""
        assert time.monotonic() - started < HANDSHAKE_WITHIN_S + 5
