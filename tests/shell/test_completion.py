"""What the shell proposes."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from spanscore.shell.completion import SqlCompleter, Words

WORDS = Words(
    columns={"runs": ["run_id", "status"], "tool_calls": ["run_id", "tool_name"]},
    macros=["safe_ratio"],
    keywords=["select", "from", "right"],
)
COMMANDS = {".schema": list(WORDS.columns), ".save": [], ".quit": []}


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("sel", ["select"]),
        ("select r", ["run_id", "runs", "right"]),
        ("select runs.s", ["status"]),
        ("select runs.", ["run_id", "status"]),
        ("select nowhere.s", []),
        ("from ru", ["run_id", "runs"]),
        ("select sa", ["safe_ratio"]),
        ("SELECT ST", ["status"]),
        ("select ", []),
        (".s", [".schema", ".save"]),
        (".schema t", ["tool_calls"]),
        (".quit x", []),
    ],
)
def test_what_fits_is_proposed(text: str, proposed: list[str]) -> None:
    completions = SqlCompleter(WORDS, COMMANDS).get_completions(Document(text), CompleteEvent())

    assert [completion.text for completion in completions] == proposed


def test_columns_of_the_tables_that_the_query_names_come_alone() -> None:
    document = Document("select t from runs", cursor_position=len("select t"))
    completions = SqlCompleter(WORDS, COMMANDS).get_completions(document, CompleteEvent())

    assert [completion.text for completion in completions] == ["tool_calls"]
