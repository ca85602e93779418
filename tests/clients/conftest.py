"""`spanscore collect` as a process, descriptions to send, and what third-party clients need."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spanscore.collector import Collector, read_status
from tests.clients import golden

ROOT = Path(__file__).parents[2]
INSTALLED = Path(os.environ.get("SPANSCORE_TEST_CLIENTS") or ROOT / ".venv" / "clients")
NOT_INSTALLED = "`make clients` has not installed it"
START_S, STORE_S, STOP_S = 60.0, 120.0, 60.0


@dataclass(frozen=True, slots=True)
class CollectorProcess:
    """`spanscore collect` on ports of its own choice."""

    process: subprocess.Popen[bytes]
    store: Path
    grpc_address: str
    http_address: str

    def stop(self) -> None:
        """Ends the collector in good order. Everything that it acknowledged is in the store afterwards."""
        self.process.terminate()

        assert self.process.wait(STOP_S) == 0
        if (read_status(self.store) or {})["waiting_bytes"]:  # a slow machine: the next start takes it up
            with Collector(self.store) as collector:
                collector.drain(STORE_S)


def wait_for(is_so: Callable[[], bool], seconds: float, say: Callable[[], str]) -> None:
    """Returns once it is so; fails after so many seconds."""
    give_up = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up, say()
        time.sleep(0.1)


@pytest.fixture
def collect(tmp_path: Path) -> Iterator[CollectorProcess]:
    """A collector process for one test."""
    store, log = tmp_path / "store", tmp_path / "collect.log"
    command = [sys.executable, "-c", "from spanscore.cli import main; main()", "collect", "--store", str(store)]
    command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:

        def is_ready() -> bool:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            return bool((read_status(store) or {}).get("is_accepting"))

        wait_for(is_ready, START_S, lambda: log.read_text(encoding="utf-8"))
        status = read_status(store) or {}
        yield CollectorProcess(process, store, status["grpc"], status["http"])
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """Writes the golden description of a profile, once for each number of spans: its file and what is in it."""
    written: dict[tuple[str, int], tuple[Path, dict[str, Any]]] = {}

    def describe(profile: golden.Profile, *, at_least: int = 400) -> tuple[Path, dict[str, Any]]:
        key = (profile.name, at_least)
        if key not in written:
            path = tmp_path_factory.mktemp("golden") / f"{profile.name}.json"
            written[key] = (path, golden.write(path, profile, seed=20261130, at_least=at_least))
        return written[key]

    return describe


@pytest.fixture(scope="session")
def client_python() -> Callable[[str], Path]:
    """The interpreter of the environment for third-party clients, if it has the module; else the test is skipped."""

    def find(module: str) -> Path:
        python = INSTALLED / "python" / "bin" / "python"
        if not python.exists():
            pytest.skip(f"{NOT_INSTALLED}: there is no {python}")
        found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            pytest.skip(f"{NOT_INSTALLED}: {found.stderr.strip().splitlines()[-1]}")
        return python

    return find
