"""What asking an agent comes to, in each of the ways in which one can be reached."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from spanscore.bench.agents import CallableAgent, CommandAgent, EndpointAgent
from spanscore.bench.agents.agent import answer_text
from spanscore.bench.suites import Case, Fault, Suite
from spanscore.bench.trial import Arm, Budget, Ending, Outcome, TrialContext
from spanscore.errors import UsageError

AGENTS = Path(__file__).with_name("agents.py")
CASE = Case(id="c/1, é", input="What's the capital; of $HOME?", faults=[Fault(tool="search", call=2, kind="error")])
SUITE = Suite(name="geography", version="2", cases=[CASE])
ARM = Arm(experiment_id="e-1", suite=SUITE, variant="gpt-4o", budget=Budget(steps=3))


def ask(agent: Any, *, timeout_s: float = 20.0) -> Outcome:
    """The outcome of asking once."""
    agent.open("http://127.0.0.1:1")
    try:
        return agent.ask(CASE, TrialContext.begin(ARM, CASE.id, 1), timeout_s=timeout_s)
    finally:
        agent.close()


@pytest.fixture(autouse=True)
def no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider is set once per process: what it exports is tested where the agent has a process of its own."""
    monkeypatch.setattr("spanscore.bench.agents.telemetry.Telemetry.attach", lambda self, *, service_name: False)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", Outcome(Ending.OK, f"Paris, as to {CASE.input}")),
        ("awaited", Outcome(Ending.OK, f"Paris, as to {CASE.input}")),
        ("pieces", Outcome(Ending.OK, "Paris")),
        ("async_pieces", Outcome(Ending.OK, "Paris")),
        ("bot.ask", Outcome(Ending.OK, "Paris")),
        ("with_context", Outcome(Ending.OK, "c/1, é 1 gpt-4o 3")),
        ("failing", Outcome(Ending.ERROR, None, "ValueError", "no idea")),
        ("exiting", Outcome(Ending.ERROR, None, "SystemExit", "3")),
        ("timing_out", Outcome(Ending.ERROR, None, "TimeoutError", "the model is slow")),
        ("timing_out_async", Outcome(Ending.ERROR, None, "TimeoutError", "the model is slow")),
        ("unreachable", Outcome(Ending.INFRASTRUCTURE, None, "ConnectionRefusedError", "nobody there")),
    ],
)
def test_what_a_callable_does_is_its_outcome(name: str, expected: Outcome) -> None:
    assert ask(CallableAgent(f"{AGENTS}:{name}")) == expected


@pytest.mark.parametrize("name", ["endless", "endless_async"])
def test_a_callable_that_does_not_return_times_out(name: str) -> None:
    outcome = ask(CallableAgent(f"{AGENTS}:{name}"), timeout_s=0.2)

    assert outcome == Outcome(Ending.TIMEOUT, None, "timeout", "no answer within 0.2 s")


@pytest.mark.parametrize(
    "target", ["agents", "nowhere.at_all:ask", f"{AGENTS}:nothing", f"{AGENTS}:no_callable", "x.py:y"]
)
def test_what_cannot_be_called_is_a_usage_error(target: str) -> None:
    with pytest.raises(UsageError, match="--agent"):
        ask(CallableAgent(target))


def python(program: str) -> str:
    """A command line that runs a program."""
    return f"{sys.executable} -c '{program}'"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            f'{python("import sys; print(sys.argv[1:])")} "{{input}}" x{{trial}}',
            ["What's the capital; of $HOME?", "x1"],
        ),
        (python("import sys; print([sys.stdin.read()])"), [CASE.input]),
        (f"{python('import sys; print(sys.argv[1:])')} {{case_id}} {{variant}}-{{steps}}", [CASE.id, "gpt-4o-3"]),
    ],
)
def test_a_command_is_given_words_and_no_shell(command: str, expected: list[str]) -> None:
    assert ask(CommandAgent(command)) == Outcome(Ending.OK, str(expected))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import sys; print(1); sys.exit(3)", Outcome(Ending.ERROR, "1", "exit_code_3")),
        (
            "import sys; sys.stderr.write(str(7)); sys.exit(75)",
            Outcome(Ending.INFRASTRUCTURE, None, "exit_code_75", "7"),
        ),
        ("import os; os.kill(os.getpid(), 9)", Outcome(Ending.ERROR, None, "SIGKILL")),
    ],
)
def test_how_a_command_ends_is_its_outcome(program: str, expected: Outcome) -> None:
    assert ask(CommandAgent(python(program))) == expected


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    command = f"sh -c 'sh -c \"sleep 1; touch {mark}\" & sleep 20'"
    outcome = ask(CommandAgent(command), timeout_s=0.2)
    threading.Event().wait(1.2)

    assert outcome.ending is Ending.TIMEOUT
    assert not mark.exists()


def test_a_command_finds_its_trial_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://elsewhere:4318")
    found = json.loads(str(ask(CommandAgent(python("import os, json; print(json.dumps(dict(os.environ)))"))).answer))
    resource = dict(entry.split("=", 1) for entry in found["OTEL_RESOURCE_ATTRIBUTES"].split(","))

    assert found["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:1"
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" not in found
    assert found["TRACEPARENT"].startswith("00-")
    assert unquote(resource["spanscore.case.id"]) == CASE.id
    assert resource["team"] == "a"
    assert (found["SPANSCORE_VARIANT"], found["SPANSCORE_STEP_BUDGET"]) == ("gpt-4o", "3")


@pytest.mark.parametrize("command", ["", "no-such-program-at-all {input}", "'unclosed"])
def test_a_command_that_cannot_be_run_is_a_usage_error(command: str) -> None:
    with pytest.raises(UsageError, match="--command"):
        CommandAgent(command)


@contextmanager
def serving(status: int, content: bytes, content_type: str = "application/json") -> Iterator[tuple[str, list[Any]]]:
    """The URL of a server that always answers the same, and what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {key.lower(): value for key, value in self.headers.items()}
            asked.append((headers, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "content", "content_type", "expected"),
    [
        (200, b'{"output": "Paris"}', "application/json", Outcome(Ending.OK, "Paris")),
        (200, b'"Paris"', "application/json", Outcome(Ending.OK, "Paris")),
        (200, b'{"city": "Paris"}', "application/json", Outcome(Ending.OK, '{"city": "Paris"}')),
        (200, b"{broken", "application/json", Outcome(Ending.OK, "{broken")),
        (200, b" Paris\n", "text/plain", Outcome(Ending.OK, "Paris")),
        (200, b"", "text/plain", Outcome(Ending.OK, None)),
        (500, b"no", "text/plain", Outcome(Ending.ERROR, None, "http_500", "no")),
        (404, b"", "text/plain", Outcome(Ending.ERROR, None, "http_404", "Not Found")),
        (503, b"later", "text/plain", Outcome(Ending.INFRASTRUCTURE, None, "http_503", "later")),
        (429, b"", "text/plain", Outcome(Ending.INFRASTRUCTURE, None, "http_429", "Too Many Requests")),
    ],
)
def test_what_an_endpoint_answers_is_its_outcome(
    status: int, content: bytes, content_type: str, expected: Outcome
) -> None:
    with serving(status, content, content_type) as (url, asked):
        outcome = ask(EndpointAgent(url))

    assert outcome == expected
    headers, body = asked[0]
    assert body == {"input": CASE.input}
    assert headers["traceparent"].startswith("00-")
    assert "spanscore.trial=1" in headers["baggage"]


def test_a_user_and_password_of_an_endpoint_are_sent_and_not_shown() -> None:
    with serving(200, b'"Paris"') as (url, asked):
        agent = EndpointAgent(url.replace("http://", "http://user:hush@"))

        assert ask(agent) == Outcome(Ending.OK, "Paris")
    assert asked[0][0]["authorization"] == "Basic dXNlcjpodXNo"
    assert agent.description == url


def test_an_endpoint_that_is_not_there_is_infrastructure() -> None:
    assert ask(EndpointAgent("http://127.0.0.1:9/ask")).ending is Ending.INFRASTRUCTURE


@pytest.mark.parametrize("url", ["ftp://host/x", "127.0.0.1:80", "http://"])
def test_what_is_no_url_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="--url"):
        EndpointAgent(url)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", ""),
        ({"text": "a", "answer": "b"}, "b"),
        ({"n": 1}, '{"n": 1}'),
        (7, "7"),
        ([1, "é"], '[1, "é"]'),
        (type("R", (), {"output": "x"})(), "x"),
        ("\ud800", "?"),
    ],
)
def test_an_answer_is_text(value: object, expected: str | None) -> None:
    assert answer_text(value) == expected
