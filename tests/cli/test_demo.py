"""`spanscore demo`: real captures over real sockets, then everything a newcomer should see."""

import pytest
from commands import run

from spanscore.demo import captures


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    directory = tmp_path_factory.mktemp("demo") / "store"
    return directory, run("demo", "--store", directory)


def test_the_captures_are_small_and_of_both_encodings():
    bundled = captures()

    assert len({capture.name for capture in bundled}) >= 12
    assert {capture.encoding for capture in bundled} == {"pb", "jsonl"}
    assert {capture.signal for capture in bundled} == {"traces", "logs"}
    assert sum(capture.path.stat().st_size for capture in bundled) < 400_000
    assert all(list(capture.requests()) for capture in bundled)


def test_it_shows_runs_a_tree_tables_and_queries(shown):
    _, ended = shown

    assert ended.code == 0, ended.err
    assert ended.err == ""
    for part in ("OTLP/gRPC", "OTLP/HTTP", "Per agent", "Per model", "Per tool", "Handoffs", "spanscore sql --store"):
        assert part in ended.out
    assert "handoff supervisor -> analyst" in ended.out


def test_everything_that_was_sent_is_in_the_store(shown):
    directory, _ = shown

    document = run("doctor", "--store", directory, "--format", "json").document
    assert document["accounting"]["spans"]["rejected"] == {}
    assert document["accounting"]["spans"]["stored"] == document["contents"]["spans"] > 60
    assert document["contents"]["log_records"] > 0
    assert document["contents"]["pending_traces"] == 0
    assert not document["collector"]["is_running"]


def test_the_queries_it_suggests_run(shown):
    import re
    import shlex

    _, ended = shown
    commands = re.findall(r'^\S*spanscore sql [^"]*"[^"]*"$', ended.out, re.MULTILINE)
    suggested = [shlex.split(command) for command in commands]

    assert len(suggested) == 3
    assert max(len(line) for command in commands for line in command.splitlines()[1:]) <= 100
    for words in suggested:
        answered = run(*words[1:], "--format", "json")
        assert answered.code == 0, answered.err
        assert answered.document


@pytest.mark.slow
def test_it_begins_anew_in_its_own_directory_and_clears_no_other(shown, tmp_path):
    directory, _ = shown
    before = run("doctor", "--store", directory, "--format", "json").document["contents"]["spans"]

    assert run("demo", "--store", directory).code == 0
    assert run("doctor", "--store", directory, "--format", "json").document["contents"]["spans"] == before

    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    for wrong in (tmp_path, tmp_path / "precious"):
        refused = run("demo", "--store", wrong)
        assert refused.code == 2
        assert "Traceback" not in refused.err
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"
