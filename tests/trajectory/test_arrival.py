"""The order in which spans and log records arrive, and how they are batched, never changes what is derived."""

from __future__ import annotations

import pytest
from arrival import derived, merged, pieces, request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# One run in a trace, a trace for each call, message hops over many traces, content in logs, nesting that was lost.
CAPTURES = (
    "openai-genai/multi_handoff",
    "openai-otelv2legacy/multi_delegate",
    "autogen-native/multi_handoff",
    "msagentframework-native/one_tool",
    "langgraph-traceloop/tool_retry",
)

# The large ones take several seconds an example.
LARGE = ("openai-otelv2legacy/multi_delegate", "autogen-native/multi_handoff", "openai-genai/multi_handoff")


@pytest.mark.parametrize(
    "capture", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in CAPTURES]
)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_split_and_any_order_give_the_same_rows(capture: str, data: st.DataObject) -> None:
    requests = [request(piece) for piece in pieces(capture)]
    shuffled = data.draw(st.permutations(requests))
    cuts = data.draw(st.lists(st.integers(0, len(requests) - 1), max_size=6))
    derive_after = set(data.draw(st.lists(st.integers(0, 6), max_size=3)))

    assert derived(merged(shuffled, cuts), derive_after) == derived(merged(requests, [0]), set())
