"""The header of an evaluator file: what is read from it, and that every mistake is named with its line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from spanscore.errors import EvaluatorInvalid
from spanscore.evaluate import read_evaluator

PARAMETER = '\n[params.most]\ntype = "DOUBLE"\nunit = "calls"\ndefault = 3\ndoc = "The most."\n'


def problems(path: Path) -> list[str]:
    with pytest.raises(EvaluatorInvalid) as refused:
        read_evaluator(path)
    return [problem.removeprefix(f"{path}:") for problem in refused.value.problems]


def test_a_header_is_read_as_it_stands(write: Any) -> None:
    path = write("my_rate", more='needs = ["content"]\ntags = ["a", "b"]\nsources = ["https://x.example"]' + PARAMETER)
    evaluator = read_evaluator(path)

    assert (evaluator.id, evaluator.title, evaluator.grain, evaluator.unit, evaluator.better) == (
        "my_rate",
        "A title",
        "run",
        "count",
        "higher",
    )
    assert (evaluator.needs, evaluator.tags, evaluator.sources) == (("content",), ("a", "b"), ("https://x.example",))
    assert evaluator.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    # 3 is written, a DOUBLE is bound.
    assert repr(evaluator.defaults) == "{'most': 3.0}"
    assert evaluator.params["most"].doc == "The most."


def test_a_parameter_without_default_binds_null(write: Any) -> None:
    path = write("my_rate", more='\n[params.most]\ntype = "BIGINT"\ndoc = "The most; NULL = no limit."')

    assert read_evaluator(path).defaults == {"most": None}


@pytest.mark.parametrize(
    ("keys", "more", "expected"),
    [
        ({"grain": '"day"'}, "", ["4: grain `day` is none of"]),
        ({"unit": '"percent"'}, "", ["5: unit `percent` is none of"]),
        ({"better": '"up"'}, "", ["6: better `up` is none of"]),
        ({"title": "7"}, "", ["3: `title` must be a text"]),
        ({"title": ""}, "", ["1: the key `title` is missing"]),
        ({"id": '"other"'}, "", ["2: id `other` is not the name of the file"]),
        ({}, 'bettr = "lower"', ["7: unknown key `bettr`"]),
        ({}, "[parms.most]", ["7: unknown key `parms`"]),
        ({}, 'tags = "one"', ["7: `tags` must be a list of texts"]),
        ({}, 'overrides = "steps"', ["7: overrides `steps` is not the id"]),
        ({}, '[params.most]\ntype = "INT"\ndoc = ""', ["8: type `INT` of parameter `most` is none of"]),
        ({}, '[params.most]\ntype = "BIGINT"\ndoc = ""\ndefault = "x"', ["10: default 'x' of parameter `most`"]),
        ({}, '[params.most]\ntype = "BIGINT"\ndoc = ""\ndefault = true', ["10: default True of parameter `most`"]),
        ({}, '[params.most]\ntype = "DOUBLE"\ndoc = ""\ndefault = nan', ["10: default nan of parameter `most`"]),
        (
            {},
            '[params.most]\ntype = "BIGINT"\ndoc = ""\ndefualt = 1',
            ["10: unknown key `defualt` of parameter `most`"],
        ),
        ({}, '[params.most]\ndoc = ""', ["7: parameter `most` has no `type`"]),
        ({}, "[params.most", ["7: the header is not TOML"]),
        ({"unit": '"x"', "better": '"y"'}, "z = 1", ["5: unit", "6: better", "7: unknown key `z`"]),
    ],
)
def test_every_mistake_is_named_with_its_line(write: Any, keys: Any, more: str, expected: list[str]) -> None:
    found = problems(write("my_rate", more=more, **keys))

    assert len(found) == len(expected)
    for problem, beginning in zip(found, expected, strict=True):
        assert problem.startswith(beginning)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1", "1: there is no evaluator header"),
        ('-- /// evaluator\n-- id = "x"\nselect 1', "1: the header has no end"),
        ('-- /// evaluator\nid = "x"\n-- ///\nselect 1', "2: a line of the header does not begin with `--`"),
        ("", "1: there is no evaluator header"),
    ],
)
def test_a_file_without_header_is_named(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "x.sql"
    path.write_text(text)

    assert problems(path)[0].startswith(expected)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sql"
    path.write_bytes(b"-- \xff")

    assert "not UTF-8" in problems(path)[0]


@pytest.mark.parametrize(
    ("value", "is_good"), [(2, True), (2.5, True), (True, False), ("2", False), (float("inf"), False)]
)
def test_a_value_for_a_parameter_has_its_type(write: Any, value: object, is_good: bool) -> None:
    evaluator = read_evaluator(write("my_rate", more=PARAMETER))
    if is_good:
        assert evaluator.bound({"most": value}) == {"most": float(value)}  # type: ignore[arg-type]
    else:
        with pytest.raises(EvaluatorInvalid, match=r"my_rate\.most"):
            evaluator.bound({"most": value})


def test_an_unknown_parameter_is_named_with_those_there_are(write: Any) -> None:
    with pytest.raises(EvaluatorInvalid, match=r"no parameter `least`.\n  It has: `most`"):
        read_evaluator(write("my_rate", more=PARAMETER)).bound({"least": 1})
