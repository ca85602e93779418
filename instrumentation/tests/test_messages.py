"""Messages of client libraries in the shape of the conventions."""

import pytest

from spanscore_instrumentation._messages import to_messages

TEXT = {"type": "text", "content": "hi"}

CASES = {
    "a text": ("hi", [{"role": "user", "parts": [TEXT]}]),
    "the OpenAI shape": (
        [{"role": "system", "content": "hi"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        [{"role": "system", "parts": [TEXT]}, {"role": "user", "parts": [TEXT]}],
    ),
    "an OpenAI tool call and its answer": (
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "18.5"},
        ],
        [
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "18.5"}]},
        ],
    ),
    "arguments that are no JSON stay as the model wrote them": (
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": '{"a": '}}]},
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": '{"a": '}]}],
    ),
    "the Anthropic shape": (
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
        ],
        [
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "t1", "name": "f", "arguments": {"a": 1}}]},
            {"role": "user", "parts": [{"type": "tool_call_response", "id": "t1", "response": "ok"}]},
        ],
    ),
    "the conventions' own shape": (
        [{"role": "user", "parts": [TEXT], "name": "Ann"}],
        [{"role": "user", "parts": [TEXT], "name": "Ann"}],
    ),
    "an unknown block is kept": (
        {"role": "user", "content": [{"type": "image", "uri": "x"}]},
        [{"role": "user", "parts": [{"type": "image", "uri": "x"}]}],
    ),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES.keys())
def test_messages(given, expected):
    assert to_messages(given, role="user") == expected


def test_a_message_object_is_read_by_its_model_dump():
    class Message:
        def model_dump(self, *, exclude_none):
            return {"role": "assistant", "content": "hi"}

    assert to_messages(Message(), role="user") == [{"role": "assistant", "parts": [TEXT]}]
