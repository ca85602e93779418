"""An independent collector in between: agents send to rotel, rotel sends on, and every field arrives."""

import dataclasses
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.clients import golden, stored
from tests.clients.conftest import NOT_INSTALLED, STOP_S, CollectorProcess, wait_for

Described = Callable[..., tuple[Path, dict[str, Any]]]

PROGRAM = Path(__file__).with_name("send.py")
# To OTLP/JSON with a double that is no number, with an empty value, or with an array or kvlist without its empty list
# of values, rotel answers 400.
NOT_FROM_JSON = ("nan", "infinity", "minus infinity", "empty", "empty array", "empty kvlist", "mixed array", "kvlist")
NOT_FROM_JSON += ("nested array", "nested kvlist")
FROM_JSON = dataclasses.replace(golden.PYTHON, name="python-json-through-rotel", without_values=NOT_FROM_JSON)
WHERE = "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('rotel').origin).parent)"


@pytest.fixture(scope="module")
def agent(client_python: Callable[[str], Path]) -> Path:
    """The program of rotel; where it cannot be run here, the test is skipped."""
    folder = subprocess.run([client_python("rotel"), "-c", WHERE], capture_output=True, text=True, check=True).stdout
    program = Path(folder.strip()) / "rotel-agent"
    tried = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"{NOT_INSTALLED}: rotel does not start: {tried.stderr.strip()}")
    return program


def free_ports(n: int) -> list[int]:
    """Ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(agent: Path, folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """A running rotel: where it receives, by protocol. At the end it sends on what it has, and stops."""
    grpc, http = free_ports(2)
    receivers = {"otlp-grpc-endpoint": f"127.0.0.1:{grpc}", "otlp-http-endpoint": f"127.0.0.1:{http}"}
    command = [str(agent), "start", "--exporter", "otlp", "--pid-file", str(folder / "rotel.pid"), *options]
    for name, value in receivers.items():
        command += [f"--{name}", value]
    with (folder / "rotel.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(lambda: is_open(grpc) and is_open(http), 30, (folder / "rotel.log").read_text)
        yield {"grpc": receivers["otlp-grpc-endpoint"], "http": receivers["otlp-http-endpoint"]}
        process.terminate()

        assert process.wait(STOP_S) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "onward", "compression"),
    [
        ("grpc", "grpc", "plain"),
        ("grpc", "http", "gzip"),
        ("protobuf", "grpc", "gzip"),
        ("protobuf", "http", "plain"),
        ("json", "grpc", "gzip"),
        ("json", "http", "plain"),
    ],
)
def test_five_thousand_spans_through_another_collector(
    collect: CollectorProcess,
    described: Described,
    client_python: Callable[[str], Path],
    agent: Path,
    tmp_path: Path,
    encoding: str,
    onward: str,
    compression: str,
) -> None:
    path, description = described(FROM_JSON if encoding == "json" else golden.PYTHON, at_least=5000)
    python = client_python("opentelemetry.exporter.otlp.json.http") if encoding == "json" else sys.executable
    to = {"grpc": collect.grpc_address, "http": collect.http_address}[onward]
    options = ["--otlp-exporter-endpoint", f"http://{to}", "--otlp-exporter-protocol", onward]
    options += ["--otlp-exporter-compression", {"plain": "none", "gzip": "gzip"}[compression]]
    with running(agent, tmp_path, *options) as receivers:
        endpoint = receivers["grpc" if encoding == "grpc" else "http"]
        command = [python, PROGRAM, path, encoding, endpoint, compression]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    collect.stop()

    assert stored.compare(description, collect.store) == (5000, 500)
