"""Ways to reach an agent: a Python callable, a command line, an HTTP endpoint."""

from spanscore.bench.agents.agent import Agent
from spanscore.bench.agents.callable import CallableAgent
from spanscore.bench.agents.command import CommandAgent
from spanscore.bench.agents.endpoint import EndpointAgent

__all__ = ["Agent", "CallableAgent", "CommandAgent", "EndpointAgent"]
