"""YAML without its traps, JSON with lines, and files that are none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spanscore.bench.suites import Suite, load_suite
from spanscore.bench.suites.document import DEEPEST, MOST_BYTES
from spanscore.bench.suites.json_text import read_json
from spanscore.bench.suites.yaml_text import Disputed, plain_value, read_yaml
from spanscore.errors import SuiteInvalid

DISPUTED = (
    *("no", "No", "NO", "yes", "on", "Off"),
    *("1_000", "1__0", "007", "00", "0x1F", "0o17", "0b11"),
    *("12:30:45", "1:2", "190:20:30.15", "2026-01-01", "2026-1-1"),
    *("1e3", "1E3", "1.5e3", "-2e-3", ".5", "1.", "+.5", ".inf", "-.INF", ".NaN"),
    *("=", "<<"),
)
AGREED = {
    "3": 3,
    "-0": 0,
    "+5": 5,
    "0.5": 0.5,
    "1.0e+3": 1000.0,
    "true": True,
    "FALSE": False,
    "null": None,
    "~": None,
    "y": "y",
    "n": "n",
    "723,000": "723,000",
    "1.2.3": "1.2.3",
    "inf": "inf",
    "nan": "nan",
    "12:99": "12:99",
    "5%": "5%",
    "dead": "dead",
    "_1": "_1",
    "nobody": "nobody",
    "e3": "e3",
}


@pytest.mark.parametrize("word", [*DISPUTED, "2026-01-01T00:00:00Z", "", "1" * 101, "1.0e+999"])
def test_a_word_that_readers_disagree_on_has_no_value(word: str) -> None:
    with pytest.raises(Disputed):
        plain_value(word)


@pytest.mark.parametrize(("word", "value"), AGREED.items())
def test_a_word_that_readers_agree_on_has_its_value(word: str, value: object) -> None:
    assert (plain_value(word), type(plain_value(word))) == (value, type(value))


@given(st.text(st.sampled_from("0123456789_.:eExobyYnNtTfF+-~=< aINF"), max_size=8))
def test_whatever_is_not_disputed_is_what_another_reader_makes_of_it(word: str) -> None:
    """PyYAML reads YAML 1.1; its own slips with floats are on our list of disputed words."""
    try:
        value = plain_value(word)
    except Disputed:
        return
    try:
        theirs = yaml.safe_load(word)
        in_a_list = yaml.safe_load(f"[{word}]")
    except (yaml.YAMLError, ValueError):
        return
    # Elsewhere the word is no scalar: a mapping, a comment, the text before a space.
    if in_a_list == [theirs] and word == word.strip() and not isinstance(theirs, dict | list):
        assert repr(value) == repr(theirs)


@pytest.mark.parametrize("word", DISPUTED)
def test_a_disputed_word_is_named_with_its_line(word: str) -> None:
    (problem,) = read_yaml(f"a: 1\nb:\n  - {word}\n").problems

    assert problem.line == 3
    assert problem.text.startswith(f"`{word}` without quotes")
    assert read_yaml(f'a: 1\nb:\n  - "{word}"\n').value == {"a": 1, "b": [word]}


YAML_REFUSED = {
    "alias": ("a: &x [1]\nb: *x\n", [(1, "anchor"), (2, "alias")]),
    "alias of itself": ("a: &x [*x]\n", [(1, "anchor"), (1, "alias")]),
    "alias bomb": (
        "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
        [(1, "anchor"), (2, "anchor"), (2, "alias"), (2, "alias"), (3, "alias")],
    ),
    "merge": ("a: {<<: {x: 1}}\n", [(1, "`<<` without quotes")]),
    "tag": ("a: !!python/object/apply:os.system [x]\n", [(1, "tag")]),
    "tag of text": ("a: !!str 1\n", [(1, "tag")]),
    "key twice": ("a: 1\nb: 2\na: 3\n", [(3, "line 1")]),
    "key twice below": ("x:\n  a: 1\n  'a': 3\n", [(3, "line 2")]),
    "key that is no text": ("1: x\n", [(1, "key `1` is not text")]),
    "key that is disputed": ("no: x\n", [(1, "`no` without quotes")]),
    "key that is a list": ("[a, b]: x\n", [(1, "used as a key")]),
    "no value": ("a:\nb: 1\n", [(1, "there is no value")]),
    "nothing": ("", []),
    "two documents": ("a: 1\n---\nb: 2\n", [(2, "second document")]),
    "broken": ("a: [1\nb: 2\n", [(2, "no YAML")]),
    "tab": ("a:\n\tb: 1\n", [(2, "no YAML")]),
    "control character": ("a: 1\nb: \x01\n", [(2, "no YAML")]),
    "deep": ("a: " + "[" * 60 + "]" * 60, [(1, "nested more than")]),
    "abyss": ("a: " + "[" * 100_000, [(1, "nest")]),
}


@pytest.mark.parametrize(("text", "problems"), YAML_REFUSED.values(), ids=YAML_REFUSED.keys())
def test_what_hides_content_in_yaml_is_refused(text: str, problems: list[tuple[int, str]]) -> None:
    found = read_yaml(text).problems

    assert [problem.line for problem in found][: len(problems)] == [line for line, _ in problems]
    for problem, (_, part) in zip(found, problems, strict=False):
        assert part in problem.text


JSON_REFUSED = {
    "key twice": ('{"a": 1,\n"a": 2}', (2, "line 1")),
    "NaN": ('{"a":\n NaN}', (2, "`NaN` is no value")),
    "Infinity": ("[-Infinity]", (1, "no value")),
    "too large": ("[1e400]", (1, "larger than a double")),
    "long number": (f"[{'1' * 5000}]", (1, "too long")),
    "comment": ("[1, // x\n2]", (1, "no value")),
    "comma at the end": ("[1,\n]", (2, "no value")),
    "single quotes": ("{'a': 1}", (1, "double quotes")),
    "raw control character": ('["a\nb"]', (1, "control character")),
    "cut": ('{"a": [1', (1, "expected")),
    "more": ("{}\n{}", (2, "more after the end")),
    "empty": ("", (1, "ends before")),
    "deep": ("[" * 100_000, (1, "nested more than")),
    "leading zero": ("[01]", (1, "expected")),
}


@pytest.mark.parametrize(("text", "problem"), JSON_REFUSED.values(), ids=JSON_REFUSED.keys())
def test_what_is_no_json_is_refused(text: str, problem: tuple[int, str]) -> None:
    (found,) = read_json(text).problems

    assert found.line == problem[0]
    assert problem[1] in found.text


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**30), 10**30)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([None, 1]),
)
def test_json_is_read_as_python_reads_it(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)

    assert repr(read_json(text).value) == repr(json.loads(text))


@given(st.text(st.sampled_from('[]{},:"\\u0019eE.-+ntfalsr \n'), max_size=20))
def test_json_takes_nothing_that_python_refuses(text: str) -> None:
    document = read_json(text)
    try:
        expected = json.loads(text)
    except ValueError:
        assert document.problems
    else:
        assert document.problems or repr(document.value) == repr(expected)


@pytest.mark.parametrize("name", ["suite.yaml", "suite.yml", "suite.json", "SUITE.YAML"])
def test_a_byte_order_mark_is_no_content(name: str, load: Callable[..., Suite]) -> None:
    assert load('\ufeff{"name": "s", "cases": [{"id": "a", "input": "x"}]}', name).name == "s"


def test_nesting_up_to_the_limit_is_read() -> None:
    # The document is a mapping around the lists.
    text = "{a: " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1) + "}"

    assert read_yaml(text).problems == []
    assert read_json(text.replace("a", '"a"')).problems == []
    assert read_yaml(text.replace("[]", "[[]]")).problems != []


def test_files_that_are_no_text_are_refused_before_they_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "large.yaml").write_bytes(b"#" * (MOST_BYTES + 1))
    (tmp_path / "latin.yaml").write_bytes(b"name: s\nversion: caf\xe9\n")
    (tmp_path / "suite.txt").write_text("name: s")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    expected = {
        "pipe.yaml": "no regular file",
        "folder.yaml": "no regular file",
        "zero.yaml": "no regular file",
        "large.yaml": "larger than 8 MiB",
        "latin.yaml": "latin.yaml:2: this is no UTF-8",
        "suite.txt": "ends in .yaml or .json",
        "missing.yaml": "No such file",
        "nul\0.yaml": "cannot be read",
    }
    for name, part in expected.items():
        with pytest.raises(SuiteInvalid) as refusal:
            load_suite(tmp_path / name)
        assert part in str(refusal.value), name
