"""`spanscore trace`: one run as a tree or as a document."""

import json

import pytest
from commands import HANDOFFS_TRACE, run


def test_the_tree_shows_who_did_what(store):
    ended = run("trace", HANDOFFS_TRACE[:8], "--store", store)

    assert ended.code == 0
    assert "question What would twelve units of A-113 cost" in ended.out
    assert "answer   Twelve units of A-113 cost $2,999.88" in ended.out
    for name in ("supervisor", "researcher", "analyst", "writer"):
        assert f"agent {name}" in ended.out
    assert "handoff supervisor -> analyst" in ended.out
    assert "web_search(" in ended.out
    assert "gpt-4o-mini" in ended.out


def test_a_tool_error_is_marked(store):
    (failed,) = run(
        "sql", "select run_id from tool_calls where status = 'error'", "--store", store, "--format", "json"
    ).document

    shown = run("trace", failed["run_id"], "--store", store, width=200).out

    assert "error" in next(line for line in shown.splitlines() if "tool get_rate" in line)


def test_json_holds_the_whole_trajectory(store):
    document = run("trace", HANDOFFS_TRACE, "--store", store, "--format", "json").document

    assert document["trace_id"] == HANDOFFS_TRACE
    (run_document,) = document["runs"]
    parts = {"agent_invocations", "llm_calls", "tool_calls", "tool_requests", "handoffs", "retrievals", "messages"}
    assert set(run_document) == parts | {"run", "findings"}
    assert run_document["run"]["llm_calls"] == len(run_document["llm_calls"]) == 10
    assert {"sku": "A-113"} in [call["arguments"] for call in run_document["tool_calls"]]
    assert run_document["run"]["handoffs"] == len(run_document["handoffs"])


def test_full_and_messages_show_more(store):
    brief = run("trace", HANDOFFS_TRACE, "--store", store).out
    full = run("trace", HANDOFFS_TRACE, "--store", store, "--full", "--messages").out

    assert "You route work to researcher" not in brief
    assert "You route work to researcher" in full
    assert full.count("assistant: Twelve units of A-113 cost $2,999.88") == 1


def test_an_ambiguous_beginning_lists_the_candidates(tmp_path):
    from commands import CORPUS

    spans = (CORPUS / "openai-genai/ungrounded.jsonl").read_text(encoding="utf-8")
    (trace_id,) = {part[:32] for part in spans.split('"traceId":"')[1:]}
    other = trace_id[:8] + "0" * 23 + "1"
    (tmp_path / "a.jsonl").write_text(spans + spans.replace(trace_id, other), encoding="utf-8")
    run("ingest", tmp_path / "a.jsonl", "--store", tmp_path / "s")

    ended = run("trace", trace_id[:8], "--store", tmp_path / "s")

    assert ended.code == 2
    assert trace_id in ended.err
    assert other in ended.err
    assert run("trace", trace_id[:31], "--store", tmp_path / "s").code == 0
    assert run("trace", other, "--store", tmp_path / "s").code == 0


@pytest.mark.parametrize("identifier", ["ffffffff", "", "  ", "not-an-id", "%", "\x1b[2J"])
def test_an_unknown_id_is_exit_2_and_names_the_way_on(store, identifier):
    ended = run("trace", identifier, "--store", store)

    assert ended.code == 2
    assert "spanscore traces" in ended.err
    assert "\x1b" not in ended.err


def test_a_trace_without_an_agent_run_is_told_apart_from_an_unknown_one(tmp_path):
    plain_span = (
        '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"00f067aa0ba902b7","name":"GET /",'
        '"startTimeUnixNano":"1795984036059827200","endTimeUnixNano":"1795984036473568000"}]}]}]}\n'
    ) % ("ab" * 16)
    (tmp_path / "web.jsonl").write_text(plain_span, encoding="utf-8")
    run("ingest", tmp_path / "web.jsonl", "--store", tmp_path / "s")

    ended = run("trace", "abab", "--store", tmp_path / "s")

    assert ended.code == 2
    assert "1 span " in ended.err
    assert "GET /" in ended.err


def cyclic(trace_id, operations):
    """Two spans that are each other's parent."""
    spans = []
    for number, operation in enumerate(operations):
        attributes = (
            [] if operation is None else [{"key": "gen_ai.operation.name", "value": {"stringValue": operation}}]
        )
        spans.append(
            {
                "traceId": trace_id,
                "spanId": f"{number + 1:016x}",
                "parentSpanId": f"{2 - number:016x}",
                "name": operation or "step",
                "startTimeUnixNano": f"{1_700_000_000_000_000_000 + number}",
                "endTimeUnixNano": "1700000001000000000",
                "attributes": attributes,
            }
        )
    return spans


def test_a_cycle_is_named_wherever_a_finding_is(tmp_path):
    agent, plain = "a" * 32, "b" * 32
    spans = [*cyclic(agent, ("invoke_agent", "chat")), *cyclic(plain, (None, None))]
    body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    (tmp_path / "cyclic.json").write_text(json.dumps(body), encoding="utf-8")
    run("ingest", tmp_path / "cyclic.json", "--store", tmp_path / "s")
    shown = run("trace", agent, "--store", tmp_path / "s")
    without_run = run("trace", plain, "--store", tmp_path / "s")
    healthy = run("doctor", "--store", tmp_path / "s")
    report = run("report", "--store", tmp_path / "s", "--format", "json").document

    assert shown.code == 0
    assert "agent " in shown.out
    assert "cycle  2 spans are each other's ancestors: 0000000000000001, 0000000000000002" in shown.out
    assert without_run.code == 2
    assert "cycle: 2 spans are each other's ancestors" in without_run.err
    (look_at,) = [line.split()[-1] for line in healthy.out.splitlines() if line.startswith("unrecognised_spans")]
    assert look_at == plain
    (finding,) = [one for one in report["findings"] if one["kind"] == "cycle"]
    assert finding["runs"] == [agent]
