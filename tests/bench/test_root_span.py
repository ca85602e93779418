"""What the harness's span makes of a trace: one run for a trial that counts, none for an attempt that does not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.bench.journal import Attempt
from spanscore.bench.root_span import root_request
from spanscore.bench.suites import Case, Suite
from spanscore.bench.trial import Arm, Budget, Ending
from spanscore.otlp import decode_traces
from spanscore.store import Store

ARM = Arm(
    experiment_id="e",
    suite=Suite(name="s", version="1", cases=[Case(id="c", input="Why?")]),
    variant="v",
    budget=Budget(),
)
ATTEMPT = Attempt(
    case_id="c",
    trial=4,
    attempt=1,
    trace_id="5" * 32,
    span_id="7" * 16,
    started_ns=1_000_000_000,
    ended_ns=9_000_000_000,
    ending=Ending.OK,
    answer="as the harness heard it",
)


def agent_spans(*spans: tuple[str, str, int, int, dict[str, str]], trace_id: str = ATTEMPT.trace_id) -> bytes:
    """Spans of an agent: id, parent, start [s], end [s], attributes."""
    request = ExportTraceServiceRequest()
    scope_spans = request.resource_spans.add().scope_spans.add()
    for span_id, parent, start, end, attributes in spans:
        span = scope_spans.spans.add(name=attributes["gen_ai.operation.name"])
        span.trace_id, span.span_id = bytes.fromhex(trace_id), bytes.fromhex(span_id * 16)
        span.parent_span_id = bytes.fromhex(parent * 16)
        span.start_time_unix_nano, span.end_time_unix_nano = start * 10**9, end * 10**9
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()


def agent(name: str, answer: str | None = None, **more: str) -> dict[str, str]:
    said = (
        {}
        if answer is None
        else {"gen_ai.output.messages": f'[{{"role":"assistant","parts":[{{"type":"text","content":"{answer}"}}]}}]'}
    )
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **said, **more}


LLM = {
    "gen_ai.operation.name": "chat",
    "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"the model"}]}]',
}


def runs(folder: Path, *requests: bytes) -> list[tuple[Any, ...]]:
    """The runs that come of these requests."""
    with Store.open(folder / "store") as store:
        for request in requests:
            store.load(decode_traces([request]), source="test")
        store.derive()
        return store.connection.execute(
            "select name, status, error_type, case_id, trial, variant, question, final_answer, duration_s from runs"
        ).fetchall()


def root(ending: Ending = Ending.OK, **changes: Any) -> bytes:
    return root_request(ARM, replace(ATTEMPT, ending=ending, **changes), "Why?")


IDS = ("c", 4, "v")


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param([root()], [], id="an agent without spans leaves nothing to score"),
        pytest.param(
            [root(Ending.ERROR, answer=None, error_type="ValueError", message="no")],
            [("s/c", "error", "ValueError", *IDS, "Why?", None, 8.0)],
            id="a failure counts even when nothing is left of it",
        ),
        pytest.param(
            [agent_spans(("1", "7", 2, 3, agent("a", "because"))), root()],
            [("invoke_agent", "ok", None, *IDS, "Why?", "because", 1.0)],
            id="name, times and answer are the agent's, the question is the suite's",
        ),
        pytest.param(
            [agent_spans(("1", "7", 2, 3, agent("a"))), root()],
            [("invoke_agent", "ok", None, *IDS, "Why?", "as the harness heard it", 1.0)],
            id="an answer that the agent did not record is the one that came back",
        ),
        pytest.param(
            [
                agent_spans(("1", "7", 2, 5, agent("a")), ("2", "7", 3, 6, agent("b", "two")), ("3", "1", 3, 4, LLM)),
                root(),
            ],
            [("invoke_agent", "ok", None, *IDS, "Why?", "two", 4.0)],
            id="agents beside each other are one run",
        ),
        pytest.param(
            [
                agent_spans(("1", "7", 2, 30, agent("a", "late"))),
                root(Ending.TIMEOUT, answer=None, error_type="timeout"),
            ],
            [("s/c", "error", "timeout", *IDS, "Why?", "late", 29.0)],
            id="an answer after the time limit is a failure",
        ),
        pytest.param([agent_spans(("1", "7", 2, 3, agent("a"))), root(Ending.INFRASTRUCTURE)], [], id="no attempt"),
        pytest.param(
            [agent_spans(("3", "9", 2, 3, {**LLM, "spanscore.case.id": "c"})), root(Ending.INTERRUPTED)],
            [],
            id="what is left of an attempt that was cut off is no run, its parents missing",
        ),
    ],
)
def test_the_span_of_the_harness_decides_what_is_a_run(
    tmp_path: Path, requests: list[bytes], expected: list[tuple[Any, ...]]
) -> None:
    assert runs(tmp_path, *requests) == expected


def test_the_order_of_arrival_does_not_matter(tmp_path: Path) -> None:
    spans = agent_spans(("1", "7", 2, 3, agent("a", "because")))

    assert runs(tmp_path / "one", spans, root()) == runs(tmp_path / "two", root(), spans)


def test_sent_again_it_is_the_same_span(tmp_path: Path) -> None:
    """After a kill the harness cannot know whether its span arrived, and sends it again."""
    failed = root(Ending.ERROR, answer="é\u2028", error_type="x", message="m")

    assert root(Ending.ERROR, answer="é\u2028", error_type="x", message="m") == failed
    assert len(runs(tmp_path, failed, failed)) == 1
