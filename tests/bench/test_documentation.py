"""The page about suites: its example is one, and it names every field and kind there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from spanscore.bench.suites import Case, Defaults, Fault, Suite
from spanscore.bench.suites.checks import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "suites.md").read_text(encoding="utf-8")


def test_the_example_is_a_suite(load: Callable[..., Suite]) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)

    assert [case.id for case in load(example).cases] == ["paris", "capital", "blorp"]


@pytest.mark.parametrize("model", [Suite, Case, Defaults, Fault], ids=lambda model: model.__name__)
def test_every_field_is_named(model: type[Suite]) -> None:
    assert [name for name in model.model_fields if f"`{name}`" not in PAGE] == []


def test_every_check_and_its_fields_are_named() -> None:
    fields = {name for kind in KINDS.values() for name in kind.model_fields} - {"kind"}

    assert [kind for kind in KINDS if f"`{kind}`" not in PAGE] == []
    assert [name for name in fields if f"`{name}" not in PAGE] == []
