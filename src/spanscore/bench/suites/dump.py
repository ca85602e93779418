"""Writes suites as YAML or JSON that `load_suite` reads back as the same suite."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from spanscore.bench.suites.yaml_text import Disputed, plain_value

if TYPE_CHECKING:
    from spanscore.bench.suites.model import Suite

_WIDTH = 110
# Paragraphs that a block can show as they are: no space at the end of a line and no empty lines at the end, nothing
# that YAML would fold, escape or close the document for.
_PARAGRAPHS = re.compile(r"\S(?:[^\n]*[^\s\n])?(?:\n+\S(?:[^\n]*[^\s\n])?)*\n?")


def suite_value(suite: Suite) -> dict[str, Any]:
    """The suite as plain values, without what is not said."""
    value: dict[str, Any] = suite.model_dump(mode="json", exclude_defaults=True)
    for holder in (value.get("defaults", {}), *value["cases"]):
        if "checks" in holder:
            holder["checks"] = [{"kind": check["kind"], **check} for check in holder["checks"]]
    return value


def suite_json(suite: Suite) -> str:
    """The suite as a JSON document."""
    return json.dumps(suite_value(suite), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def suite_yaml(suite: Suite, *, head: str = "", notes: dict[str, str] | None = None) -> str:
    """The suite as a YAML document.

    Args:
        suite: to write.
        head: comment above it.
        notes: comment above a case, by its id.
    """
    value = suite_value(suite)
    cases = value.pop("cases")
    parts = [_comment(head, ""), _yaml(_Block(value)), "cases:\n"]
    for case in cases:
        parts += [_comment((notes or {}).get(case["id"], ""), "  "), _case_yaml(case)]
    return "".join(parts)


def _case_yaml(case: dict[str, Any]) -> str:
    text = _yaml([_Block(case)])
    return "".join(f"  {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def _comment(text: str, indent: str) -> str:
    return "".join(f"{indent}# {line}".rstrip() + "\n" for line in text.splitlines())


def _yaml(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=_WIDTH)


class _Block(dict[str, Any]):
    """A mapping that is written with a line per key, however short it is."""


class _Dumper(yaml.SafeDumper):
    """Quotes every text that could be taken for something else, and uses no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))

    def block(self, mapping: _Block) -> yaml.MappingNode:
        return self.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=False)


def _style(text: str) -> str | None:
    if "\n" in text:
        is_plain = all(line.isprintable() for line in text.split("\n")) and _PARAGRAPHS.fullmatch(text)
        return "|" if is_plain else '"'
    try:
        is_text = text.isprintable() and plain_value(text) == text
    except Disputed:
        is_text = False
    return None if is_text else '"'


_Dumper.add_representer(str, _Dumper.text)
_Dumper.add_representer(_Block, _Dumper.block)
