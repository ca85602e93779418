"""`spanscore bench`, from the command line to the scored report, with agents in processes of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from spanscore.store import read_session

ROOT = Path(__file__).parents[2]
AGENTS = Path(__file__).with_name("agents.py")
RESEARCH = ROOT / "examples" / "research_agent" / "suite.yaml"
PROGRAM = [sys.executable, "-c", "from spanscore.cli import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
ENVIRONMENT.pop("SPANSCORE_STORE", None)

SUITE = """\
name: tiny
version: "1"
cases:
  - id: a
    input: What is a?
    checks: [{kind: contains, value: Paris}]
  - id: b
    input: What is b?
"""

# An agent that knows nothing of trace context or baggage, as a program: only its resource tells which trial it is.
IGNORANT = """
import os, sys
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
with provider.get_tracer("own").start_as_current_span("invoke_agent own", attributes={
    "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "own"}):
    pass
print("Paris, as to", sys.argv[1])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a suite and a program."""
    (tmp_path / "tiny.yaml").write_text(SUITE)
    (tmp_path / "ignorant.py").write_text(IGNORANT)
    return tmp_path


def bench(folder: Path, *words: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs `spanscore bench run … --store folder/store`."""
    command = [*PROGRAM, "bench", "run", *map(str, words), "--store", str(folder / "store")]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**ENVIRONMENT, **changes}, check=False, timeout=120
    )


def document(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The experiments of the JSON document, which is all there is on standard output."""
    assert done.stdout, done.stderr
    experiments: list[dict[str, Any]] = json.loads(done.stdout)["experiments"]
    return experiments


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query on the store."""
    with read_session(folder / "store") as session:
        return session.rows(query)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def test_a_traced_callable_leaves_one_scored_run_per_trial(folder: Path) -> None:
    """The nine tasks: identity, question and answer of every run, faults where the suite puts them, scores, report."""
    done = bench(
        *(folder, RESEARCH, "--agent", "examples.research_agent.agent:answer", "--experiment", "e-1"),
        *("--repeats", 3, "--concurrency", 2, "--variant", "careful", "--format", "json"),
    )
    (found,) = document(done)

    assert done.returncode == 0, done.stderr
    assert found["trials"]["ok"] == found["trials"]["planned"] == 27
    assert found["trials"]["without_run"] == 0
    assert rows(folder, "select count(*), count(distinct (case_id, trial)) from runs where experiment_id = 'e-1'") == [
        (27, 27)
    ]
    assert rows(
        folder,
        """
        select distinct name, source, status, service_name, suite_name, suite_version, variant, entry_agent
        from runs
        """,
    ) == [("invoke_agent researcher", "benchmark", "ok", "research-agent", "research", "1", "careful", "researcher")]
    assert rows(folder, "select question, final_answer from runs where case_id = 'calc-1' and trial = 2") == [
        ("What is 15% of 4,820,000?", "15% of 4,820,000 is 723,000.")
    ]
    # Of the three faults two raise and are tried again; the third is an empty answer.
    assert rows(
        folder,
        """
        select runs.case_id, tool_calls.tool_name, tool_calls.error_type, count(*)
        from tool_calls join runs using (run_id) where tool_calls.status = 'error' group by all order by all
        """,
    ) == [
        ("cur-1", "search_web", "spanscore_instrumentation._faults.ToolFault", 3),
        ("fact-1", "wiki_lookup", "spanscore_instrumentation._faults.ToolTimeout", 3),
    ]
    metrics = found["report"]["metrics"]
    assert metrics["tool_set_match"]["value"] == pytest.approx(22 / 27)
    assert metrics["recovered_from_error"]["n_scored"] == 6
    assert metrics["unrecognised_spans"]["value"] == 0
    # A lone search hit keeps its address beside its text.
    assert metrics["urls_grounded"]["value"] == 1
    assert rows(folder, "select experiment_id, variant, repeats, ended_at is not null from experiments") == [
        ("e-1", "careful", 3, True)
    ]


@pytest.mark.slow
def test_a_command_that_ignores_its_context_is_attributed_all_the_same(folder: Path) -> None:
    command = f"{sys.executable} ignorant.py {{input}}"
    done = bench(folder, "tiny.yaml", "--command", command, "--experiment", "e", "--format", "json")
    found = rows(folder, "select case_id, trial, experiment_id, suite_name, entry_agent from runs order by case_id")

    assert done.returncode == 0, done.stderr
    assert found == [("a", 0, "e", "tiny", "own"), ("b", 0, "e", "tiny", "own")]


@pytest.mark.slow
def test_a_server_continues_the_trace(folder: Path) -> None:
    """A real HTTP agent that runs already: it exports in batches, and the harness waits for them."""
    port = free_port()
    environment = {
        **ENVIRONMENT,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_BSP_SCHEDULE_DELAY": "500",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "examples.research_agent", "--serve", "0"],
        stderr=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    )
    try:
        assert server.stderr is not None
        url = server.stderr.readline().decode().strip()
        done = bench(folder, RESEARCH, "--url", url, "--listen", f"127.0.0.1:{port}", "--format", "json")
    finally:
        server.terminate()
        server.wait()
    (found,) = document(done)

    assert done.returncode == 0, done.stderr
    assert found["trials"]["without_run"] == 0
    assert found["report"]["metrics"]["task_completed"]["n_scored"] == 9
    assert rows(folder, "select count(*), count(distinct case_id), count(distinct entry_agent) from runs") == [
        (9, 9, 1)
    ]


FAILING = """\
name: failing
cases:
  - {id: error, input: fail}
  - {id: late, input: sleep}
  - {id: lost, input: be elsewhere}
"""


def test_failures_count_and_faults_of_the_infrastructure_do_not(folder: Path) -> None:
    (folder / "failing.yaml").write_text(FAILING)
    done = bench(
        *(folder, "failing.yaml", "--agent", f"{AGENTS}:in_several_ways", "--experiment", "f", "--timeout", 0.5),
        *("--retries", 1, "--concurrency", 3, "--format", "json"),
    )
    (found,) = document(done)
    trials = found["trials"]

    assert done.returncode == 3
    assert [trials[key] for key in ("planned", "ok", "error", "timeout", "infrastructure")] == [3, 0, 1, 1, 1]
    assert "be elsewhere" in found["failures"]["ConnectionRefusedError"]
    assert "--experiment 'f'" in found["advice"][0]
    assert rows(folder, "select case_id, status, error_type, question from runs order by 1") == [
        ("error", "error", "ValueError", "fail"),
        ("late", "error", "timeout", "sleep"),
    ]
    assert found["report"]["runs"] == 2
    # Every attempt left its trace, those that count for nothing too: one trial that was tried twice.
    assert rows(
        folder, "select count(*) from spans where attributes['spanscore.trial.outcome']::varchar = 'discarded'"
    ) == [(2,)]
    assert rows(folder, "select ended_at from experiments") == [(None,)]


def test_an_agent_without_spans_is_told_what_to_do(folder: Path) -> None:
    done = bench(folder, "tiny.yaml", "--agent", f"{AGENTS}:plain")

    assert done.returncode == 3
    assert done.stderr.count("no span of the agent has arrived") == 1
    assert "spanscore_instrumentation.setup()" in done.stderr
    assert rows(folder, "select count(*) from runs") == [(0,)]


@pytest.mark.slow
def test_budgets_are_experiments_and_another_collector_may_receive_them(folder: Path) -> None:
    """Into a collector that runs already. The agent is told its budget; a trial that takes more is counted."""
    store = str(folder / "store")
    port = free_port()
    collector = subprocess.Popen(
        [*PROGRAM, "collect", "--store", store, "--grpc", "none", "--http", f"127.0.0.1:{port}"],
        stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    try:
        assert collector.stderr is not None
        assert b"Collecting" in collector.stderr.readline()
        done = bench(
            *(folder, RESEARCH, "--agent", "examples.research_agent.agent:answer", "--experiment", "e"),
            *("--budget", "steps=2,9", "--endpoint", f"http://127.0.0.1:{port}", "--format", "json"),
        )
    finally:
        collector.terminate()
        collector.wait()
    found = {one["experiment_id"]: one for one in document(done)}
    listed = subprocess.run(
        [*PROGRAM, "bench", "list", "--store", store, "--format", "json"],
        capture_output=True, text=True, env=ENVIRONMENT, check=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert list(found) == ["e-steps2", "e-steps9"]
    # Two tools fail at first, and are tried once more: three steps where two are allowed.
    assert [one["trials"]["over_budget"] for one in found.values()] == [2, 0]
    assert (
        found["e-steps2"]["report"]["metrics"]["task_completed"]["value"]
        < (found["e-steps9"]["report"]["metrics"]["task_completed"]["value"])
    )
    assert rows(folder, "select distinct experiment_id, variant from runs order by all") == [
        ("e-steps2", "steps=2"),
        ("e-steps9", "steps=9"),
    ]
    assert [
        (one["experiment_id"], one["finished"], one["planned"]) for one in json.loads(listed.stdout)["experiments"]
    ] == [
        ("e-steps2", 9, 9),
        ("e-steps9", 9, 9),
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "Give one of --agent"),
        (["--agent", "a:b", "--url", "http://x"], "Give one of --agent"),
        (["--agent", "nowhere.here:ask"], "cannot be imported"),
        (["--url", "http://127.0.0.1:9/", "--endpoint", "http://127.0.0.1:4317"], "port for gRPC"),
        (["--agent", "a:b", "--budget", "steps=x"], "--budget"),
    ],
)
def test_a_mistake_is_a_usage_error(folder: Path, words: list[str], expected: str) -> None:
    done = bench(folder, "tiny.yaml", *words)

    assert done.returncode == 2
    assert expected in done.stderr


SLOW = """
import time
from examples.research_agent.agent import answer as quick

def answer(question):
    time.sleep(0.15)
    return quick(question)
"""


@pytest.mark.slow
def test_a_killed_experiment_goes_on_and_makes_no_trial_twice(folder: Path) -> None:
    """Killed twice at arbitrary moments: 27 trials, 27 runs, each once; scoring them again later changes nothing."""
    (folder / "slow.py").write_text(SLOW)
    words = (RESEARCH, "--agent", "slow.py:answer", "--experiment", "k", "--repeats", "3", "--concurrency", "2")
    journal = folder / "store" / "bench" / "k.jsonl"
    for enough in (7, 16):
        process = subprocess.Popen(
            [*PROGRAM, "bench", "run", *map(str, words), "--store", str(folder / "store")],
            cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if journal.exists() and journal.read_text().count('"kind":"ended"') >= enough:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    done = bench(folder, *words, "--format", "json")
    (found,) = document(done)

    assert done.returncode == 0, done.stderr
    assert found["trials"]["planned"] == found["trials"]["ok"] == 27
    assert 14 <= found["trials"]["resumed"] < 27
    assert rows(folder, "select count(*), count(distinct (case_id, trial)), bool_and(status = 'ok') from runs") == [
        (27, 27, True)
    ]

    def scored_again(*between: str) -> list[Any]:
        documents = []
        for command in (
            *([between] if between else []),
            ("evaluate", "--experiment", "k", "--format", "json"),
            ("report", "--experiment", "k", "--format", "json"),
        ):
            run = subprocess.run(
                [*PROGRAM, *command, "--store", str(folder / "store")],
                capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, check=True,
            )  # fmt: skip
            if command[0] != "rebuild":
                documents.append(json.loads(run.stdout))
        documents[0].pop("scores")
        documents[1].pop("generated_at")
        return [json.dumps(one) for one in documents]

    first = scored_again()

    assert scored_again("rebuild") == first
    assert json.dumps({key: value for key, value in found["report"].items() if key != "generated_at"}) == first[1]
