"""Which macros a query calls: creating all of them takes longer than most queries run."""

from __future__ import annotations

import re
from functools import cache

from spanscore.evaluate.session import EVALUATOR_MACROS
from spanscore.store.queries import read_query

TOKEN = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | \$(?P<name>[a-z_][a-z0-9_]*)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""Comments, texts, quoted names and parameters; only the last have a `name`."""

_MACRO = re.compile(r"create or replace temp macro (?P<name>\w+)\(.*?;[ \t]*$", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"\b(\w+)\s*\(")


def macros_used(sql: str) -> list[str]:
    """The statements that create the macros that `sql` calls and those that these call, in an order that works."""
    known = _known()
    used: set[str] = set()
    texts = [sql]
    while texts:
        new = (_called(texts.pop()) & known.keys()) - used
        used |= new
        texts += [known[name] for name in new]
    return [text for name, text in known.items() if name in used]


def macro_names() -> list[str]:
    """What a query may call beside the functions of DuckDB."""
    return sorted(_known())


def code(sql: str) -> str:
    """`sql` without comments, texts and quoted names."""
    return TOKEN.sub(lambda match: match[0] if match["name"] else " ", sql)


@cache
def _known() -> dict[str, str]:
    return {
        match["name"].lower(): match[0]
        for name in EVALUATOR_MACROS
        for match in _MACRO.finditer(read_query(f"macros/{name}.sql"))
    }


def _called(sql: str) -> set[str]:
    return {name.lower() for name in _CALL.findall(code(sql))}
