"""The commands of deploy/, run as they stand: another folder and other ports are all that is changed."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.store import read_session
from tests.deploy import files
from tests.deploy.test_agreement import GRPC, HTTP, STORE

PROGRAM = [sys.executable, "-c", "from spanscore.cli import main; main()"]
TOKEN = "0123456789abcdef" * 4
START_S = 60

pytestmark = pytest.mark.slow


class Place:
    """A folder instead of the machine, and ports that are free."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store"
        self.tokens = folder / "tokens"
        self.tokens.write_text(f"{TOKEN}\n", encoding="utf-8")
        self.tokens.chmod(0o600)
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.ports = {port: opened.getsockname()[1] for port, opened in zip((GRPC, HTTP), sockets, strict=True)}
        for opened in sockets:
            opened.close()

    def words(self, words: list[str]) -> list[str]:
        """The words with what is different here."""
        text = "\n".join(words).replace(STORE, str(self.store))
        text = re.sub(r"(--token-file[=\n])\S+", rf"\g<1>{self.tokens}", text)
        return re.sub(r"(?<=:)\d{4}$", lambda port: str(self.ports[int(port[0])]), text, flags=re.MULTILINE).split("\n")

    def start(self, words: list[str]) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": "/nonexistent"}
        command = [*PROGRAM, *self.words(words)]
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE)

    def ask(self, method: str, path: str, body: bytes | None = None, token: str | None = None) -> int:
        """The status of an answer."""
        headers = {"Content-Type": "application/x-protobuf"} if body is not None else {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[HTTP], timeout=10)
        try:
            connection.request(method, path, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def wait_until_ready(self, process: subprocess.Popen[bytes], path: str) -> None:
        give_up = time.monotonic() + START_S
        while True:
            assert process.poll() is None
            assert time.monotonic() < give_up
            try:
                if self.ask("GET", path) == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def request() -> bytes:
    """One finished run, long ago."""
    message = ExportTraceServiceRequest()
    spans = message.resource_spans.add().scope_spans.add().spans
    span = spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8, name="invoke_agent a", start_time_unix_nano=10**18)
    span.end_time_unix_nano = 10**18 + 10**9
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "invoke_agent"
    return message.SerializeToString()


COLLECTING = [container for container in files.containers() if container.words[0] == "collect"]


@pytest.mark.parametrize("container", COLLECTING, ids=lambda container: container.place)
def test_a_container_collects_from_whom_it_knows_and_its_jobs_run_beside_it(
    place: Place, container: files.Container
) -> None:
    process = place.start(container.words)
    try:
        place.wait_until_ready(process, "/readyz")

        assert place.ask("GET", "/healthz") == 200
        assert place.ask("POST", "/v1/traces", request()) == 401
        assert place.ask("POST", "/v1/traces", request(), TOKEN) == 200
        for name in ("score", "archive"):
            job = next(item for item in files.containers() if item.place == f"kubernetes/{name}.yaml")
            assert place.start(job.words).wait(60) == 0, name
        began = time.monotonic()
        process.send_signal(getattr(signal, files.instructions("STOPSIGNAL")[0]))
        assert process.wait(container.stop_s) == 0
        assert time.monotonic() - began < container.stop_s
    finally:
        process.kill()
    with read_session(place.store) as session:
        assert session.rows("select count(*) from runs") == [(1,)]


def test_scoring_in_a_loop_stops_when_it_is_told(place: Place) -> None:
    looping = next(container for container in files.containers() if container.option("--every"))
    collecting = place.start(COLLECTING[0].words)
    try:
        place.wait_until_ready(collecting, "/readyz")
        process = place.start(looping.words)
        # what the first pass says
        assert process.stdout is not None
        assert process.stdout.readline() != b""
        process.terminate()

        assert process.wait(looping.stop_s) == 0
    finally:
        collecting.kill()
        collecting.wait()
