"""Control passing from one agent to another: `handoff`."""

from typing import Any

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._operation import Operation


class Handoff(Operation):
    """A handoff. The conventions have none yet; the agents' names are written as other instrumentations write them."""

    __slots__ = ("_from_agent", "_mode", "_reason", "_to_agent")

    operation = "handoff"

    def __init__(
        self, from_agent: str, to_agent: str, *, reason: str | None = None, mode: str = "pass_control"
    ) -> None:
        super().__init__(to_agent)
        self._from_agent = from_agent
        self._to_agent = to_agent
        self._reason = reason
        self._mode = mode

    def renewed(self, function_name: str) -> "Handoff":
        return Handoff(self._from_agent, self._to_agent, reason=self._reason, mode=self._mode)

    def start_attributes(self) -> dict[str, Any]:
        return {
            names.HANDOFF_FROM_AGENT: self._from_agent,
            names.HANDOFF_TO_AGENT: self._to_agent,
            names.HANDOFF_MODE: self._mode,
        }

    def started(self) -> None:
        self.set_content(names.HANDOFF_REASON, self._reason)


def handoff(from_agent: str, to_agent: str, /, *, reason: str | None = None, mode: str = "pass_control") -> Handoff:
    """Trace a handoff: as a context manager around the receiver's work, or as the decorator of a transfer function.

    Args:
        from_agent: the agent that gives control away.
        to_agent: the agent that receives it.
        reason: why, in the words of the model; content, so it follows the content switch.
        mode: `pass_control`, or `return_to_caller` where the receiver answers to the giver.
    """
    return Handoff(from_agent, to_agent, reason=reason, mode=mode)


def record_handoff(from_agent: str, to_agent: str, /, *, reason: str | None = None, mode: str = "pass_control") -> None:
    """Record a handoff that has just happened, as a span of no length."""
    with Handoff(from_agent, to_agent, reason=reason, mode=mode):
        pass
