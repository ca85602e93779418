"""A run that another process asked for belongs to its trace and its trial."""

import os
import subprocess
import sys

import pytest

import spanscore_instrumentation as si

HEADERS = {
    "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "BAGGAGE": "spanscore.case.id=c%201,spanscore.trial=2,spanscore.variant=v%20steps%3D3,spanscore.variant.asked=v,"
    "spanscore.budget.steps=3,spanscore.budget.cost_usd=0.05",
}


def test_a_request_is_continued_and_left(spans):
    with si.continue_trace(HEADERS), si.agent("inside"):
        told = (si.step_budget(), si.cost_budget(), si.variant())
    with si.agent("outside"):
        afterwards = (si.step_budget(), si.cost_budget(), si.variant())
    inside, outside = spans()

    assert told == (3, 0.05, "v")
    assert afterwards == (None, None, None)
    assert format(inside.context.trace_id, "032x") == "0af7651916cd43dd8448eb211c80319c"
    assert format(inside.parent.span_id, "016x") == "b7ad6b7169203331"
    assert {key: value for key, value in inside.attributes.items() if key.startswith("spanscore.")} == {
        "spanscore.case.id": "c 1",
        "spanscore.trial": 2,
        "spanscore.variant": "v steps=3",
        "spanscore.budget.steps": 3,
        "spanscore.budget.cost_usd": "0.05",
    }
    assert outside.parent is None


@pytest.mark.parametrize("headers", [{}, {"traceparent": "nonsense", "baggage": "==,;"}])
def test_without_a_trace_a_request_begins_one(headers, span):
    with si.continue_trace(headers), si.agent("a"):
        pass

    assert span().parent is None


@pytest.mark.parametrize(
    ("baggage", "expected"),
    [("spanscore.variant=v", "v"), ("spanscore.variant=steps%3D3,spanscore.variant.asked=", None), ("", None)],
)
def test_the_variant_is_told_without_the_budget(baggage, expected):
    with si.continue_trace({"baggage": baggage}):
        assert si.variant() == expected


def test_a_process_started_in_a_trace_becomes_part_of_it():
    program = (
        "import spanscore_instrumentation as si\n"
        "from opentelemetry import baggage\n"
        "si.setup('x', endpoint='http://127.0.0.1:9')\n"
        "with si.agent('a') as a:\n"
        "    trace_id = format(a.span.get_span_context().trace_id, '032x')\n"
        "    print(trace_id, baggage.get_baggage('spanscore.case.id'), flush=True)\n"
        "import os; os._exit(0)\n"
    )
    environment = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TRACEPARENT": HEADERS["Traceparent"],
        "BAGGAGE": HEADERS["BAGGAGE"],
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.split(maxsplit=1) == ["0af7651916cd43dd8448eb211c80319c", "c 1\n"]
