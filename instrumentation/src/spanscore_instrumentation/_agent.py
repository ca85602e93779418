"""One invocation of an agent: `invoke_agent`."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._json import to_json
from spanscore_instrumentation._operation import Frame, Operation
from spanscore_instrumentation._quiet import quiet

P = ParamSpec("P")
R = TypeVar("R")


class Agent(Operation):
    """An agent at work, from what it was asked to what it answered.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/#invoke-agent-span
    """

    __slots__ = ("_agent_id", "_conversation_id", "_description", "_input", "_texts", "_version", "_yielded")

    operation = "invoke_agent"

    def __init__(
        self,
        name: str | None = None,
        *,
        input: object = None,  # noqa: A002 - the word of the conventions
        conversation_id: str | None = None,
        agent_id: str | None = None,
        description: str | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__(name)
        self._input = input
        self._conversation_id = conversation_id
        self._agent_id = agent_id
        self._description = description
        self._version = version
        self._texts: list[str] = []
        self._yielded: object = None

    def renewed(self, function_name: str) -> "Agent":
        return Agent(
            function_name if self.name is None else self.name,
            input=self._input,
            conversation_id=self._conversation_id,
            agent_id=self._agent_id,
            description=self._description,
            version=self._version,
        )

    def start_attributes(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            # Set even when unknown, so that an agent without a name does not take that of the agent around it.
            names.AGENT_NAME: self.name,
            names.AGENT_ID: self._agent_id,
            names.AGENT_DESCRIPTION: self._description,
            names.AGENT_VERSION: self._version,
        }
        if self._conversation_id is not None:
            attributes[names.CONVERSATION_ID] = self._conversation_id
        return attributes

    def started(self) -> None:
        if self._input is not None:
            self._set_messages(names.INPUT_MESSAGES, self._input, "user")

    def called(self, arguments: dict[str, Any]) -> None:
        if self._input is None and arguments:
            self._set_messages(names.INPUT_MESSAGES, next(iter(arguments.values())), "user")

    def yielded(self, value: object) -> None:
        self._yielded = value
        if isinstance(value, str):
            self._texts.append(value)

    def returned(self, value: object) -> None:
        self.output(value)

    def ending(self) -> None:
        if self._texts:
            self.output("".join(self._texts))
        elif self._yielded is not None:
            self.output(self._yielded)

    def passed_on(self, outer: Frame | None) -> Frame:
        inherited = None if outer is None else outer.conversation_id
        return Frame(self, outer, self.name, inherited if self._conversation_id is None else self._conversation_id)

    @quiet
    def output(self, answer: object) -> None:
        """Record what the agent answered: a text, messages, or any value, which becomes JSON."""
        if self.is_recording and answer is not None:
            self._texts, self._yielded = [], None
            self._set_messages(names.OUTPUT_MESSAGES, answer, "assistant")

    def _set_messages(self, attribute: str, value: object, role: str) -> None:
        is_chat = isinstance(value, (str, list)) or (
            isinstance(value, dict) and not value.keys().isdisjoint(_CHAT_KEYS)
        )
        self.set_messages(attribute, value if is_chat else to_json(value), role)


_CHAT_KEYS = frozenset({"role", "content", "parts"})


@overload
def agent(name: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def agent(
    name: str | None = None,
    /,
    *,
    input: object = None,
    conversation_id: str | None = None,
    agent_id: str | None = None,
    description: str | None = None,
    version: str | None = None,
) -> Agent: ...
def agent(name: Any = None, /, **settings: Any) -> Any:
    """Trace one invocation of an agent.

    As a decorator, bare or with settings, the name is that of the function unless given; the first argument is recorded
    as the input and the return value as the output. Operations inside carry the agent's name.

    Args:
        name: what reports call this agent; a few distinct values, no ids in it.
        input: what it was asked: a text or messages.
        conversation_id: the session that this invocation belongs to, passed on to everything inside.
        agent_id: the id of a hosted agent.
        description: what the agent is for.
        version: of the agent, to tell its results apart.
    """
    return Agent()(name) if callable(name) else Agent(name, **settings)
