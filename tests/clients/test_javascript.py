"""The exporters of OpenTelemetry JavaScript: every field that they send is stored."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients import golden, stored
from tests.clients.conftest import INSTALLED, NOT_INSTALLED, CollectorProcess

Described = Callable[..., tuple[Path, dict[str, Any]]]

PROGRAM = Path(__file__).with_name("send.mjs")
PROFILES = {"grpc": golden.JAVASCRIPT, "protobuf": golden.JAVASCRIPT, "json": golden.JAVASCRIPT_JSON}


@pytest.fixture(scope="module")
def node() -> str:
    """The JavaScript interpreter; without it, or without the exporters, the test is skipped."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no `node`: install Node.js and run `make clients`")
    if not (INSTALLED / "node_modules" / "@opentelemetry").is_dir():
        pytest.skip(f"{NOT_INSTALLED}: there is no {INSTALLED / 'node_modules'}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["plain", "gzip"])
@pytest.mark.parametrize("encoding", PROFILES)
def test_five_thousand_spans_of_a_javascript_agent(
    collect: CollectorProcess, described: Described, node: str, encoding: str, compression: str
) -> None:
    path, description = described(PROFILES[encoding], at_least=5000)
    endpoint = collect.grpc_address if encoding == "grpc" else collect.http_address
    command = [node, PROGRAM, INSTALLED, path, encoding, endpoint, compression]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    collect.stop()

    assert stored.compare(description, collect.store) == (5000, 500)
