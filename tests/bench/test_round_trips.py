"""A suite that is written and read back is the same suite."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from suite_strategies import suites

from spanscore.bench.suites import Suite, suite_schema
from spanscore.bench.suites.dump import suite_json, suite_value, suite_yaml
from spanscore.bench.suites.json_text import read_json
from spanscore.bench.suites.yaml_text import read_yaml

PROPERTY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SCHEMA = Draft202012Validator(suite_schema())


@PROPERTY
@given(suites())
def test_yaml_gives_back_the_same_suite(suite: Suite) -> None:
    document = read_yaml(suite_yaml(suite))

    assert document.problems == []
    assert Suite.model_validate(document.value) == suite
    # 1 and 1.0 and true are equal in Python; their texts are not.
    assert repr(Suite.model_validate(document.value)) == repr(suite)


@PROPERTY
@given(suites())
def test_json_gives_back_the_same_suite(suite: Suite) -> None:
    document = read_json(suite_json(suite))

    assert document.problems == []
    assert repr(Suite.model_validate(document.value)) == repr(suite)


@PROPERTY
@given(suites())
def test_other_yaml_readers_read_the_same(suite: Suite) -> None:
    assert repr(yaml.safe_load(suite_yaml(suite))) == repr(suite_value(suite))


@PROPERTY
@given(suites())
def test_every_suite_fits_the_schema(suite: Suite) -> None:
    assert list(SCHEMA.iter_errors(suite_value(suite))) == []


@PROPERTY
@given(suites())
def test_every_case_has_a_row_of_its_own(suite: Suite) -> None:
    assert [row["case_id"] for row in suite.case_rows()] == [case.id for case in suite.cases]


def test_the_schema_itself_is_one() -> None:
    Draft202012Validator.check_schema(suite_schema())


@pytest.mark.parametrize(
    "suite",
    [
        {"name": "s", "cases": []},
        {"name": "s"},
        {"name": "s", "cases": [{"id": "a", "input": "x", "expected_tool": []}]},
        {"name": "s", "version": 1, "cases": [{"id": "a", "input": "x"}]},
        {"name": "s", "cases": [{"id": "a", "input": "x", "checks": [{"kind": "contains"}]}]},
        {"name": "s", "cases": [{"id": "a", "input": "x", "checks": [{"kind": "contain", "value": "x"}]}]},
        {"name": "s", "cases": [{"id": "a", "input": "x", "optimal_steps": 0}]},
    ],
)
def test_the_schema_refuses_what_loading_refuses(suite: object) -> None:
    assert list(SCHEMA.iter_errors(suite)) != []


def test_comments_of_a_proposal_are_comments(tmp_path: Path) -> None:
    suite = Suite.model_validate({"name": "s", "cases": [{"id": "a", "input": "x"}, {"id": "b", "input": "y"}]})
    text = suite_yaml(suite, head="one\ntwo", notes={"b": "- id: c\n\n  input: z"})

    assert text.startswith("# one\n# two\nname: s\n")
    assert repr(Suite.model_validate(read_yaml(text).value)) == repr(suite)
