"""The exporters of the OpenTelemetry SDK for Python: every field that they send is stored."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanscore.collector import Collector
from tests.clients import golden, stored
from tests.clients.conftest import CollectorProcess
from tests.clients.send import send

Described = Callable[..., tuple[Path, dict[str, Any]]]

PROGRAM = Path(__file__).with_name("send.py")


@pytest.mark.parametrize(("encoding", "compression"), [("grpc", "gzip"), ("protobuf", "plain")])
def test_what_the_exporters_send_is_stored_field_by_field(
    tmp_path: Path, described: Described, encoding: str, compression: str
) -> None:
    path, description = described(golden.PYTHON)
    with Collector(tmp_path / "store") as collector:
        endpoint = {"grpc": collector.grpc_address, "protobuf": collector.http_address}[encoding]

        assert send(path, encoding, endpoint, compression)

    counts = (len(description["spans"]), len(description["log_records"]))
    assert stored.compare(description, tmp_path / "store") == counts


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["plain", "gzip"])
@pytest.mark.parametrize("encoding", ["grpc", "protobuf", "json"])
def test_five_thousand_spans_of_an_agent_in_another_process(
    collect: CollectorProcess,
    described: Described,
    client_python: Callable[[str], Path],
    encoding: str,
    compression: str,
) -> None:
    path, description = described(golden.PYTHON, at_least=5000)
    python = client_python("opentelemetry.exporter.otlp.json.http") if encoding == "json" else sys.executable
    endpoint = collect.grpc_address if encoding == "grpc" else collect.http_address
    command = [python, PROGRAM, path, encoding, endpoint, compression]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    collect.stop()

    assert stored.compare(description, collect.store) == (5000, 500)
