"""Suites that cannot be: every mistake is named with its line, all at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spanscore.bench.suites import Case, Suite, Threshold
from spanscore.bench.suites.load import threshold_problems
from spanscore.errors import SuiteInvalid

Load = Callable[..., Suite]

GOOD = "name: s\nversion: '1'\ncases:\n  - id: a\n    input: What?\n"

# What follows GOOD, and the line and a part of what must be said about it.
IN_A_CASE = {
    "unknown field": ("    expected_tool: [x]\n", 6, "Did you mean `expected_tools`?"),
    "number for text": ("    category: 3\n", 6, 'Put it in quotes: "3"'),
    "truth value for text": ("    category: true\n", 6, 'Put it in quotes: "true"'),
    "text for a number": ("    optimal_steps: '3'\n", 6, "a whole number, and is text"),
    "fraction for a count": ("    optimal_steps: 3.5\n", 6, "a whole number, and is a number"),
    "zero steps": ("    optimal_steps: 0\n", 6, "at least 1"),
    "truth value for a number": ("    step_cap: true\n", 6, "a whole number, and is a truth value"),
    "text for a truth value": ("    unanswerable: 'yes'\n", 6, "true or false, and is text"),
    "text for a list": ("    expected_tools: x\n", 6, "a list, and is text"),
    "tool twice": ("    expected_tools: [x, y, x]\n", 6, "names `x` twice"),
    "space around a name": ("    expected_tools: [' x']\n", 6, "`expected_tools[0]`: it must be one line"),
    "line break in a name": ('    category: "a\\nb"\n', 6, "one line"),
    "blank phrase": ("    checks: [{kind: contains, value: ' '}]\n", 6, "is blank"),
    "no phrases": ("    checks: [{kind: contains, value: []}]\n", 6, "it is empty"),
    "unknown kind": ("    checks:\n      - kind: contain\n        value: x\n", 7, "`contain` is none of"),
    "no kind": ("    checks: [{value: x}]\n", 6, "it needs a `kind`"),
    "no value": ("    checks: [{kind: exact}]\n", 6, "`checks[0].value`: it is missing"),
    "field of another kind": ("    checks: [{kind: exact, value: x, tolerance: 1}]\n", 6, "no such field"),
    "number in quotes": ("    checks: [{kind: numeric, value: '3'}]\n", 6, "a number, and is text"),
    "negative tolerance": ("    checks: [{kind: numeric, value: 3, tolerance: -1}]\n", 6, "at least 0"),
    "no weight": ("    checks: [{kind: exact, value: x, weight: 0}]\n", 6, "more than 0"),
    "pattern of another engine": ("    checks: [{kind: regex, value: '(?=x)'}]\n", 6, "no regular expression"),
    "pattern that is none": ("    checks: [{kind: regex, value: '('}]\n", 6, "no regular expression"),
    "call without a tool": (
        "    expected_calls: [{arguments: {a: 1}}]\n",
        6,
        "`expected_calls[0].tool`: it is missing",
    ),
    "unknown mode": ("    expected_calls: [{tool: x, mode: some}]\n", 6, "`some` is none of `exact` or `subset`"),
    "unknown fault": ("    faults: [{tool: x, call: 1, kind: fire}]\n", 6, "`fire` is none of"),
    "fault at call 0": ("    faults: [{tool: x, call: 0, kind: error}]\n", 6, "at least 1"),
}
CONTRADICTIONS = {
    "call without tools": ("    expected_tools: []\n    expected_calls: [{tool: x}]\n", 7, "no tool should be called"),
    "call of another tool": (
        "    expected_tools: [y]\n    expected_calls: [{tool: x}]\n",
        7,
        "`expected_tools` lacks it",
    ),
    "phrase in and out": (
        "    checks:\n    - {kind: contains, value: ['723,000', y]}\n    - {kind: excludes, value: '723000'}\n",
        7,
        "should contain `723,000`, and should not contain `723000`",
    ),
    "phrase around an excluded one": (
        "    checks: [{kind: contains, value: not known}, {kind: excludes, value: Known}]\n",
        6,
        "should not contain `Known`",
    ),
    "exact and excluded": (
        "    checks: [{kind: exact, value: x}, {kind: excludes, value: x}]\n",
        6,
        "should not contain",
    ),
    "all of, one excluded": (
        "    checks: [{kind: contains, value: [ab, c], match: all}, {kind: excludes, value: b}]\n",
        6,
        "should contain `ab`",
    ),
    "more steps than the cap": ("    step_cap: 2\n    optimal_steps: 3\n", 7, "`step_cap` allows 2"),
    "more steps than the check": (
        "    optimal_steps: 3\n    checks: [{kind: max_steps, value: 2}]\n",
        7,
        "2 are allowed",
    ),
    "tool called and not": (
        "    checks: [{kind: tool_called, value: x}, {kind: tool_not_called, value: x}]\n",
        6,
        "should not be called",
    ),
    "tool not called and expected": (
        "    expected_tools: [x]\n    checks: [{kind: tool_not_called, value: x}]\n",
        7,
        "a call of it is expected",
    ),
    "tool called and not expected": (
        "    expected_tools: []\n    checks: [{kind: tool_called, value: x}]\n",
        7,
        "`expected_tools` lacks it",
    ),
    "agents without the right one": ("    acceptable_agents: [x]\n", 6, "no `expected_agent`"),
    "right and half right": ("    expected_agent: x\n    acceptable_agents: [x]\n", 7, "half the score"),
    "two faults at once": (
        "    faults: [{tool: x, call: 1, kind: error}, {tool: x, call: 1, kind: empty}]\n",
        6,
        "has a fault already",
    ),
    "id twice": ("  - id: a\n    input: y\n", 6, "a case before it has this id"),
}
ABOUT = {
    "no name": ("cases: [{id: a, input: x}]\nversion: '1'\n", None, "`name`: it is missing"),
    "no cases": ("name: s\n", None, "`cases`: it is missing"),
    "zero cases": ("name: s\ncases: []\n", 2, "it is empty"),
    "version as a number": ("name: s\nversion: 1.0\ncases: [{id: a, input: x}]\n", 2, 'Put it in quotes: "1.0"'),
    "case that is text": ("name: s\ncases: [x]\n", 2, "a mapping, and is text"),
    "threshold of nothing": (
        "name: s\ncases: [{id: a, input: x}]\nthresholds: {cost: {}}\n",
        3,
        "neither `min` nor `max`",
    ),
    "threshold upside down": (
        "name: s\ncases: [{id: a, input: x}]\nthresholds: {cost: {min: 2, max: 1}}\n",
        3,
        "nothing passes",
    ),
    "threshold that is NaN": (
        "name: s\ncases: [{id: a, input: x}]\nthresholds: {cost: {min: .nan}}\n",
        3,
        "`.nan` without quotes",
    ),
    "threshold in percent": (
        "name: s\ncases: [{id: a, input: x}]\nthresholds: {cost: {min: 90%}}\n",
        3,
        "a number, and is text",
    ),
    "agent of no tier": (
        "name: s\ndefaults: {tiers: [fast, deep]}\ncases: [{id: a, input: x, expected_agent: slow}]\n",
        3,
        "`slow` is none of `defaults.tiers`",
    ),
    "cap of the suite": ("name: s\nstep_cap: 2\ncases: [{id: a, input: x, optimal_steps: 3}]\n", 3, "allows 2"),
    "check of the defaults": (
        "name: s\ndefaults: {checks: [{kind: excludes, value: x}]}\ncases:\n- {id: a, input: x, checks: [*]}\n".replace(
            "*", "{kind: contains, value: x}"
        ),
        4,
        "should not contain `x`",
    ),
    "completed by nothing": (
        "name: s\ndefaults: {completion_threshold: 0}\ncases: [{id: a, input: x}]\n",
        2,
        "more than 0",
    ),
    "alias": ("name: &n s\nversion: *n\ncases: [{id: a, input: x}]\n", 2, "`*n` is an alias"),
}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [(GOOD + text, line, part) for text, line, part in (IN_A_CASE | CONTRADICTIONS).values()] + list(ABOUT.values()),
    ids=[*IN_A_CASE, *CONTRADICTIONS, *ABOUT],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int | None, part: str, load: Load) -> None:
    with pytest.raises(SuiteInvalid) as refusal:
        load(text)
    wanted = [problem for problem in refusal.value.problems if part in problem]

    assert wanted, refusal.value
    assert f"suite.yaml:{1 if line is None else line}: " in wanted[0]


@pytest.mark.parametrize("text", [GOOD + text for text, _, _ in CONTRADICTIONS.values()], ids=CONTRADICTIONS)
def test_a_contradiction_is_one_problem_and_not_several(text: str, load: Load) -> None:
    with pytest.raises(SuiteInvalid) as refusal:
        load(text)

    assert len(refusal.value.problems) <= 2


NO_CONTRADICTION = {
    "steps beside no tools": "    expected_tools: []\n    expected_steps: [plan, answer]\n",
    "no expectation of tools": "    expected_calls: [{tool: x}]\n",
    "another way out": "    checks: [{kind: contains, value: [not known, x]}, {kind: excludes, value: known}]\n",
    "excluded as a word alone": "    checks:\n    - {kind: contains, value: know}\n"
    "    - {kind: excludes, value: 'no', whole_words: true}\n",
    "excluded in capitals": "    checks:\n    - {kind: contains, value: 'no'}\n"
    "    - {kind: excludes, value: 'NO', case_sensitive: true}\n",
    "excluded commas alone": "    checks: [{kind: contains, value: x}, {kind: excludes, value: ','}]\n",
    "either tool": "    expected_tools: [x]\n    checks: [{kind: tool_called, value: [x, y]}]\n",
    "as many steps as the cap": "    step_cap: 3\n    optimal_steps: 3\n",
    "same fault at two calls": "    faults: [{tool: x, call: 1, kind: error}, {tool: x, call: 2, kind: error}]\n",
}


@pytest.mark.parametrize("text", NO_CONTRADICTION.values(), ids=NO_CONTRADICTION)
def test_what_can_be_is_no_contradiction(text: str, load: Load) -> None:
    assert len(load(GOOD + text).cases) == 1


def test_all_that_is_wrong_is_said_at_once(load: Load) -> None:
    """Fields of one case, contradictions of another, and an id that a broken case has."""
    with pytest.raises(SuiteInvalid) as refusal:
        load(
            "name: s\nstep_cap: 2\nversion: 2\ncases:\n"
            "- {id: a, inputs: x}\n"
            "- {id: b, input: x, optimal_steps: 3}\n"
            "- {id: a, input: x, expected_tools: [], expected_calls: [{tool: t}]}\n"
        )
    lines = [problem.split(":")[1] for problem in refusal.value.problems]

    assert lines == ["3", "5", "5", "6", "7", "7"]


def test_a_case_is_called_by_its_id(load: Load) -> None:
    with pytest.raises(SuiteInvalid, match=r"suite\.yaml:5: case `calc-1`: `checks\[0\]\.value`: it is missing\."):
        load("name: s\ncases:\n- id: calc-1\n  input: x\n  checks: [{kind: json}]\n")


def test_json_has_lines_too(load: Load) -> None:
    with pytest.raises(SuiteInvalid, match=r"suite\.json:3: case `a`: `category`: it must be text"):
        load('{"name": "s", "cases": [\n{"id": "a", "input": "x",\n"category": 3}]}', "suite.json")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("- a\n", "suite import"),
        ("eval_set_id: x\neval_cases: []\n", "suite import"),
        ("cases: [{id: a, input: x, must_contain: [y]}]\n", "suite import"),
        ("just text\n", "Write a mapping with `name` and `cases`"),
        ("", "Write a mapping with `name` and `cases`"),
    ],
)
def test_a_file_that_is_no_suite_is_told_what_to_become(text: str, part: str, load: Load) -> None:
    with pytest.raises(SuiteInvalid) as refusal:
        load(text)

    assert part in str(refusal.value)


def test_half_a_surrogate_pair_is_no_text(load: Load) -> None:
    with pytest.raises(SuiteInvalid, match=r"suite\.json:2: case `a`: `input`: it holds half a surrogate pair"):
        load('{"name": "s", "cases": [\n{"id": "a", "input": "x\\ud800"}]}', "suite.json")


def test_thresholds_are_held_against_the_evaluators() -> None:
    suite = Suite(
        name="s",
        cases=[Case(id="a", input="x")],
        thresholds={
            "task_completed": Threshold(min=90.0),
            "tool_f1": Threshold(min=0.9),
            "cost": Threshold(max=3.0),
            "costs": Threshold(max=3.0),
        },
    )
    problems = threshold_problems(suite, {"task_completed": "boolean", "tool_f1": "ratio", "cost": "usd"})

    assert [problem.splitlines()[0] for problem in problems] == [
        "`thresholds.task_completed.min`: 90 is no share: `task_completed` is between 0 and 1.",
        "`thresholds.costs`: there is no evaluator of that name.",
    ]
