"""Trace an LLM agent in OpenTelemetry's GenAI conventions.

    import spanscore_instrumentation as si

    si.setup("my-agent")

    @si.agent("planner")
    def plan(question: str) -> str:
        with si.llm_call("openai", "gpt-4o", messages=question) as call:
            ...

Everything works without `setup`, without a tracer provider and without the OpenTelemetry SDK: it then records nothing.
No helper raises an exception of its own, and none swallows yours.
"""

from spanscore_instrumentation._agent import Agent, agent
from spanscore_instrumentation._configure import flush, setup
from spanscore_instrumentation._content import Redactor
from spanscore_instrumentation._evaluation import score
from spanscore_instrumentation._experiment import experiment
from spanscore_instrumentation._faults import Fault, ToolFault, ToolTimeout, injectable
from spanscore_instrumentation._handoff import Handoff, handoff, record_handoff
from spanscore_instrumentation._llm_call import LlmCall, llm_call
from spanscore_instrumentation._mock import mock_tool
from spanscore_instrumentation._operation import Operation, current
from spanscore_instrumentation._propagation import continue_trace, cost_budget, step_budget, variant
from spanscore_instrumentation._retrieval import Retrieval, retrieval
from spanscore_instrumentation._threads import in_current_context
from spanscore_instrumentation._tool import Tool, tool
from spanscore_instrumentation._version import __version__

__all__ = [
    "Agent",
    "Fault",
    "Handoff",
    "LlmCall",
    "Operation",
    "Redactor",
    "Retrieval",
    "Tool",
    "ToolFault",
    "ToolTimeout",
    "__version__",
    "agent",
    "continue_trace",
    "cost_budget",
    "current",
    "experiment",
    "flush",
    "handoff",
    "in_current_context",
    "injectable",
    "llm_call",
    "mock_tool",
    "record_handoff",
    "retrieval",
    "score",
    "setup",
    "step_budget",
    "tool",
    "variant",
]
