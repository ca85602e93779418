"""One JSON array of rows, exact and always valid."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
import pytest
from hypothesis import given

from spanscore.report.json_rows import json_array


def text(value: Any, kind: str = "VARCHAR") -> str:
    """The JSON of one value."""
    (line,) = "".join(json_array(["v"], [kind], [(value,)])).splitlines()[1:-1]
    return line.removeprefix('  {"v": ').removesuffix("}")


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (None, "INTEGER", "null"),
        (True, "BOOLEAN", "true"),
        (0, "INTEGER", "0"),
        (2**128 - 1, "UHUGEINT", "340282366920938463463374607431768211455"),
        (Decimal("1.10"), "DECIMAL(10,2)", "1.10"),
        (Decimal("1E+3"), "DECIMAL(10,2)", "1000"),
        (1.0, "DOUBLE", "1.0"),
        (1e300, "DOUBLE", "1e+300"),
        (math.nan, "DOUBLE", "null"),
        (-math.inf, "DOUBLE", "null"),
        ('é\n\0"', "VARCHAR", '"é\\n\\u0000\\""'),
        (b"\xfb\x00", "BLOB", '"+wA="'),
        (UUID(int=1), "UUID", '"00000000-0000-0000-0000-000000000001"'),
        (
            {"k": [math.nan, 2**63, {"b": b"\x01"}]},
            "MAP(VARCHAR, VARIANT)",
            '{"k": [null, 9223372036854775808, {"b": "AQ=="}]}',
        ),
        ({1: "a", None: "b"}, "MAP(INTEGER, VARCHAR)", '{"1": "a", "None": "b"}'),
        ('{"a": 18446744073709551616, "b": 1.10}', "JSON", '{"a": 18446744073709551616, "b": 1.10}'),
        ("[NaN, 1e999, Infinity]", "JSON", "[null, null, null]"),
        ("{no json", "JSON", '"{no json"'),
        (None, "JSON", "null"),
        ('{"looks": "like json"}', "VARCHAR", '"{\\"looks\\": \\"like json\\"}"'),
    ],
)
def test_a_value_has_one_exact_form(value: Any, kind: str, expected: str) -> None:
    assert text(value, kind) == expected
    json.loads(text(value, kind), parse_constant=pytest.fail)


def test_no_rows_are_an_empty_array() -> None:
    assert "".join(json_array(["a"], ["INTEGER"], [])) == "[]\n"


def test_rows_are_objects_in_the_order_of_the_columns() -> None:
    pieces = list(json_array(["b", 'quo"te'], ["INTEGER", "JSON"], [(1, "[1]"), (2, None)]))

    assert "".join(pieces) == '[\n  {"b": 1, "quo\\"te": [1]},\n  {"b": 2, "quo\\"te": null}\n]\n'
    assert len(pieces) == 3


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(rows=st.lists(st.tuples(VALUES, st.text()), max_size=4))
def test_any_rows_are_valid_json(rows: list[tuple[Any, str]]) -> None:
    document = json.loads(
        "".join(json_array(["value", "document"], ["VARIANT", "JSON"], rows)), parse_constant=pytest.fail
    )

    assert [list(row) for row in document] == [["value", "document"]] * len(rows)
