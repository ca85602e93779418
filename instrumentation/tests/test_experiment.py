"""Experiment, case and trial reach every span of an attempt, those of other instrumentations too."""

from opentelemetry import baggage, propagate, trace
from opentelemetry import context as context_api

import spanscore_instrumentation as si

IDS = {
    "experiment_id": "e-1",
    "suite_name": "orders",
    "suite_version": "2",
    "case_id": "case 17",
    "trial": 0,
    "variant": "gpt-4o",
}
ATTRIBUTES = {
    "spanscore.experiment.id": "e-1",
    "spanscore.suite.name": "orders",
    "spanscore.suite.version": "2",
    "spanscore.case.id": "case 17",
    "spanscore.trial": 0,
    "spanscore.variant": "gpt-4o",
}


def test_ids_are_on_every_span_and_score_inside(spans, log_records):
    with si.experiment(**IDS):
        with si.tool("t"):
            pass
        trace.get_tracer("another instrumentation").start_span("x").end()
        si.score("helpful", 1)
    with si.tool("after"):
        pass
    inside, foreign, after = spans()

    assert ATTRIBUTES.items() <= inside.attributes.items()
    assert dict(foreign.attributes) == ATTRIBUTES
    assert ATTRIBUTES.items() <= log_records()[0].attributes.items()
    assert not ATTRIBUTES.keys() & after.attributes.keys()


def test_ids_survive_the_headers_of_a_request(span):
    headers = {}
    with si.experiment(**IDS):
        propagate.inject(headers)
    token = context_api.attach(propagate.extract(headers))
    try:
        with si.tool("t"):
            pass
    finally:
        context_api.detach(token)

    assert ATTRIBUTES.items() <= span().attributes.items()


def test_baggage_of_others_stays_off_the_spans(span):
    token = context_api.attach(baggage.set_baggage("customer", "secret"))
    try:
        with si.tool("t"):
            pass
    finally:
        context_api.detach(token)

    assert "customer" not in span().attributes


def test_a_trial_that_is_no_number_stays_a_text(span):
    token = context_api.attach(baggage.set_baggage("spanscore.trial", "first"))
    try:
        with si.tool("t"):
            pass
    finally:
        context_api.detach(token)

    assert span().attributes["spanscore.trial"] == "first"
