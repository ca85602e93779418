"""Case files: rows in, scores out, on an empty store through the path of a real one."""

from __future__ import annotations

from typing import Any

import pytest

from spanscore.errors import EvaluatorInvalid
from spanscore.evaluate import read_evaluator
from spanscore.evaluate.cases import matches, read_case, run_case
from spanscore.store.evaluation import EvaluationSession

COUNTED = """
select
    runs.run_id,
    case when count(tool_calls.run_id) > 0 then count(tool_calls.run_id) / 3 end as score_value,
    case when count(tool_calls.run_id) = 0 then 'no_tool_calls' end as not_applicable_reason,
    to_json({'tools': list(tool_calls.tool_name order by tool_calls.seq), 'n': count(tool_calls.run_id)}) as evidence
from runs
left join tool_calls using (run_id)
group by runs.run_id
"""
GIVEN = """
why = "Two calls."
given.runs = [{ run_id = "r1" }, { run_id = "r2" }]
given.tool_calls = [
  { run_id = "r1", tool_call_id = "a", seq = 1, tool_name = "one" },
  { run_id = "r1", tool_call_id = "b", seq = 2, tool_name = "two" },
]
"""


def outcome(write: Any, empty: EvaluationSession, text: str, select: str = COUNTED, **keys: Any) -> list[str]:
    """What the case `text` finds wrong, without the path."""
    evaluator = read_evaluator(write("counted", select, **keys))
    path = evaluator.path.with_name("case.toml")
    path.write_text(text, encoding="utf-8")
    return [problem.removeprefix(f"{path}: ") for problem in run_case(read_case(path, evaluator), evaluator, empty)]


def refusal(write: Any, empty: EvaluationSession, text: str, select: str = COUNTED) -> str:
    with pytest.raises(EvaluatorInvalid) as refused:
        outcome(write, empty, text, select)
    return str(refused.value)


@pytest.mark.parametrize(
    ("expect", "problems"),
    [
        ('{ run_id = "r1", score_value = 0.6666666666 }, { run_id = "r2" }', []),
        ('{ run_id = "r2", not_applicable_reason = "no_tool_calls" }, { run_id = "r1" }', []),
        ('{ run_id = "r1", evidence = { tools = ["one", "two"] } }, { run_id = "r2" }', []),
        (
            '{ run_id = "r1", score_value = 0.66666 }, { run_id = "r2" }',
            ["`r1`: score_value is 0.6666666666666666, expected 0.66666."],
        ),
        ('{ run_id = "r1" }, { run_id = "r2", score_value = 0 }', ["`r2`: score_value is NULL, expected 0."]),
        (
            '{ run_id = "r1", evidence = { tools = ["one"] } }, { run_id = "r2" }',
            ['`r1`: evidence is {"tools": ["one", "two"], "n": 2}, expected {"tools": ["one"]}.'],
        ),
        ('{ run_id = "r1" }', ["a row for `r2` that is not expected: score_value NULL."]),
        ('{ run_id = "r1" }, { run_id = "r2" }, { run_id = "r3" }', ["no row for `r3`."]),
    ],
)
def test_only_what_is_named_is_compared(write: Any, empty: EvaluationSession, expect: str, problems: list[str]) -> None:
    assert outcome(write, empty, f"{GIVEN}expect = [{expect}]") == problems


def test_a_case_leaves_the_store_empty_for_the_next(write: Any, empty: EvaluationSession) -> None:
    outcome(write, empty, GIVEN + 'expect = [{ run_id = "r1" }, { run_id = "r2" }]')

    assert outcome(write, empty, 'why = "Nothing."\ngiven.runs = []\nexpect = []') == []


def test_parameters_are_those_of_the_case(write: Any, empty: EvaluationSession) -> None:
    text = (
        'why = ""\nparams = { most = 7 }\ngiven.runs = [{ run_id = "r" }]\nexpect = [{ run_id = "r", score_value = 7 }]'
    )
    more = '\n[params.most]\ntype = "DOUBLE"\ndefault = 1\ndoc = ""'

    assert outcome(write, empty, text, "select run_id, $most as score_value from runs", more=more) == []


def test_an_evaluator_that_fails_on_the_rows_fails_the_case(write: Any, empty: EvaluationSession) -> None:
    text = 'why = ""\ngiven.runs = [{ run_id = "r" }]\nexpect = []'
    (problem,) = outcome(write, empty, text, "select run_id, error('no luck')::double as score_value from runs")

    assert "no luck" in problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("why = ", "cannot be read"),
        ('why = ""\nexpect = []', "`given` is missing"),
        ("given.runs = []\nexpect = []", "`why` is missing"),
        ('why = ""\ngiven.runs = []', "`expect` is missing"),
        ('why = ""\ngiven.runs = []\nexpect = []\nexpected = []', "unknown key `expected`"),
        ('why = ""\ngiven.tool_call = []\nexpect = []', "given.tool_call: there is no such table"),
        ('why = ""\ngiven.scores = []\nexpect = []', "given.scores: there is no such table"),
        ('why = ""\ngiven.runs = [{ runid = "r" }]\nexpect = []', "given.runs: there is no column `runid`"),
        ('why = ""\ngiven.runs = [{ run_id = "r", llm_calls = "x" }]\nexpect = []', "given.runs: Conversion Error"),
        ('why = ""\ngiven.runs = { run_id = "r" }\nexpect = []', "given.runs must be a list of rows"),
        ('why = ""\ngiven.runs = []\nexpect = [{ score_value = 1 }]', "expect: a row has no `run_id`"),
        ('why = ""\ngiven.runs = []\nexpect = [{ run_id = "r", score = 1 }]', "expect: there is no column `score`"),
        ('why = ""\nparams = { most = 1 }\ngiven.runs = []\nexpect = []', "no parameter `most`"),
        ('why = ""\ngiven.cases = [{ run_id = "r" }]\nexpect = []', "given.cases: there is no run `r`"),
    ],
)
def test_a_mistake_in_a_case_is_named(write: Any, empty: EvaluationSession, text: str, expected: str) -> None:
    assert expected in refusal(write, empty, text)


def test_values_of_every_kind_arrive_as_they_are(write: Any, empty: EvaluationSession) -> None:
    text = """
    why = "Lists, JSON, times, attributes and bodies."
    given.runs = [{ run_id = "r", trace_id = "t", conventions = ["genai"], started_at = 2026-01-02T03:04:05.5Z }]
    given.tool_calls = [
      { run_id = "r", seq = 1, arguments = '{"a": 1}' },
      { run_id = "r", seq = 2, arguments = { a = [1, true] } },
      { run_id = "r", seq = 3, arguments = "plain text" },
    ]
    given.spans = [{ trace_id = "t", span_id = "s", attributes = { n = 7, x = 0.5, s = "7", b = true } }]
    given.log_records = [{ log_record_id = "l", trace_id = "t", body = "7" }]
    expect = [{ run_id = "r", score_value = 1, explanation = 'SEEN' }]
    """
    arguments = '[{"a":1},{"a":[1,true]},"plain text"]'
    seen = f"2026-01-02 03:04:05.5 | genai | {arguments} | INT64 DOUBLE VARCHAR BOOL_TRUE | VARCHAR"
    select = """
    select run_id, 1 as score_value, concat_ws(' | ', started_at::varchar, conventions[1],
        (select to_json(list(arguments order by seq))::varchar from tool_calls),
        (select concat_ws(' ', variant_typeof(attributes['n']), variant_typeof(attributes['x']),
            variant_typeof(attributes['s']), variant_typeof(attributes['b'])) from spans),
        (select variant_typeof(body) from log_records)) as explanation
    from runs
    """

    assert outcome(write, empty, text.replace("SEEN", seen), select) == []


def test_a_case_with_a_run_is_the_case_of_that_run(write: Any, empty: EvaluationSession) -> None:
    text = """
    why = "Two attempts at one case, and a run without one."
    given.runs = [{ run_id = "r1" }, { run_id = "r2" }, { run_id = "r3" }]
    given.cases = [
      { run_id = "r1", case_id = "c", expected_tools = ["a", "b"] },
      { run_id = "r2", case_id = "c", expected_tools = ["a", "b"] },
    ]
    expect = [
      { run_id = "r1", score_value = 2 }, { run_id = "r2", score_value = 2 },
      { run_id = "r3", not_applicable_reason = "no_case" },
    ]
    """
    select = (
        "select runs.run_id, len(cases.expected_tools) as score_value, "
        "case when cases.run_id is null then 'no_case' end as not_applicable_reason "
        "from runs left join cases using (run_id)"
    )

    assert outcome(write, empty, text, select) == []


@pytest.mark.parametrize(
    ("expected", "actual", "is_match"),
    [
        (1, 1.0, True),
        (1.0, 1.0000000001, True),
        (1.0, 1.000001, False),
        (True, True, True),
        (True, 1, False),
        (0, None, False),
        ("a", "a", True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1, "c": 2}, {"a": 1, "b": 2}, False),
        ([{"a": 1}], [{"a": 1, "b": 2}], True),
    ],
)
def test_values_match(expected: Any, actual: Any, is_match: bool) -> None:
    assert matches(expected, actual) is is_match
