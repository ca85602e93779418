"""Names from the wire, printed by every command that prints names: neither escape sequences nor markup work."""

import json

import pytest
from commands import CORPUS, run

PAYLOADS = {
    "clipboard, clear, C1, bidi, return, backspace": "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b2J\u202egnp.exe\rEVIL\x08",
    "markup": "[bold red]x[/][link=http://evil.example]x[/link]",
    "a closing tag alone": "[/foo]",
}
NAMES = ("weather_agent", "get_weather", "gpt-4o-mini", "get_rate", "corpus", "What is the temperature in Paris?")


@pytest.fixture(scope="module", params=PAYLOADS.values(), ids=PAYLOADS.keys())
def hostile(request, tmp_path_factory):
    """A store of real runs in which agents, tools, models, services and questions have the payload in their names."""
    folder = tmp_path_factory.mktemp("hostile")
    inside_json = json.dumps(json.dumps(request.param)[1:-1])[1:-1]
    for capture in ("openai-genai/ungrounded.jsonl", "langgraph-genai/tool_retry.jsonl"):
        text = (CORPUS / capture).read_text(encoding="utf-8")
        for name in NAMES:
            text = text.replace(f'"stringValue":"{name}"', f'"stringValue":{json.dumps(request.param + name)}')
            text = text.replace(f'\\"{name}\\"', f'\\"{inside_json}{name}\\"')
        (folder / capture.replace("/", "-")).write_text(text, encoding="utf-8")
    loaded = run("ingest", *folder.glob("*.jsonl"), "--store", folder / "s")
    assert loaded.code == 0, loaded.err
    return request.param, folder / "s"


def spoken(store):
    listed = run("traces", "--store", store, "--format", "json").document
    yield run("traces", "--store", store)
    yield run("traces", "--store", store, width=80)
    for row in listed:
        yield run("trace", row["run_id"], "--store", store)
        yield run("trace", row["run_id"], "--store", store, "--full", "--messages")
        yield run("trace", row["run_id"], "--store", store, "--format", "json")
    yield run("traces", "--store", store, "--format", "json")
    yield run("doctor", "--store", store)
    for form in ("table", "json"):
        yield run("sql", "select name, attributes::varchar from spans", "--store", store, "--format", form)
        yield run("sql", "select agent_name, tool_name, arguments from tool_calls", "--store", store, "--format", form)
        yield run("sql", "select tool_name, count(*) from tool_calls group by all", "--store", store, "--format", form)


def test_no_command_prints_the_payload_as_it_is(hostile):
    payload, store = hostile
    said = list(spoken(store))

    for ended in said:
        assert ended.code == 0, ended.err
        assert not set("\x1b\x07\x08\r\x9b\u202e") & set(ended.out + ended.err)
    if payload.startswith("["):
        assert any(payload in ended.out for ended in said)


def test_the_demo_tables_do_not_either(hostile, monkeypatch):
    import io

    from rich.console import Console

    from spanscore.report import aggregates
    from spanscore.store import read_session

    _, store = hostile
    monkeypatch.setenv("COLUMNS", "200")
    stream = io.StringIO()
    out = Console(file=stream, force_terminal=True, color_system=None, width=200, markup=False)
    with read_session(store) as session:
        for table in (aggregates.per_agent, aggregates.per_model, aggregates.per_tool, aggregates.handoffs):
            out.print(table(session))

    assert "tokens in" in stream.getvalue()
    assert not set("\x1b\x07\x08\r\x9b\u202e") & set(stream.getvalue())
