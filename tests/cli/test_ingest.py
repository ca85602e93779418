"""`spanscore ingest`: the JSON contract, and files that are bad in part or altogether."""

import gzip

from commands import CORPUS, run

GOOD = CORPUS / "openai-genai/ungrounded.jsonl"
SIGNAL_KEYS = {"received", "stored", "duplicate", "conflict", "rejected"}


def test_json_has_the_promised_keys(tmp_path):
    ended = run("ingest", GOOD, "--store", tmp_path / "s", "--format", "json")

    assert ended.code == 0
    document = ended.document
    assert {"files", "log_records"} | SIGNAL_KEYS <= set(document)
    assert set(document["log_records"]) == SIGNAL_KEYS
    assert document["files"] == 1
    assert document["received"] == document["stored"] > 0
    assert document["rejected"] == {}


def test_the_same_file_again_stores_nothing(tmp_path):
    first = run("ingest", GOOD, "--store", tmp_path / "s", "--format", "json").document

    again = run("ingest", GOOD, "--store", tmp_path / "s", "--format", "json").document

    assert again["stored"] == 0
    assert again["duplicate"] == again["received"] == first["received"]


def test_logs_are_counted_apart(tmp_path):
    logs = CORPUS / "openai-otelv2legacy/one_tool.logs.jsonl"

    document = run("ingest", logs, "--store", tmp_path / "s", "--format", "json").document

    assert document["received"] == 0
    assert document["log_records"]["stored"] == document["log_records"]["received"] > 0


def test_a_bad_line_is_counted_and_located_and_the_rest_is_kept(tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(GOOD.read_text() + "{not json\n", encoding="utf-8")
    alone = run("ingest", GOOD, "--store", tmp_path / "a", "--format", "json").document

    ended = run("ingest", mixed, "--store", tmp_path / "s", "--format", "json")

    document = ended.document
    assert ended.code == 0
    assert document["stored"] == alone["stored"]
    assert sum(document["rejected"].values()) == 1
    assert document["received"] == document["stored"] + 1
    (problem,) = document["problems"]
    assert problem["path"] == str(mixed)
    assert problem["line"] == len(GOOD.read_text().splitlines()) + 1
    assert problem["reason"] in document["rejected"]


def test_a_person_is_told_where_the_bad_line_stands(tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(GOOD.read_text() + "{not json\n", encoding="utf-8")

    ended = run("ingest", mixed, "--store", tmp_path / "s")

    assert ended.code == 0
    assert "1 record could not be read (1 malformed_json)." in ended.out
    assert f"{mixed}:2" in ended.err


def test_nothing_readable_at_all_is_exit_3(tmp_path):
    garbage = tmp_path / "garbage.jsonl"
    garbage.write_text("no\nno\n", encoding="utf-8")

    ended = run("ingest", garbage, "--store", tmp_path / "s", "--format", "json")

    assert ended.code == 3
    assert ended.document["stored"] == 0
    assert ended.document["received"] == sum(ended.document["rejected"].values()) == 1


def test_a_missing_path_reads_nothing_and_is_exit_2(tmp_path):
    ended = run("ingest", GOOD, tmp_path / "gone.jsonl", "--store", tmp_path / "s")

    assert ended.code == 2
    assert "gone.jsonl" in ended.err
    assert not (tmp_path / "s").exists()


def test_a_folder_without_files_is_told(tmp_path):
    (tmp_path / "empty").mkdir()

    ended = run("ingest", tmp_path / "empty", "--store", tmp_path / "s")

    assert ended.code == 0
    assert "No file was found there" in ended.err


def test_a_folder_is_read_through(tmp_path):
    folder = tmp_path / "captures" / "deeper"
    folder.mkdir(parents=True)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(GOOD.read_bytes()))
    (tmp_path / "captures" / "b.jsonl").write_bytes((CORPUS / "openai-genai/llm_fail.jsonl").read_bytes())

    document = run("ingest", tmp_path / "captures", "--store", tmp_path / "s", "--format", "json").document

    assert document["files"] == 2
    assert document["stored"] == document["received"] > 0


def test_a_hostile_file_name_is_shown_as_letters(tmp_path):
    odd = tmp_path / "a\x1b[2J[bold].jsonl"
    odd.write_text("no\n", encoding="utf-8")

    ended = run("ingest", odd, "--store", tmp_path / "s")

    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b[2J[bold].jsonl:1" in ended.err


def test_long_texts_are_cut_where_asked_to(tmp_path):
    from spanscore.cli.options import DEFAULT_MAX_TEXT
    from spanscore.otlp import SpanLimits

    run("ingest", GOOD, "--store", tmp_path / "whole")
    run("ingest", GOOD, "--store", tmp_path / "cut", "--max-text", "256")
    query = "select count(*) as n from spans where list_contains(problems, 'truncated_value')"
    cut = [
        run("sql", query, "--store", tmp_path / store, "--format", "json").document[0]["n"]
        for store in ("whole", "cut")
    ]

    assert cut[0] == 0 < cut[1]
    assert SpanLimits().max_text_bytes == DEFAULT_MAX_TEXT
    assert run("ingest", GOOD, "--store", tmp_path / "s", "--max-text", "10").code == 2


def test_what_is_no_trace_file_is_no_span(tmp_path):
    other = tmp_path / "notes.md"
    other.write_text("# Notes\n\nNothing of telemetry.\n", encoding="utf-8")

    ended = run("ingest", other, "--store", tmp_path / "s")

    assert ended.code == 3
    assert "Read 1 file: 0 spans received, 0 stored." in ended.out
    assert "1 record could not be read" in ended.out
    assert f"! {other}:1" in ended.err
    assert run("ingest", other, "--store", tmp_path / "s", "--format", "json").document["unreadable"] == 1


def test_refused_spans_are_told_in_a_line_of_their_own(tmp_path):
    lines = GOOD.read_text(encoding="utf-8")
    refused = tmp_path / "refused.jsonl"
    refused.write_text(lines + lines.replace('"traceId":"', '"traceId":"zz'), encoding="utf-8")
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text(lines.replace('"traceId":"', '"traceId":"zz'), encoding="utf-8")

    some = run("ingest", refused, "--store", tmp_path / "s")
    none = run("ingest", nothing, "--store", tmp_path / "t")

    assert some.code == 0
    assert none.code == 3
    for ended in (some, none):
        (line,) = [line for line in ended.err.splitlines() if "rejected" in line]
        assert line.startswith("! ")


def test_an_empty_file_is_told(tmp_path):
    for name, text in (("empty.jsonl", ""), ("hollow.json", '{"resourceSpans": []}')):
        (tmp_path / name).write_text(text, encoding="utf-8")

    ended = run("ingest", tmp_path / "empty.jsonl", tmp_path / "hollow.json", GOOD, "--store", tmp_path / "s")

    assert ended.code == 0
    told = [line for line in ended.err.splitlines() if line.startswith("! ")]
    assert [line.split(": ")[0] for line in told] == [f"! {tmp_path / 'empty.jsonl'}", f"! {tmp_path / 'hollow.json'}"]


def test_a_store_that_is_a_file_is_told_to_be_a_directory(tmp_path):
    junk = tmp_path / "junk.txt"
    junk.write_text("no store", encoding="utf-8")

    for words in (("ingest", GOOD), ("traces",), ("doctor",), ("demo",), ("score",)):
        ended = run(*words, "--store", junk)

        assert ended.code == 2
        assert "--store names a directory" in ended.err
    assert junk.read_text(encoding="utf-8") == "no store"
