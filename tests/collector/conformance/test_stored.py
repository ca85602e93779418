"""Rows about what is stored: each case in each encoding, sent to one collector, looked at once they are loaded."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conformance_cases import CASES, Case
from conformance_rows import TITLES
from otlp_clients import ENCODINGS, Answer, as_message, deliver

from spanscore.collector import Collector
from spanscore.store import read_session

PARAMS = [
    pytest.param(
        case, encoding, id=f"{case.row} {case.what}, {encoding}", marks=pytest.mark.conformance(case.row, encoding)
    )
    for case in CASES
    for encoding in case.encodings
]
COLUMNS = """
    trace_id, span_id, parent_span_id, spans.name, kind, flags, status_code, start_time_unix_nano, end_time_unix_nano,
    end_time, duration_ns, spans.attributes, problems, scope_name, resources.attributes as resource,
    scopes.attributes as scope
"""


def trace_id(case: Case, encoding: str) -> str:
    """A trace id of its own for each cell."""
    return f"{0xABC:03x}{CASES.index(case):014x}{ENCODINGS.index(encoding) + 1:015x}"


@pytest.fixture(scope="module")
def answers(server: Collector) -> dict[tuple[str, str, str], Answer]:
    """Sends every case in its encodings."""
    found = {}
    for case in CASES:
        for encoding in case.encodings:
            trace = trace_id(case, encoding)
            text = case.document if isinstance(case.document, str) else json.dumps(case.document)
            text = text.replace("@trace", trace).replace("@TRACE", trace.upper())
            document: Any = text
            if case.row == "C27":
                document = as_message(text)
                for part in messages_of(document):
                    part.MergeFromString(b"\xfa\x7f\x03new")
            found[case.row, case.what, encoding] = deliver(server, encoding, document)
    return found


def messages_of(message: Any) -> Iterator[Any]:
    """The message and all messages in it."""
    yield message
    for declared, content in message.ListFields():
        if declared.message_type is not None:
            for part in content if declared.is_repeated else [content]:
                yield from messages_of(part)


@pytest.fixture(scope="module")
def spans(server: Collector, answers: dict[Any, Answer]) -> dict[str, list[dict[str, Any]]]:
    """The spans of each trace id, with their events and links."""
    assert answers
    server.drain()
    with read_session(server.config.store) as session:
        rows = session.rows(
            f"select {COLUMNS} from spans left join resources using (resource_id) left join scopes using (scope_id)"
            " order by trace_id, span_id"
        )
        events = session.rows("select trace_id, event_index, attributes from span_events order by all")
        links = session.rows("select trace_id, linked_trace_id, linked_span_id, attributes from span_links")
    names = [name.split(" as ")[-1].split(".")[-1].strip() for name in COLUMNS.split(",")]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        one = dict(zip(names, row, strict=True))
        one["events"] = [tuple(rest) for trace, *rest in events if trace == one["trace_id"]]
        one["remarks"] = _remarks(one)
        one["links"] = [tuple(rest) for trace, *rest in links if trace == one["trace_id"]]
        found.setdefault(one["trace_id"], []).append(one)
    return found


@pytest.mark.parametrize(("case", "encoding"), PARAMS)
def test_is_answered_and_stored(
    answers: dict[tuple[str, str, str], Answer], spans: dict[str, list[dict[str, Any]]], case: Case, encoding: str
) -> None:
    answer = answers[case.row, case.what, encoding]
    stored = spans.get(trace_id(case, encoding), [])

    assert answer.code == ("INVALID_ARGUMENT" if case.refused else "OK")
    assert answer.status == (0 if encoding == "grpc" else 400 if case.refused else 200)
    assert answer.rejected == case.rejected
    assert case.says in (answer.message if case.refused else answer.warning)
    assert len(answer.warning) <= 1024
    assert answer.is_full_success == (not case.refused and not case.says)
    assert len(stored) == (0 if case.stored is None else 3 if case.row == "C41" else 1)
    for name, content in (case.stored or {}).items():
        # As text, so that NaN equals itself and 1 is neither 1.0 nor true.
        assert (name, repr(stored[0][name])) == (name, repr(content))
    for one in stored:
        assert one["remarks"] == (case.stored or {}).get("remarks", [])


def _remarks(span: dict[str, Any]) -> list[str]:
    """Problems that are not about the times, which most cases leave out."""
    times = {"no_start_time", "no_end_time", "end_before_start"}
    return [problem for problem in span["problems"] or [] if problem not in times]


def test_the_encodings_are_those_of_the_table() -> None:
    assert tuple(TITLES) == ENCODINGS
