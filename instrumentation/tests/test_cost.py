"""Without a provider a helper must cost next to nothing. Counted in steps of the interpreter, not in seconds."""

import subprocess
import sys

PROGRAM = """
import sys
import spanscore_instrumentation as si

def used():
    with si.tool("t", arguments={"a": 1}, call_id="c") as tool:
        tool.result("x")

def steps():
    count = 0
    def trace(frame, event, argument):
        nonlocal count
        count += 1
        frame.f_trace_opcodes = True
        return trace
    sys.settrace(trace)
    used()
    sys.settrace(None)
    return count

used()
print(steps())
"""


def test_a_helper_without_a_provider_stays_short():
    """It takes 364 steps, about 2 microseconds; preparing attributes, JSON or a context would add hundreds."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert int(result.stdout) < 600
