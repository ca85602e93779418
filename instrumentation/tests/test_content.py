"""What is recorded of prompts, answers, arguments and results, with every position of the switch."""

import json

import pytest

import spanscore_instrumentation as si

SECRET = "4111-1111"


def everything():
    """Run each helper with the secret in every place that holds content."""
    with pytest.raises(ValueError, match=SECRET), si.agent("a", input=SECRET) as agent:
        with si.llm_call("openai", "m", messages=SECRET, system=SECRET, tools=[{"name": SECRET}]) as call:
            call.output(SECRET)
        with si.tool("t", arguments={"card": SECRET}) as tool:
            tool.result(SECRET)
            tool.error("refused", SECRET)
        with si.retrieval("kb", query=SECRET) as retrieval:
            retrieval.documents([SECRET])
        si.record_handoff("a", "b", reason=SECRET)
        si.score("helpful", 1, explanation=SECRET)
        agent.output(SECRET)
        raise ValueError(SECRET)


def exported(spans, log_records):
    """All that leaves the process, as text."""
    return "".join(s.to_json() for s in spans()) + "".join(str(dict(r.attributes)) for r in log_records())


def test_on_records_it(spans, log_records):
    everything()

    assert exported(spans, log_records).count(SECRET) >= 12


def test_off_lets_nothing_out_and_keeps_the_rest(spans, log_records):
    si.setup("tests", content="off")
    everything()

    assert SECRET not in exported(spans, log_records)
    assert {s.name for s in spans()} >= {"invoke_agent a", "chat m", "execute_tool t", "retrieval kb"}
    assert spans()[-1].attributes["error.type"] == "ValueError"


def test_off_covers_decorated_functions(spans, log_records):
    si.setup("tests", content="off")

    @si.tool
    def charge(card):
        return card

    charge(SECRET)

    assert SECRET not in exported(spans, log_records)


def test_a_redactor_sees_values_before_they_become_text(spans, log_records):
    seen = {}

    def redact(attribute, value):
        seen[attribute] = value
        return json.loads(json.dumps(value).replace(SECRET, "****"))

    si.setup("tests", content=redact)
    everything()

    assert SECRET not in exported(spans, log_records)
    assert "****" in exported(spans, log_records)
    assert seen["gen_ai.tool.call.arguments"] == {"card": SECRET}
    assert seen["gen_ai.input.messages"][0]["role"] == "user"


def test_a_redactor_that_fails_drops_the_value_and_logs_nothing_of_it(spans, log_records, caplog):
    def broken(attribute, value):
        raise RuntimeError(f"cannot redact {value}")

    si.setup("tests", content=broken)
    with caplog.at_level("DEBUG", "spanscore_instrumentation"):
        everything()

    assert SECRET not in exported(spans, log_records)
    assert SECRET not in caplog.text


def test_none_from_a_redactor_drops_the_attribute(span):
    si.setup("tests", content=lambda attribute, value: None)
    with si.tool("t", arguments={"a": 1}):
        pass

    assert "gen_ai.tool.call.arguments" not in span().attributes


def test_a_misspelt_switch_is_refused_aloud():
    with pytest.raises(ValueError, match='"on", "off"'):
        si.setup("tests", content="of")


@pytest.mark.parametrize(
    ("value", "recorded"), [("NO_CONTENT", False), ("false", False), ("SPAN_ONLY", True), ("", True)]
)
def test_the_environment_decides_where_setup_does_not(monkeypatch, span, value, recorded):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    si.setup("tests")
    with si.tool("t", arguments={"a": 1}):
        pass

    assert ("gen_ai.tool.call.arguments" in span().attributes) is recorded


def test_a_lone_surrogate_does_not_reach_the_exporter(spans):
    bad = "a\ud83d"
    with pytest.raises(ValueError, match="a"), si.agent(bad, input=bad, conversation_id=bad) as agent:
        agent.output(bad)
        raise ValueError(bad)

    spans()[0].to_json().encode("utf-8")
    (event,) = spans()[0].events
    for value in (*spans()[0].attributes.values(), *event.attributes.values(), spans()[0].name):
        assert value.encode("utf-8")
