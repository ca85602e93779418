"""Where no terminal has a width, tables take 100 columns; ids, names, figures and lines of text stay whole."""

import re

import pytest
from commands import run
from rich.cells import cell_len

WIDTH = 100
COMMANDS = {
    "traces": ("traces",),
    "report": ("report",),
    "report by agent": ("report", "--group-by", "agent", "--group-by", "model", "--group-by", "tool"),
    "doctor": ("doctor",),
    "stats": ("stats",),
    "saved queries": ("sql", "--list"),
    "prices of calls": ("prices", "check"),
}


@pytest.fixture(scope="module")
def scored(store, tmp_path_factory):
    """The store with scores."""
    from shutil import copytree

    directory = tmp_path_factory.mktemp("scored") / "store"
    copytree(store, directory)
    ended = run("evaluate", "--store", directory)
    assert ended.code == 0
    assert widest(ended.out) <= WIDTH
    return directory


def widest(text):
    """Width of the rule below the headings of the widest table [columns]."""
    return max(cell_len(line.rstrip()) for line in text.splitlines() if set(line.strip()) == {"─"})


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_table_is_wider(scored, words):
    ended = run(*words, "--store", scored)

    assert ended.code == 0
    assert 0 < widest(ended.out) <= WIDTH


def test_evaluators_are_listed_in_lines_of_that_width():
    assert widest(run("evaluators", "list").out) <= WIDTH


def test_columns_gives_another_width(scored):
    assert WIDTH < widest(run("report", "--store", scored, width=160).out) <= 160


def test_names_are_not_cut(scored):
    names = run("sql", "select distinct entry_agent from runs", "--store", scored, "--format", "json").document
    shown = run("traces", "--store", scored).out

    assert "…" not in shown
    assert all(row["entry_agent"] in shown for row in names if row["entry_agent"] and len(row["entry_agent"]) <= 16)


def test_ids_are_whole_in_a_table_that_is_too_wide(scored):
    query = "select run_id, trace_id, agent_invocation_id, llm_call_id, response_model, error_message from llm_calls"
    document = run("sql", query, "--store", scored, "--format", "json").document
    shown = run("sql", query, "--store", scored).out

    assert widest(shown) > WIDTH
    for row in document:
        for key in ("run_id", "trace_id", "llm_call_id"):
            assert re.search(rf"\b{row[key]}\b", shown)


def test_a_long_path_is_not_broken(tmp_path):
    folder = tmp_path / ("a" * 90)
    from commands import CORPUS

    run("ingest", CORPUS / "openai-genai/ungrounded.jsonl", "--store", folder / "s")

    assert str(folder / "s") in run("doctor", "--store", folder / "s").out
