"""The agent: asks the model, runs the tools it asks for, until it answers or may take no more steps.

`RESEARCH_AGENT_DEGRADE` makes it worse on purpose, to see whether a gate notices: `double_steps` asks everything twice,
`drop_retries` gives a tool up at its first failure, `invent_figure` adds a number that no source gave.
"""

import os
from typing import Any

from opentelemetry import baggage

import spanscore_instrumentation as si
from examples.research_agent.model import UNKNOWN, Reply, reply
from examples.research_agent.tools import TOOLS

STEP_CAP = 8
# Attempts at a tool call that fails, the first included.
TOOL_ATTEMPTS = 2
MODELS = {"thorough": "gpt-4o"}
USUAL_MODEL = "gpt-4o-mini"

si.setup("research-agent")


@si.agent("researcher")
def answer(question: str) -> str:
    """The answer to a question."""
    degraded = set(filter(None, os.environ.get("RESEARCH_AGENT_DEGRADE", "").split(",")))
    variant = si.variant()
    steps_left = si.step_budget() or STEP_CAP
    results: list[Any] = []
    while steps_left > 0:
        for _ in range(2 if "double_steps" in degraded else 1):
            move = _ask_model(question, results, variant)
            steps_left -= 1
        if move.tool is None:
            return _finished(move.text, degraded)
        result, tries = _run_tool(move, attempts=1 if "drop_retries" in degraded else TOOL_ATTEMPTS)
        if "double_steps" in degraded:
            result, more = _run_tool(move, attempts=TOOL_ATTEMPTS)
            tries += more
        if variant == "thorough" and move.tool == "search_web" and steps_left > tries + 1:
            # Looks twice, and believes what it saw last.
            again, more = _run_tool(move, attempts=1)
            result, tries = (result if again is None else again), tries + more
        steps_left -= tries
        results.append(result)
    return UNKNOWN


def _ask_model(question: str, results: list[Any], variant: str | None) -> Reply:
    seed = baggage.get_baggage("spanscore.trial")
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for number, result in enumerate(results):
        messages.append({"role": "tool", "tool_call_id": f"call-{number}", "content": str(result)})
    model = MODELS.get(variant or "", USUAL_MODEL)
    with si.llm_call("openai", model, messages=messages) as call:
        said = reply(question, results, int(str(seed or 0)))
        if said.tool is None:
            call.output(said.text)
        else:
            wish = {"id": f"call-{len(results)}", "function": {"name": said.tool, "arguments": said.arguments}}
            call.output({"role": "assistant", "tool_calls": [wish]})
        size = sum(len(str(message["content"])) for message in messages)
        call.usage(input_tokens=120 + size // 4, output_tokens=10 + len(said.text) // 4)
        call.response(model=model, finish_reason="stop" if said.tool is None else "tool_calls")
    return said


def _run_tool(move: Reply, *, attempts: int) -> tuple[Any, int]:
    """What the tool gave back, None when it failed every time; and how often it was tried."""
    assert move.tool is not None
    for tries in range(1, attempts + 1):
        try:
            return TOOLS[move.tool](*move.arguments.values()), tries
        except (si.ToolFault, TimeoutError):
            continue
    return None, attempts


def _finished(text: str, degraded: set[str]) -> str:
    return f"{text} Some 84,317 people were asked." if "invent_figure" in degraded else text
