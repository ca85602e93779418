"""The macros that compare calls, held against slow definitions that try everything."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from spanscore.bench.suites.checks import KINDS
from spanscore.evaluate.catalogue import Catalogue, shipped_catalogue
from spanscore.evaluate.run import evaluate
from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.evaluation import EvaluationSession, Scope, empty_store


@pytest.fixture(scope="module")
def empty() -> Iterator[EvaluationSession]:
    with empty_store(macros=EVALUATOR_MACROS) as session:
        yield session


def value(empty: EvaluationSession, expression: str, parameters: Mapping[str, object]) -> object:
    """What an expression comes to."""
    return empty.answer(f"select {expression} as value", parameters).rows.column("value")[0].as_py()


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ('{"o": {"l": 10, "s": "asc"}}', '{"o": {"s": "asc", "l": 10}}', True),
        ("1", "1.0", True),
        ("[1.0, 2.0, 3]", "[1, 2, 3.0]", True),
        ("1e3", "1000", True),
        ("true", "1", False),
        ('"5"', "5", False),
        ('"{\\"a\\": 1}"', '{"a": 1.0}', True),
        ('"{a"', '"{a"', True),
        ("[1, 2]", "[2, 1]", False),
        ("{}", "[]", False),
        ('{"a": null}', "{}", False),
        ('["a:1.0,"]', '["a:1,"]', False),
        ('["\\"1.0"]', '["\\"1"]', False),
        ('["\\\\", 1.0]', '["\\\\", 1]', True),
        ("9007199254740993", "9007199254740992", False),
        ("0.1", "0.10", True),
        ("10.05", "1.05", False),
    ],
)
def test_json_equal(empty: EvaluationSession, one: str, other: str, equal: bool) -> None:
    assert value(empty, "json_equal($one::json, $other::json)", {"one": one, "other": other}) is equal


def longest_common(expected: Sequence[str], made: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(expected) + 1)
    for step in made:
        following = row[:]
        for j, wanted in enumerate(expected, start=1):
            following[j] = max(following[j - 1], row[j - 1] + 1 if wanted == step else row[j])
        row = following
    return row[-1]


def test_steps_in_order_finds_the_best_order_of_calls_made_together(empty: EvaluationSession) -> None:
    random_source = random.Random(7)
    for _ in range(120):
        expected = random_source.choices("abc", k=random_source.randint(1, 5))
        batches = [
            random_source.choices("abcx", k=random_source.randint(1, 3)) for _ in range(random_source.randint(0, 4))
        ]
        best = max(
            longest_common(expected, [step for batch in order for step in batch])
            for order in itertools.product(*(itertools.permutations(batch) for batch in batches))
        )
        found = value(
            empty,
            "steps_in_order($expected::varchar[], $batches::varchar[][])",
            {"expected": expected, "batches": batches},
        )

        assert found == best, (expected, batches)


def fits(wanted: dict[str, Any], made: dict[str, int]) -> bool:
    """Whether a call is what one expected call asks for."""
    if wanted["mode"] == "exact":
        return bool(wanted["arguments"] == made)
    return bool(wanted["arguments"].items() <= made.items())


def most_served(wanted: Sequence[dict[str, Any]], made: Sequence[dict[str, int]]) -> int:
    """Most expected calls that can be served when each call serves one of them."""
    if not wanted:
        return 0
    best = most_served(wanted[1:], made)
    for place, call in enumerate(made):
        if fits(wanted[0], call):
            best = max(best, 1 + most_served(wanted[1:], [*made[:place], *made[place + 1 :]]))
    return best


def test_calls_are_assigned_as_well_as_can_be(empty: EvaluationSession) -> None:
    """Exact and subset expectations mixed, equal ones repeated, against a search through every assignment."""
    random_source = random.Random(11)
    catalogue = Catalogue(tuple(one for one in shipped_catalogue().evaluators if one.id == "tool_arguments_match"))
    expected: dict[str, float] = {}
    runs: list[dict[str, Any]] = []
    cases: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for number in range(150):
        wanted = [
            {
                "tool": "f",
                "arguments": {name: random_source.randint(1, 2) for name in "abc" if random_source.random() < 0.4},
                "mode": random_source.choice(["exact", "subset"]),
            }
            for _ in range(random_source.randint(1, 4))
        ]
        made = [
            {name: random_source.randint(1, 2) for name in "abc" if random_source.random() < 0.6}
            for _ in range(random_source.randint(0, 4))
        ]
        run_id = f"r{number}"
        expected[run_id] = most_served(wanted, made) / len(wanted)
        runs.append({"run_id": run_id, "case_id": run_id, "suite_name": "s"})
        cases.append({"case_id": run_id, "suite_name": "s", "expected_calls": json.dumps(wanted)})
        calls.extend(
            {"run_id": run_id, "seq": seq, "tool_name": "f", "arguments": json.dumps(arguments)}
            for seq, arguments in enumerate(made, start=1)
        )
    try:
        empty.fill("runs", runs)
        empty.fill("cases", cases)
        empty.fill("tool_calls", calls)
        empty.find_runs(Scope())
        found = evaluate(empty, catalogue, scope=Scope(), values=catalogue.bound({}))
    finally:
        empty.clear(["runs", "cases", "tool_calls"])
    scores = {row["run_id"]: row["score_value"] for table in found.outcomes for row in table.to_pylist()}

    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ({"kind": "contains", "value": ["x"]}, None),
        ({"kind": "contains", "value": "x", "match": "all"}, None),
        ({"kind": "contains", "value": []}, "no_value"),
        ({"kind": "excludes"}, "no_value"),
        ({"kind": "vibes", "value": ["x"]}, "unknown_kind"),
        ({"value": ["x"]}, "no_kind"),
        ({"kind": "regex", "value": "a("}, "bad_pattern"),
        ({"kind": "regex", "value": ["a", "(?<=a)b"]}, "bad_pattern"),
        ({"kind": "numeric", "value": "many"}, "no_number"),
        ({"kind": "numeric", "value": 0}, None),
        ({"kind": "json", "value": None}, None),
        ({"kind": "json"}, "no_value"),
        ({"kind": "exact", "value": "x", "weight": 0}, "bad_weight"),
        ({"kind": "exact", "value": "x", "weight": 0.5}, None),
        ({"kind": "abstains"}, None),
        (["contains"], "no_kind"),
    ],
)
def test_check_problem(empty: EvaluationSession, check: object, problem: str | None) -> None:
    assert value(empty, "check_problem($check::json)", {"check": json.dumps(check)}) == problem


HOLDING: dict[str, tuple[dict[str, Any], str]] = {
    "contains": ({"value": ["par", "7"], "match": "all"}, "Paris 7"),
    "excludes": ({"value": "rome"}, "Paris 7"),
    "exact": ({"value": "paris  7"}, " Paris 7\n"),
    "regex": ({"value": r"\d$"}, "Paris 7"),
    "numeric": ({"value": 7.0, "tolerance": 0.1}, "Paris 7"),
    "json": ({"value": {"a": 1}, "match": "subset"}, '{"a": 1.0, "b": 2}'),
    "abstains": ({}, "I cannot say."),
    "tool_called": ({"value": ["search", "wiki"]}, ""),
    "tool_not_called": ({"value": "delete"}, ""),
    "max_steps": ({"value": 3}, ""),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_check_that_a_suite_may_hold_is_read(empty: EvaluationSession, kind: str) -> None:
    fields, answer = HOLDING[kind]
    check = KINDS[kind].model_validate({"kind": kind, **fields}).as_value()
    parameters = {"check": json.dumps(check), "answer": answer, "tools": ["search"]}

    assert value(empty, "check_problem($check::json)", {"check": json.dumps(check)}) is None
    assert value(empty, "check_passes($check::json, $answer, $tools::varchar[], 3)", parameters) is True
