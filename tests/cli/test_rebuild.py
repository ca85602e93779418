"""`spanscore rebuild`: the same trajectories again, from the same spans."""

from commands import CORPUS, run


def everything(store):
    return {
        table: run("sql", f"select * from {table} order by all", "--store", store, "--format", "json").document
        for table in ("runs", "agent_invocations", "llm_calls", "tool_calls", "handoffs", "findings")
    }


def test_rebuilding_changes_nothing(tmp_path):
    files = [CORPUS / "openaiagents-openinference/multi_handoff.jsonl.gz", CORPUS / "langgraph-genai/tool_retry.jsonl"]
    run("ingest", *files, "--store", tmp_path / "s")
    before = everything(tmp_path / "s")

    ended = run("rebuild", "--store", tmp_path / "s")

    assert ended.code == 0
    assert "2 traces" in ended.out
    assert everything(tmp_path / "s") == before
    assert len(before["runs"]) == 2
