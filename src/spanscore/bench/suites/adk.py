"""Evaluation sets of the Agent Development Kit (ADK), in each of the forms that its releases have written.

Now: {"eval_set_id", "eval_cases": [{"eval_id", "conversation": [{"user_content", "final_response",
"intermediate_data"}]}]}, with names in snake case or camel case. Before: [{"name", "data": [{"query",
"expected_tool_use", "reference"}]}], and a bare list of such queries.

Source: https://github.com/google/adk-python/blob/13b8219eb56df816cebb3071d3da74d670102755/src/google/adk/evaluation/eval_case.py
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.bench.suites.document import Place
    from spanscore.bench.suites.imports import Draft

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_adk(value: object) -> bool:
    """Whether this is an evaluation set of ADK, in any of its forms."""
    if isinstance(value, dict):
        return bool({"eval_cases", "evalCases"} & value.keys())
    return isinstance(value, list) and any(
        isinstance(item, dict) and ("data" in item or {"query", "expected_tool_use"} <= item.keys()) for item in value
    )


def adk_cases(value: Any, draft: Draft) -> None:
    """Adds the cases of an evaluation set to `draft`: one per turn of the user."""
    if isinstance(value, dict):
        top = _snake(value)
        name = top.get("name") or top.get("eval_set_id")
        if name:
            draft.about["name"] = name
        if top.get("description"):
            draft.about["description"] = top["description"]
        place: Place = ("eval_cases",) if "eval_cases" in value else ("evalCases",)
        for index, item in enumerate(_dicts(top.get("eval_cases"))):
            _case(_snake(item), (*place, index), draft)
        return
    if any("data" in item for item in _dicts(value)):
        for index, item in enumerate(_dicts(value)):
            turns = [_turn_of_query(query) for query in _dicts(item.get("data"))]
            _turns(item.get("name"), turns, (index, "data"), draft)
        return
    for index, item in enumerate(_dicts(value)):
        _add(f"query-{index + 1}", _turn_of_query(item), (index,), draft)


def _case(case: dict[str, Any], place: Place, draft: Draft) -> None:
    name = case.get("eval_id")
    if case.get("conversation") is None:
        draft.notes.append(f"case `{name}` left out: it has a scenario and no fixed words of the user.")
        return
    if (case.get("session_input") or {}).get("state"):
        draft.notes.append(f"case `{name}`: the state of its session left out: give it to the agent some other way.")
    if case.get("rubrics"):
        draft.notes.append(f"case `{name}`: its rubrics left out: they are for a judge.")
    _turns(name, [_turn(_snake(item)) for item in _dicts(case["conversation"])], (*place, "conversation"), draft)


def _turns(name: Any, turns: list[dict[str, Any]], place: Place, draft: Draft) -> None:
    if len(turns) == 1:
        _add(name, turns[0], (*place, 0), draft)
        return
    if turns:
        draft.notes.append(
            f"case `{name}` became {len(turns)} cases, one per turn: all but the first need what was said before, "
            "so score captured sessions with them."
        )
    for index, turn in enumerate(turns):
        _add(f"{name}/{index + 1}", {**turn, "tags": ["multi-turn"]}, (*place, index), draft)


def _add(name: Any, turn: dict[str, Any], place: Place, draft: Draft) -> None:
    draft.cases.append({"id": name, **turn})
    draft.origins.append(place)


def _turn(invocation: dict[str, Any]) -> dict[str, Any]:
    """A turn of the present form. Without `intermediate_data` nothing is said about tools."""
    calls = None
    if isinstance(invocation.get("intermediate_data"), dict):
        between = _snake(invocation["intermediate_data"])
        calls = [*_dicts(between.get("tool_uses")), *_event_calls(between)]
    expected = None if calls is None else [(call.get("name"), call.get("args")) for call in calls]
    return _turn_of(_words(invocation.get("user_content")), _words(invocation.get("final_response")), expected)


def _event_calls(between: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls in the events that newer releases record in the place of `tool_uses`."""
    for event in _dicts(between.get("invocation_events")):
        content = event.get("content")
        for part in _dicts(content.get("parts") if isinstance(content, dict) else None):
            call = _snake(part).get("function_call")
            if isinstance(call, dict):
                yield call


def _turn_of_query(query: dict[str, Any]) -> dict[str, Any]:
    """A turn of the earlier forms."""
    calls = query.get("expected_tool_use")
    expected = None
    if isinstance(calls, list):
        expected = [(call.get("tool_name"), call.get("tool_input")) for call in _dicts(calls)]
    return _turn_of(query.get("query"), query.get("reference"), expected)


def _turn_of(asked: Any, answer: Any, calls: list[tuple[Any, Any]] | None) -> dict[str, Any]:
    turn: dict[str, Any] = {"input": asked}
    if calls is not None:
        turn["expected_tools"] = list(dict.fromkeys(name for name, _ in calls))
    if calls:
        turn["expected_calls"] = [{"tool": name, "arguments": arguments or {}} for name, arguments in calls]
        turn["expected_steps"] = [name for name, _ in calls]
    if isinstance(answer, str) and answer.strip():
        turn["reference"] = answer
    return turn


def _words(content: Any) -> str | None:
    """The text of a message, its parts joined; None = it has none."""
    parts = _dicts(content.get("parts") if isinstance(content, dict) else None)
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None


def _snake(value: dict[str, Any]) -> dict[str, Any]:
    """The mapping with its own keys, not those below, in snake case."""
    return {_CAMEL.sub("_", key).lower(): item for key, item in value.items()}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
