"""Tables, Markdown, JSON and CSV of a report: complete, and no name from a trace does anything in any of them."""

import csv
import html.parser
import io
import json
import re
from itertools import pairwise

import pytest
from scorecards import Filling, published_suite
from typer.testing import CliRunner

FORMS = ("table", "json", "markdown", "csv")
EVIL = {
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "link": "[x](javascript:alert(1))",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "clear": "\x1b[2J\x9b2J",
    "bidi": "\u202egnp.exe",
    "lines": "a\r\nb\n# c\n| d |",
    "pipe": "a|b`c`\\|d",
    "markup": "[bold red]x[/] [/foo]",
    "formula": "=HYPERLINK(1)",
    "plus": "+1",
    "at": "@SUM(1)",
    "tab": "\t=1",
    "huge": "x" * 10_000_000,
}


def run(*words, width=None):
    from spanscore.cli import app

    env = {"COLUMNS": None if width is None else str(width), "SPANSCORE_STORE": None}
    result = CliRunner().invoke(app, ["report", *map(str, words)], env=env)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    filling = published_suite(tmp_path_factory.mktemp("forms"))
    filling.connection.close()
    return filling.directory


def evil_store(directory, payload):
    """A store in which every text that a trace brings is `payload`."""
    filling = Filling(directory)
    filling.know("tool_set_match")
    filling.insert("cases", [{"suite_name": payload, "case_id": "c", "category": payload}])
    filling.run(
        "r0",
        source="benchmark",
        case_id="c",
        suite_name=payload,
        variant=payload,
        status="error",
        question=payload,
        error_type=payload,
        error_message=payload,
        entry_agent=payload,
    )
    evidence = json.dumps({"text": payload})
    filling.score("r0", "tool_set_match", 0.0, explanation=payload, evidence=evidence, agent_name=payload)
    filling.score("r0", payload[:100], None, reason=payload[:100])
    filling.score(None, "broken", None, error=payload, subject_id=None)
    filling.insert("agent_invocations", [{"run_id": "r0", "agent_name": payload, "status": "ok", "tool_calls": 1}])
    call = {"run_id": "r0", "tool_name": payload, "status": "ok", "is_handoff": False, "is_agent_tool": False}
    filling.insert("tool_calls", [call])
    filling.insert("llm_calls", [{"run_id": "r0", "request_model": payload, "provider": payload, "status": "ok"}])
    filling.insert("handoffs", [{"run_id": "r0", "from_agent": payload, "to_agent": payload, "succeeded": True}])
    filling.insert("findings", [{"run_id": "r0", "trace_id": "r0", "kind": payload[:100]}])
    filling.connection.close()
    return directory


@pytest.fixture(params=EVIL, scope="module")
def evil(request, tmp_path_factory):
    payload = EVIL[request.param]
    return payload, evil_store(tmp_path_factory.mktemp("evil"), payload)


ALL_GROUPS = [
    word for group in ("category", "agent", "model", "tool", "variant", "day") for word in ("--group-by", group)
]


def test_no_form_obeys_a_name(evil):
    _, store = evil
    for form in FORMS:
        said = run("--store", store, "--format", form, *ALL_GROUPS)
        # CSV keeps line breaks inside quotes, for that is what the cell holds.
        control = set("\x1b\x07\x08\x9b\u202e") | (set() if form == "csv" else set("\r"))

        if form != "csv":
            assert not control & set(said)
        if form in ("table", "markdown"):
            assert len(said) < 200_000
            assert "\n# c" not in said
    assert not set("\x1b\r\x9b") & set(run("--store", store, width=80))


def test_markdown_has_no_element_link_or_broken_table(evil):
    _, store = evil
    said = run("--store", store, "--format", "markdown", *ALL_GROUPS)

    found = []

    class Elements(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append(tag)

    Elements().feed(said)
    assert found == []
    assert not re.search(r"(?<!\\)\]\(", said)
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in said.splitlines()]
    for above, below in pairwise(cells):
        assert not above or not below or above == below


def test_csv_cells_are_no_formulas_unless_asked(evil):
    payload, store = evil
    rows = list(csv.reader(io.StringIO(run("--store", store, "--format", "csv"))))

    assert {len(row) for row in rows} == {len(rows[0])}
    # A number of ours may be negative; a text from a trace may not begin like a formula.
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+@\t\r") and cell]
    if payload.startswith("="):
        raw = csv.reader(io.StringIO(run("--store", store, "--format", "csv", "--csv-raw")))
        assert payload in {cell for row in raw for cell in row}


def test_json_gives_names_exactly_and_cuts_what_is_huge(evil):
    payload, store = evil
    document = json.loads(run("--store", store, "--format", "json"))
    worst = document["worst_runs"][0]

    if len(payload) < 2_000:
        assert payload in document["by_agent"]
        assert worst["question"] == payload
        assert worst["problems"][0]["evidence"] == {"text": payload}
    else:
        assert len(worst["question"]) < 2_100
        assert worst["question"].endswith("… (10,000,000 characters)")


def test_json_has_the_keys_of_the_contract(suite):
    document = json.loads(run("--store", suite, "--format", "json"))

    assert {
        "schema_version",
        "generated_at",
        "git_commit",
        "scope",
        "runs",
        "errors",
        "metrics",
        "latency_s",
        "cost_usd",
        "by_category",
        "by_agent",
        "by_model",
        "by_tool",
        "by_variant",
        "by_day",
        "handoffs",
        "findings",
    } <= set(document)
    assert {
        "value",
        "interval",
        "interval_method",
        "n_scored",
        "n_total",
        "not_applicable",
        "unit",
        "better",
    } <= set(document["metrics"]["steps"])
    assert {"p50", "median", "p95", "p99", "max", "mean", "n", "method"} <= set(document["latency_s"])


def test_every_form_names_n_interval_and_method(suite):
    table = run("--store", suite)
    page = run("--store", suite, "--format", "markdown")
    rows = list(csv.DictReader(io.StringIO(run("--store", suite, "--format", "csv"))))
    (row,) = [row for row in rows if row["section"] == "all" and row["figure"] == "tool_set_match"]

    assert "27 / 27" in table
    assert "cluster_wilson" in table
    assert "nearest rank" in table
    assert "27 / 27" in page
    assert "step cap 6" in table
    assert (row["n_scored"], row["n_total"], row["interval_method"]) == ("27", "27", "cluster_wilson")
    assert float(row["low"]) < float(row["value"]) < float(row["high"])
    assert "nonsense" in table


def test_findings_stand_before_figures(suite):
    for form in ("table", "markdown"):
        said = run("--store", suite, "--format", form)

        assert 0 < said.index("Findings") < said.index("Metrics") < said.index("Worst runs")


def test_scope_is_shown_and_narrows(suite):
    document = json.loads(
        run("--store", suite, "--format", "json", "--suite", "nine", "--since", "2026-11-28T09:20:00")
    )

    assert document["scope"]["suite"] == "nine"
    assert document["runs"] == 7
    assert json.loads(run("--store", suite, "--format", "json", "--suite", "other"))["runs"] == 0
