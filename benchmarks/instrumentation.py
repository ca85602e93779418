"""What a helper of the instrumentation costs where no tracer provider is set."""

import subprocess
import sys

from benchmarks.figures import Figure

LIMIT_US = 5.0
ROUNDS, USES = 7, 20_000

# In an interpreter of its own, where nothing has set a provider.
PROGRAM = f"""
import timeit
import spanscore_instrumentation as si

def agent():
    with si.agent("a", input="q") as agent:
        agent.output("x")

def tool():
    with si.tool("t", arguments={{"a": 1}}, call_id="c") as tool:
        tool.result("x")

def llm_call():
    with si.llm_call("openai", "gpt-4o", messages="q") as call:
        call.output("x")
        call.usage(input_tokens=1, output_tokens=2)

def retrieval():
    with si.retrieval("kb", query="q") as retrieval:
        retrieval.documents(["d"])

def handoff():
    si.record_handoff("a", "b")

@si.tool
def decorated():
    return 1

def score():
    si.score("s", 1)

for use in (agent, tool, llm_call, retrieval, handoff, decorated, score):
    print(use.__name__, min(timeit.repeat(use, number={USES}, repeat={ROUNDS})) / {USES} * 1e6)
"""


def measure() -> list[Figure]:
    """Microseconds for one use of each helper."""
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    figures = []
    for line in result.stdout.splitlines():
        name, text = line.split()
        figures.append(
            Figure(f"{name}, no provider set", float(text), "us", f"< {LIMIT_US:g} us", met=float(text) < LIMIT_US)
        )
    return figures
