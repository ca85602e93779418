"""Chat messages in the JSON shape of the GenAI conventions: `{"role": …, "parts": [{"type": …, …}, …]}`.

Every function takes what agent code has at hand (a string, or messages as the OpenAI and Anthropic APIs write them),
returns new values and changes nothing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Message = dict[str, Any]
Part = dict[str, Any]


def to_messages(value: object, *, role: str) -> list[Message]:
    """`value` as messages; what has no role of its own gets `role`."""
    if isinstance(value, (Mapping, str)) or not isinstance(value, Sequence):
        return [_message(value, role)]
    return [_message(item, role) for item in value]


def to_parts(value: object) -> list[Part]:
    """A text, a content block or a list of them as message parts."""
    if value is None:
        return []
    if isinstance(value, (Mapping, str)) or not isinstance(value, Sequence):
        return [_part(value)]
    return [_part(item) for item in value]


def _plain(value: object) -> object:
    """The mapping behind a message object of a client library, else the value itself."""
    model_dump = getattr(value, "model_dump", None)
    return model_dump(exclude_none=True) if callable(model_dump) and not isinstance(value, type) else value


def _message(value: object, role: str) -> Message:
    value = _plain(value)
    if not isinstance(value, Mapping):
        return {"role": role, "parts": to_parts(value)}
    if isinstance(value.get("parts"), Sequence):
        return {"role": role, **value}
    if "content" not in value and "tool_calls" not in value:
        return {"role": role, "parts": [_part(value)]}
    message: Message = {"role": value.get("role", role)}
    if value.get("name") is not None:
        message["name"] = value["name"]
    if value.get("tool_call_id") is not None:  # the OpenAI API's answer of a tool
        response = {"type": "tool_call_response", "id": value["tool_call_id"], "response": value.get("content")}
        return {**message, "parts": [response]}
    calls = [_openai_tool_call(_plain(call)) for call in value.get("tool_calls") or ()]
    return {**message, "parts": [*to_parts(value.get("content")), *calls]}


def _openai_tool_call(call: Any) -> Part:
    function = _plain(call.get("function", call))
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return {"type": "tool_call", "id": call.get("id"), "name": name, "arguments": _parsed(arguments)}


def _parsed(arguments: object) -> object:
    """Tool arguments as a value where the model wrote valid JSON, else the text it wrote."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _part(value: object) -> Part:
    value = _plain(value)
    if isinstance(value, str):
        return {"type": "text", "content": value}
    if not isinstance(value, Mapping):
        return {"type": "generic", "content": value}
    match value.get("type"):
        case "text" | "input_text" | "output_text" if "text" in value:
            return {"type": "text", "content": value["text"]}
        case "tool_use":
            return {
                "type": "tool_call",
                "id": value.get("id"),
                "name": value.get("name"),
                "arguments": value.get("input"),
            }
        case "tool_result":
            return {"type": "tool_call_response", "id": value.get("tool_use_id"), "response": value.get("content")}
        case "thinking":
            return {"type": "reasoning", "content": value.get("thinking")}
        case str():
            return dict(value)
        case _:
            return {"type": "generic", "content": dict(value)}
