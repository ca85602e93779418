"""What makes an evaluator give another score each time: it could not be scored twice, nor compared with a baseline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spanscore.evaluate.macros import code

if TYPE_CHECKING:
    from collections.abc import Iterator

UNSTEADY_FUNCTIONS = (
    "current_connection_id",
    "current_localtime",
    "current_localtimestamp",
    "current_query_id",
    "current_transaction_id",
    "currval",
    "gen_random_uuid",
    "get_current_time",
    "get_current_timestamp",
    "nextval",
    "now",
    "random",
    "setseed",
    "setval",
    "today",
    "transaction_timestamp",
    "txid_current",
    "uuid",
    "uuidv4",
    "uuidv7",
)
"""Functions of DuckDB that give another value in every query."""

_UNSTEADY = re.compile(
    rf"""
    \b(?:{"|".join(UNSTEADY_FUNCTIONS)})\s*\(
    | \b(?:current_date|current_time|current_timestamp|localtime|localtimestamp)\b
    | \bage\s*\([^(),]*\)
    | \b(?:tablesample|using\s+sample)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SEEDED_SAMPLE = re.compile(r"\brepeatable\s*\(", re.IGNORECASE)


def unsteady(sql: str) -> Iterator[str]:
    """What `sql` calls that gives another value each time, as it stands there, each once.

    What depends on the order of rows, such as `first` or `list` without ORDER BY, is not found.
    """
    text = code(sql)
    seen = set()
    for match in _UNSTEADY.finditer(text):
        found = " ".join(match[0].split())
        if "sample" in found.lower() and _SEEDED_SAMPLE.search(text):
            continue
        if found.endswith("("):
            found = f"{found[:-1].rstrip()}()"
        if found.lower() not in seen:
            seen.add(found.lower())
            yield found
