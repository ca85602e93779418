"""Scores become `gen_ai.evaluation.result` log records beside the span they judge."""

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.trace import SpanContext, TraceFlags

import spanscore_instrumentation as si


@pytest.fixture
def record(log_records):
    def only():
        (emitted,) = log_records()
        return emitted

    return only


def test_a_score_of_the_current_span(record, span):
    with si.agent("a"):
        si.score("helpful", 0.8, label="pass", explanation="Answers the question.")

    assert record().event_name == "gen_ai.evaluation.result"
    assert record().severity_number is SeverityNumber.INFO
    assert (record().trace_id, record().span_id) == (span().context.trace_id, span().context.span_id)
    assert dict(record().attributes) == {
        "gen_ai.evaluation.name": "helpful",
        "gen_ai.evaluation.score.value": 0.8,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "Answers the question.",
    }


def test_a_score_of_an_operation_that_has_ended(record, spans):
    with si.agent("a") as agent:
        pass
    si.score("helpful", True, subject=agent)

    assert record().span_id == spans()[0].context.span_id
    assert record().attributes["gen_ai.evaluation.score.value"] == 1.0
    assert isinstance(record().attributes["gen_ai.evaluation.score.value"], float)


def test_a_score_of_a_span_of_another_process(record):
    si.score("helpful", 1, subject=SpanContext(0xABC, 0xDEF, is_remote=True, trace_flags=TraceFlags(1)))

    assert (record().trace_id, record().span_id) == (0xABC, 0xDEF)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_no_score_is_not_applicable_and_never_zero(record, value):
    si.score("helpful", value, not_applicable_reason="no answer")

    assert "gen_ai.evaluation.score.value" not in record().attributes
    assert record().attributes["gen_ai.evaluation.score.label"] == "not_applicable"
    assert record().attributes["spanscore.evaluation.not_applicable_reason"] == "no answer"


def test_zero_is_a_score(record):
    si.score("helpful", 0)

    assert record().attributes["gen_ai.evaluation.score.value"] == 0.0
    assert "gen_ai.evaluation.score.label" not in record().attributes


def test_a_failed_evaluator(record):
    si.score("helpful", error_type="TimeoutError", response_id="chatcmpl-1")

    assert dict(record().attributes) == {
        "gen_ai.evaluation.name": "helpful",
        "error.type": "TimeoutError",
        "gen_ai.response.id": "chatcmpl-1",
    }


def test_a_score_that_is_no_number_is_left_out_quietly(log_records):
    si.score("helpful", "very")

    assert log_records() == []
