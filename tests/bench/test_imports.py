"""Suites of other programs: what they say arrives, and what has no place is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanscore.bench.suites import load_suite
from spanscore.bench.suites.dump import suite_json, suite_yaml
from spanscore.bench.suites.imports import import_suite
from spanscore.errors import SuiteInvalid

NINE = json.loads((Path(__file__).parent / "nine_cases.json").read_text(encoding="utf-8"))


def words(text: str) -> dict[str, Any]:
    """A message of ADK."""
    return {"parts": [{"text": text}], "role": "user"}


ADK = {
    "eval_set_id": "home_automation",
    "name": "home",
    "description": "A lamp and a thermostat.",
    "eval_cases": [
        {
            "eval_id": "lamp",
            "conversation": [
                {
                    "invocation_id": "i1",
                    "user_content": words("Turn off device_2 in the Bedroom."),
                    "final_response": {
                        "parts": [{"text": "I have set"}, {"text": "device_2 to off."}],
                        "role": "model",
                    },
                    "intermediate_data": {
                        "tool_uses": [
                            {"id": "x", "name": "set_device", "args": {"device_id": "device_2", "status": "OFF"}},
                            {"name": "report", "args": None},
                        ],
                        "intermediate_responses": [],
                    },
                    "creation_timestamp": 1747337309.2360144,
                }
            ],
            "session_input": {"app_name": "home", "user_id": "u", "state": {}},
        },
        {
            "eval_id": "hello",
            "conversation": [{"user_content": words("Hello!"), "intermediate_data": {"tool_uses": []}}],
        },
        {"eval_id": "open", "conversation": [{"user_content": words("What can you do?")}]},
        {
            "eval_id": "talk",
            "conversation": [
                {"user_content": words("Is it warm?"), "intermediate_data": {"tool_uses": [{"name": "read"}]}},
                {"user_content": words("And now?"), "final_response": words("Yes.")},
            ],
            "session_input": {"app_name": "home", "user_id": "u", "state": {"room": "bath"}},
            "rubrics": [{"rubric_id": "polite"}],
        },
        {"eval_id": "simulated", "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "…"}},
    ],
}
ADK_EVENTS = {
    "evalSetId": "events",
    "evalCases": [
        {
            "evalId": "e1",
            "conversation": [
                {
                    "userContent": words("Roll a die."),
                    "intermediateData": {
                        "invocationEvents": [
                            {
                                "author": "root",
                                "content": {"parts": [{"functionCall": {"name": "roll", "args": {"sidesOfDie": 6}}}]},
                            },
                            {"author": "root", "content": {"parts": [{"text": "Rolling."}]}},
                            {"author": "root", "content": None},
                        ]
                    },
                }
            ],
        }
    ],
}
ADK_OLD = [
    {
        "name": "dice",
        "data": [
            {
                "query": "Roll twice.",
                "expected_tool_use": [{"tool_name": "roll", "tool_input": {"sides": 17}}] * 2,
                "reference": "3, 4",
            }
        ],
        "initial_session": {},
    }
]
ADK_OLDEST = [{"query": "Hi.", "expected_tool_use": [], "reference": "Hello."}, {"query": "Bye."}]


def imported(tmp_path: Path, value: object, file: str = "given.json", **options: str) -> Any:
    path = tmp_path / file
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return import_suite(path, **options)


@pytest.mark.parametrize(
    "value", [NINE, NINE["cases"], {**NINE, "semantics": "…"}], ids=["object", "list", "with more"]
)
def test_the_nine_cases_arrive(value: object, tmp_path: Path) -> None:
    suite = imported(tmp_path, value, name="nine", version="1").suite
    rows = {row["case_id"]: row for row in suite.case_rows()}

    assert (suite.name, suite.version, len(rows)) == ("nine", "1", 9)
    assert {row["step_cap"] for row in rows.values()} == {6}
    assert rows["none-1"]["expected_tools"] == []
    assert rows["multi-1"]["expected_tools"] == ["search_web", "calculate"]
    assert rows["fact-1"]["checks"] is None
    assert json.loads(rows["unans-1"]["checks"]) == [
        {"kind": "contains", "value": ["cannot", "not verified", "unknown", "forecast"]}
    ]
    assert [case_id for case_id, row in rows.items() if row["unanswerable"]] == ["unans-1", "junk-1"]


def test_what_has_no_place_is_named(tmp_path: Path) -> None:
    notes = imported(
        tmp_path,
        {"semantics": "…", "cases": [{"id": "a", "input": "x", "difficulty": "hard", "unanswerable": True}]},
    ).notes

    assert [note for note in notes if "left out" in note] == [
        "the suite: `semantics` left out: a suite has no place for it.",
        "case `a`: `difficulty` left out: a suite has no place for it.",
    ]
    assert any("step_cap is 6" in note for note in notes)


def test_phrases_that_must_not_be_there_exclude(tmp_path: Path) -> None:
    value = [
        {"task_id": "a", "question": "x", "must_not_contain": ["sorry"], "must_contain": [], "expected_tools": None}
    ]
    (case,) = imported(tmp_path, value).suite.case_rows()

    assert (case["case_id"], case["input"], case["expected_tools"]) == ("a", "x", None)
    assert json.loads(case["checks"]) == [{"kind": "excludes", "value": ["sorry"]}]


def test_an_adk_set_becomes_a_case_per_turn(tmp_path: Path) -> None:
    outcome = imported(tmp_path, ADK)
    cases = {case.id: case for case in outcome.suite.cases}
    lamp = cases["lamp"]

    assert outcome.suite.name == "home"
    assert outcome.suite.description == "A lamp and a thermostat."
    assert list(cases) == ["lamp", "hello", "open", "talk/1", "talk/2"]
    assert lamp.input == "Turn off device_2 in the Bedroom."
    assert lamp.reference == "I have set\ndevice_2 to off."
    assert lamp.expected_tools == ["set_device", "report"]
    assert lamp.expected_steps == ["set_device", "report"]
    assert [(call.tool, call.arguments) for call in lamp.expected_calls or ()] == [
        ("set_device", {"device_id": "device_2", "status": "OFF"}),
        ("report", {}),
    ]
    assert (cases["hello"].expected_tools, cases["hello"].expected_calls) == ([], None)
    assert (cases["open"].expected_tools, cases["open"].reference) == (None, None)
    assert (cases["talk/2"].input, cases["talk/2"].reference) == ("And now?", "Yes.")


def test_what_an_adk_set_says_besides_is_named(tmp_path: Path) -> None:
    notes = "\n".join(imported(tmp_path, ADK).notes)

    for part in ("`simulated` left out", "`talk` became 2 cases", "`talk`: the state", "`talk`: its rubrics"):
        assert part in notes


def test_calls_in_events_and_names_in_camel_case_are_read(tmp_path: Path) -> None:
    suite = imported(tmp_path, ADK_EVENTS).suite
    (case,) = suite.cases

    assert (suite.name, case.id) == ("events", "e1")
    assert [(call.tool, call.arguments) for call in case.expected_calls or ()] == [("roll", {"sidesOfDie": 6})]


def test_earlier_forms_of_adk_are_read(tmp_path: Path) -> None:
    old = imported(tmp_path, ADK_OLD, "dice.test.json").suite
    oldest = imported(tmp_path, ADK_OLDEST, "greetings.test.json").suite

    assert (old.name, old.cases[0].id, old.cases[0].expected_tools) == ("dice", "dice", ["roll"])
    assert len(old.cases[0].expected_calls or ()) == 2
    assert [(case.id, case.input, case.expected_tools) for case in oldest.cases] == [
        ("query-1", "Hi.", []),
        ("query-2", "Bye.", None),
    ]


@pytest.mark.parametrize("value", [NINE, ADK, ADK_EVENTS, ADK_OLD, ADK_OLDEST])
@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_an_imported_suite_is_written_and_loaded_the_same(value: object, ending: str, tmp_path: Path) -> None:
    suite = imported(tmp_path, value).suite
    path = tmp_path / f"suite.{ending}"
    path.write_text((suite_yaml if ending == "yaml" else suite_json)(suite), encoding="utf-8")

    assert repr(load_suite(path)) == repr(suite)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ([{"id": "a", "input": "x"}, {"id": "a", "input": "y"}], "given.json:7: case `a`: `id`: a case before it"),
        ([{"id": "a"}], "given.json:2: case `a`: `input`: it is missing"),
        ([{"id": "a", "input": "x", "must_contain": [5]}], "must be text, and is a number"),
        (["text"], "must be a mapping, and is text"),
        ([], "no case to import"),
        ({"cases": {}}, "neither an ADK evaluation set nor a list of cases"),
        ("text", "neither an ADK evaluation set nor a list of cases"),
        ({"eval_set_id": "x", "eval_cases": []}, "no case to import"),
        (
            {"eval_cases": [{"eval_id": "a", "conversation": [{"user_content": {"parts": []}}]}]},
            "`input`: it must be text",
        ),
        ({"eval_cases": [{"eval_id": 3, "conversation": [{"user_content": words("x")}]}]}, "`id`: it must be text"),
    ],
)
def test_what_cannot_be_a_suite_is_named_with_the_line_it_comes_from(value: object, part: str, tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid) as refusal:
        imported(tmp_path, value)

    assert part in str(refusal.value)
