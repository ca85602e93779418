"""Only those with a token may send, and nobody listens where everybody could."""

import http.client
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Collector, CollectorConfig, Security
from spanscore.collector.auth import Authenticator
from spanscore.errors import UsageError

ONE, TWO, THREE = "one-" + "a" * 32, "two-" + "b" * 32, "three-" + "c" * 32
TRACE_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
METRICS_EXPORT = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"

MakeRequest = Callable[..., ExportTraceServiceRequest]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    folder = tmp_path_factory.mktemp("auth")
    tokens = folder / "tokens"
    tokens.write_text(f"# who\n{ONE}\n\n{TWO}\n", encoding="utf-8")
    tokens.chmod(0o600)
    with Collector(folder / "store", security=Security(token_file=tokens, tokens=(THREE,))) as opened:
        yield opened


def post(
    server: Collector, body: bytes, *, path: str = "/v1/traces", method: str = "POST", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    assert server.http_address is not None
    connection = http.client.HTTPConnection(server.http_address, timeout=20)
    sent = {"Content-Type": "application/x-protobuf", **{name.replace("_", "-"): v for name, v in headers.items()}}
    connection.request(method, path, body, {name: value.encode("latin-1") for name, value in sent.items()})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def call(server: Collector, payload: bytes, method: str = TRACE_EXPORT, **metadata: str) -> grpc.StatusCode:
    assert server.grpc_address is not None
    with grpc.insecure_channel(server.grpc_address) as channel:
        try:
            channel.unary_unary(method)(payload, timeout=20, metadata=tuple(metadata.items()))
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            return code
    return grpc.StatusCode.OK


@pytest.mark.parametrize("token", [ONE, TWO, THREE])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_each_token_is_accepted(server: Collector, traces: MakeRequest, token: str, scheme: str) -> None:
    payload = traces(1).SerializeToString()

    assert post(server, payload, Authorization=f"{scheme} {token}")[0] == 200
    assert call(server, payload, authorization=f"{scheme} {token}") is grpc.StatusCode.OK


WRONG = {
    "no token": None,
    "empty": "",
    "scheme alone": "Bearer",
    "another token": f"Bearer {'x' * 36}",
    "a part of one": f"Bearer {ONE[:-1]}",
    "one and more": f"Bearer {ONE}x",
    "two at once": f"Bearer {ONE},Bearer {TWO}",
    "without a scheme": ONE,
    "another scheme": f"Basic {ONE}",
    "capitals": f"Bearer {ONE.upper()}",
    "long": f"Bearer {'x' * 6000}",
}


@pytest.mark.parametrize("header", WRONG.values(), ids=WRONG)
def test_everybody_else_is_told_to_authenticate(server: Collector, traces: MakeRequest, header: str | None) -> None:
    payload = traces(1).SerializeToString()
    headers = {} if header is None else {"Authorization": header}
    status, answered, body = post(server, payload, **headers)

    assert (status, answered["www-authenticate"]) == (401, 'Bearer realm="spanscore"')
    assert Status.FromString(body).code == grpc.StatusCode.UNAUTHENTICATED.value[0]
    assert ONE.encode() not in body
    metadata = {} if header is None else {"authorization": header}
    assert call(server, payload, **metadata) is grpc.StatusCode.UNAUTHENTICATED
    assert call(server, payload, METRICS_EXPORT, **metadata) is grpc.StatusCode.UNAUTHENTICATED


def test_a_token_beside_the_header_is_none(server: Collector, traces: MakeRequest) -> None:
    payload = traces(1).SerializeToString()

    assert post(server, payload, path=f"/v1/traces?token={ONE}&access_token={ONE}")[0] == 401
    assert post(server, payload, X_API_Key=ONE, Cookie=f"token={ONE}")[0] == 401
    assert post(server, payload, Authorization=f"Bearer é{ONE}")[0] == 401
    assert post(server, payload, path="/nothing/here")[0] == 401


def test_a_token_of_a_megabyte_is_refused_and_the_next_request_answered(server: Collector, traces: MakeRequest) -> None:
    payload = traces(1).SerializeToString()
    try:
        status = post(server, payload, Authorization="Bearer " + "x" * 1_000_000)[0]
    except (ConnectionError, http.client.HTTPException):
        status = 431  # it hung up before the header was through

    assert status in (400, 401, 431)
    assert call(server, payload, authorization="Bearer " + "x" * 1_000_000) is not grpc.StatusCode.OK
    assert post(server, payload, Authorization=f"Bearer {ONE}")[0] == 200
    assert call(server, payload, authorization=f"Bearer {ONE}") is grpc.StatusCode.OK


def test_a_stranger_is_refused_before_the_body_is_read(server: Collector) -> None:
    assert server.http_address is not None
    connection = http.client.HTTPConnection(server.http_address, timeout=10)
    connection.putrequest("POST", "/v1/traces")
    connection.putheader("Content-Type", "application/x-protobuf")
    connection.putheader("Content-Length", str(32 << 20))
    connection.endheaders()
    answer = connection.getresponse()

    assert answer.status == 401
    connection.close()


def test_health_is_open_and_metrics_are_not(server: Collector) -> None:
    assert post(server, b"", path="/healthz", method="GET")[0] == 200
    assert post(server, b"", path="/readyz", method="GET")[0] == 200
    assert post(server, b"", path="/metrics", method="GET")[0] == 401
    assert post(server, b"", path="/metrics", method="GET", Authorization=f"Bearer {TWO}")[0] == 200


def test_no_token_is_written_anywhere(server: Collector, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    post(server, b"", Authorization="Bearer " + "y" * 40)
    written = [path.read_bytes() for path in server.config.store.rglob("*") if path.is_file()]

    for token in (ONE, TWO, THREE, "y" * 40):
        assert all(token.encode() not in content for content in written)
        assert token not in caplog.text
        assert token not in json.dumps(server.status())
        assert token not in repr(server.config)


def test_the_file_is_read_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanscore.collector.auth._LOOK_EVERY_S", 0.0)
    tokens = tmp_path / "tokens"
    tokens.write_text(ONE, encoding="utf-8")
    authenticator = Authenticator(Security(token_file=tokens))
    found = [authenticator.accepts(f"Bearer {token}") for token in (ONE, TWO)]
    _replace(tokens, TWO)
    found += [authenticator.accepts(f"Bearer {token}") for token in (ONE, TWO)]
    _replace(tokens, "short")
    found += [authenticator.accepts(f"Bearer {token}") for token in ("short", TWO)]
    tokens.unlink()
    found += [authenticator.accepts(f"Bearer {token}") for token in ("", TWO)]

    assert found == [True, False, False, True, False, True, False, True]


def _replace(file: Path, text: str) -> None:
    other = file.with_suffix(".new")
    other.write_text(text, encoding="utf-8")
    os.utime(other, ns=(time.time_ns(), time.time_ns()))
    other.replace(file)


@pytest.mark.parametrize(
    "content", [b"", b"# none\n", b"short\n", b"x" * 31, b"\xff" * 40, b"a b" * 20, "é".encode() * 40]
)
def test_a_file_without_good_tokens_is_exit_2(tmp_path: Path, content: bytes) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_bytes(content)

    with pytest.raises(UsageError, match="token") as raised:
        Collector(tmp_path / "store", security=Security(token_file=tokens)).open()
    assert raised.value.exit_code == 2
    with pytest.raises(UsageError, match="cannot be read"):
        Authenticator(Security(token_file=tmp_path / "missing"))
    with pytest.raises(UsageError, match="SPANSCORE_COLLECT_TOKENS"):
        Authenticator(Security(tokens=("short",)))


TLS = {"tls_cert": Path("c"), "tls_key": Path("k")}
PUBLIC = ("0.0.0.0:0", "[::]:0", "192.0.2.1:4317")


@pytest.mark.parametrize(
    ("address", "settings", "says"),
    [
        *[(address, {}, "--insecure-no-auth") for address in PUBLIC],
        *[(address, {"tokens": (ONE,)}, "--insecure-plaintext") for address in PUBLIC],
        ("0.0.0.0:0", TLS, "--insecure-no-auth"),
        ("127.0.0.1:0", {"tls_cert": Path("c")}, "--tls-key"),
        ("127.0.0.1:0", {"tls_key": Path("k")}, "--tls-cert"),
        ("127.0.0.1:0", {"tls_client_ca": Path("a")}, "--tls-cert"),
    ],
)
def test_what_would_be_open_to_anyone_is_refused(
    tmp_path: Path, address: str, settings: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        CollectorConfig(store=tmp_path, http=address, security=Security(**settings)).check()
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("address", "settings"),
    [
        ("127.0.0.1:0", {}),
        ("localhost:0", {}),
        ("[::1]:0", {}),
        ("127.0.0.1:0", {"tokens": (ONE,)}),
        ("0.0.0.0:0", {"tokens": (ONE,), **TLS}),
        ("0.0.0.0:0", {"tls_client_ca": Path("a"), **TLS}),
        ("0.0.0.0:0", {"tokens": (ONE,), "insecure_plaintext": True}),
        ("0.0.0.0:0", {"insecure_no_auth": True}),
    ],
)
def test_what_is_guarded_or_local_is_allowed(tmp_path: Path, address: str, settings: dict[str, object]) -> None:
    CollectorConfig(store=tmp_path, http=address, grpc=None, security=Security(**settings)).check()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"insecure_no_auth": True}, "no authentication"),
        ({"insecure_no_auth": True}, "not encrypted"),
        ({"tokens": (ONE,), "insecure_plaintext": True}, "in plain text"),
    ],
)
def test_every_start_says_what_is_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, settings: dict[str, object], says: str
) -> None:
    security = Security(**settings)
    with Collector(tmp_path / "store", grpc=None, http="0.0.0.0:0", security=security):
        pass

    assert says in caplog.text
    assert "0.0.0.0:0" in caplog.text


@pytest.mark.parametrize(
    ("mode", "is_warned"),
    [(0o600, False), (0o400, False), (0o440, False), (0o640, False), (0o644, True), (0o606, True), (0o660, False)],
)
def test_a_token_file_is_warned_about_when_everybody_may_read_or_write_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, is_warned: bool
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{ONE}\n", encoding="utf-8")
    tokens.chmod(mode)
    Authenticator(Security(token_file=tokens))

    assert ("chmod" in caplog.text) is is_warned
