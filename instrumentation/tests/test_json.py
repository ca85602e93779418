"""Text that any backend accepts, whatever value it is made of."""

import dataclasses
import datetime
import decimal
import enum
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore_instrumentation._json import to_json, to_text


@dataclasses.dataclass
class Point:
    x: int


class Colour(enum.Enum):
    RED = "red"


class Opaque:
    def __repr__(self):
        return "secret of the repr"


CASES = {
    "nan": ({"a": float("nan"), "b": float("-inf")}, {"a": "NaN", "b": "-Infinity"}),
    "bytes": (b"abc", {"size_bytes": 3, "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}),
    "dataclass": ([Point(1)], [{"x": 1}]),
    "keys that are no strings": ({1: "a", (2, 3): "b"}, {"1": "a", "(2, 3)": "b"}),
    "enum": (Colour.RED, "red"),
    "time": (datetime.date(2026, 1, 2), "2026-01-02"),
    "decimal": (decimal.Decimal("1.10"), "1.10"),
    "set": ({3}, [3]),
    "object": (Opaque(), "<Opaque>"),
    "large integer": (2**70, 2**70),
}


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES.keys())
def test_json(value, expected):
    assert json.loads(to_json(value)) == expected


def test_a_cycle_ends():
    loop: list[object] = [float("nan")]
    loop.append(loop)

    assert json.loads(to_json(loop))[0] == "NaN"


def test_a_lone_surrogate_is_replaced_because_it_would_cost_the_whole_batch():
    assert to_text("a\ud83d") == "a?"
    assert json.loads(to_json({"k": "a\ud83d"})) == {"k": "a?"}


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_json_can_say_comes_back_unchanged(value):
    assert json.loads(to_json(value)) == value


@given(
    st.recursive(
        SCALARS | st.floats() | st.binary(), lambda inner: st.lists(inner) | st.dictionaries(st.integers(), inner)
    )
)
def test_anything_becomes_strict_json(value):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(to_json(value), parse_constant=refuse)
    assert to_json(value).encode("utf-8")
