"""One execution of a tool: `execute_tool`."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._operation import Operation
from spanscore_instrumentation._quiet import quiet

P = ParamSpec("P")
R = TypeVar("R")


class Tool(Operation):
    """A tool at work, with the arguments the model chose and the result it was given.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
    """

    __slots__ = ("_arguments", "_call_id", "_description", "_items", "_tool_type")

    operation = "execute_tool"

    def __init__(
        self,
        name: str | None = None,
        *,
        arguments: object = None,
        call_id: str | None = None,
        description: str | None = None,
        tool_type: str = "function",
    ) -> None:
        super().__init__(name)
        self._arguments = arguments
        self._call_id = call_id
        self._description = description
        self._tool_type = tool_type
        self._items: list[object] = []

    def renewed(self, function_name: str) -> "Tool":
        return Tool(
            function_name if self.name is None else self.name,
            arguments=self._arguments,
            call_id=self._call_id,
            description=self._description,
            tool_type=self._tool_type,
        )

    def start_attributes(self) -> dict[str, Any]:
        return {
            names.TOOL_NAME: self.name,
            names.TOOL_TYPE: self._tool_type,
            names.TOOL_CALL_ID: self._call_id,
            names.TOOL_DESCRIPTION: self._description,
        }

    def started(self) -> None:
        self.set_content(names.TOOL_CALL_ARGUMENTS, self._arguments)

    def called(self, arguments: dict[str, Any]) -> None:
        if self._arguments is None:
            self.set_content(names.TOOL_CALL_ARGUMENTS, arguments)

    def yielded(self, value: object) -> None:
        self._items.append(value)

    def returned(self, value: object) -> None:
        self._items = []
        # A tool that returned nothing has a result, unlike one whose result was not captured.
        self.set_content(names.TOOL_CALL_RESULT, "null" if value is None else value)

    def ending(self) -> None:
        if self._items:
            self.set_content(names.TOOL_CALL_RESULT, self._items)

    @quiet
    def result(self, value: object) -> None:
        """Record what the tool returned: a text as it is, anything else as JSON."""
        if self.is_recording:
            self.returned(value)


@overload
def tool(name: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def tool(
    name: str | None = None,
    /,
    *,
    arguments: object = None,
    call_id: str | None = None,
    description: str | None = None,
    tool_type: str = "function",
) -> Tool: ...
def tool(name: Any = None, /, **settings: Any) -> Any:
    """Trace one execution of a tool.

    As a decorator, bare or with settings, the name is that of the function unless given; arguments and return value are
    recorded. Where the id of the call matters, use the context manager.

    Args:
        name: the name under which the model knows the tool.
        arguments: what the model passed.
        call_id: the id of the model's request for this call, which joins request and execution.
        description: what the model was told about the tool.
        tool_type: `function`, `extension` or `datastore`.
    """
    return Tool()(name) if callable(name) else Tool(name, **settings)
