"""Lets queries name the public column `at` bare, although AT is a keyword of DuckDB 2.

`handoffs.at` is part of the public SQL API. DuckDB's parser takes a bare `at` for the start of AT (VERSION => …) or of
AT TIME ZONE; everywhere else it can only mean the column, and in double quotes it does.
"""

from __future__ import annotations

import re

import duckdb

_WORD = re.compile(rb"at\b", re.IGNORECASE)
_BARE = re.compile(r"\bat\b", re.IGNORECASE)
_NOT_A_COLUMN = re.compile(rb"\s*(\(|time\s+zone\b)", re.IGNORECASE)


def quote_keyword_columns(sql: str) -> str:
    """`sql` with every `at` that can only be a column in double quotes; strings and comments stay as they are."""
    if _BARE.search(sql) is None:
        return sql
    encoded = sql.encode("utf-8")
    pieces: list[bytes] = []
    done = 0
    for start, kind in duckdb.tokenize(sql):
        if kind in (duckdb.token_type.string_const, duckdb.token_type.comment):
            continue
        word = _WORD.match(encoded, start)
        if word is None or _NOT_A_COLUMN.match(encoded, word.end()) is not None:
            continue
        pieces += [encoded[done:start], b'"', word.group(), b'"']
        done = word.end()
    return b"".join([*pieces, encoded[done:]]).decode("utf-8")
