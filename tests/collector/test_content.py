"""Which attributes are content: those that the attribute map reads content from, whatever framework wrote them."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Content, Privacy
from spanscore.collector.records import Encoding, Signal
from spanscore.collector.redaction.content import CONTENT_COLUMNS, content_keys, is_message
from spanscore.collector.redaction.redactor import Redactor
from spanscore.store.queries import query_path

CORPUS = Path(__file__).parents[1] / "corpus"

# Columns whose sources are no content. A new column of the attribute map belongs here or among CONTENT_COLUMNS.
NO_CONTENT = frozenset(
    """
    a2a_method agent_call_id agent_id agent_name agentops_kind background_agent_id cache_read_tokens
    cache_write_1h_tokens cache_write_tokens case_id claude_type conversation_id cost_reported_usd crew_agents
    data_source embedding_model entity_name error_message error_type exclusive_input_tokens experiment_id
    failure_stage finish_reason first_chunk_at genkit_type graph_integration graph_namespace graph_node
    handoff_from handoff_to haystack_component haystack_type input_audio_tokens input_tokens
    invocation_parameters judge_scorer langfuse_type langsmith_kind logfire_span_type logfire_template
    mastra_type mcp_method mlflow_type oi_kind operation output_audio_tokens output_tokens provider
    provider_hint reasoning_tokens reported_input_tokens reported_output_tokens request_model request_type
    response_id response_model sdk_span_type service_tier session_id subagent_type suite_name suite_version
    time_to_first_chunk_s tool_call_id tool_decision tool_deferral tool_definitions tool_name tool_retry_cause
    tool_schema tool_status tool_success total_cache_read_tokens total_input_tokens total_output_tokens
    total_reasoning_tokens total_tokens traceloop_kind transfer_mode trial trial_outcome user_id variant
    vercel_operation workflow_name
    """.split()  # noqa: SIM905
)


def attribute_map() -> list[dict[str, str]]:
    with query_path("conventions/attributes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_column_of_the_attribute_map_is_content_or_not() -> None:
    columns = {row["column"] for row in attribute_map()}

    assert columns - CONTENT_COLUMNS == NO_CONTENT
    assert columns >= CONTENT_COLUMNS


def test_every_source_of_a_content_column_is_content() -> None:
    keys = content_keys()
    missed = []
    for row in attribute_map():
        event, bar, key = row["key"].partition("|")
        if row["column"] in CONTENT_COLUMNS:
            found = keys.has(key, event.removeprefix("log.")) if bar else keys.has(row["key"])
            missed += [] if found else [row["key"]]

    assert missed == []


@pytest.mark.parametrize(
    ("key", "event", "is_content"),
    [
        ("gen_ai.input.messages", None, True),
        ("gen_ai.system_instructions", None, True),
        ("gen_ai.tool.call.arguments", None, True),
        ("llm.input_messages.0.message.content", None, True),
        ("gen_ai.completion.12.content", None, True),
        ("gen_ai.completion.0.finish_reason", None, False),
        ("retrieval.documents.3.document.content", None, True),
        ("content", "gen_ai.user.message", True),
        ("content", "exception", False),
        ("prompt", "claude_code.user_prompt", True),
        ("prompt", None, False),
        ("gen_ai.usage.input_tokens", None, False),
        ("gen_ai.tool.name", None, False),
        ("llm.tools.0.tool.json_schema", None, False),
        ("exception.message", "exception", False),
    ],
)
def test_keys(key: str, event: str | None, is_content: bool) -> None:
    assert content_keys().has(key, event) is is_content


@pytest.mark.parametrize(
    ("name", "found"), [("gen_ai.choice", True), ("gen_ai.user.message", True), ("exception", False)]
)
def test_messages_that_come_one_to_a_record(name: str, found: bool) -> None:
    assert is_message(name) is found


def cleaned(tmp_path: Path, content: Content, signal: Signal, request: Any) -> tuple[Any, Any, Counter[str]]:
    """A request as protobuf and as JSON, both cleaned, and what was counted for the first."""
    counts: list[Counter[str]] = []
    redactor = Redactor(Privacy(content=content), tmp_path, on_redact=lambda kinds: counts.append(Counter(kinds)))
    binary = type(request).FromString(redactor.clean(signal, Encoding.PROTOBUF, request.SerializeToString()))
    from google.protobuf.json_format import MessageToDict, ParseDict

    text = redactor.clean(signal, Encoding.JSON, json.dumps(MessageToDict(request)).encode())
    return binary, ParseDict(json.loads(text), type(request)()), counts[0]


@pytest.mark.parametrize("content", [Content.HASH, Content.DROP])
def test_messages_of_logs_lose_their_body(tmp_path: Path, content: Content) -> None:
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add().scope_logs.add()
    for name in ("gen_ai.user.message", "app.started"):
        record = logs.log_records.add(time_unix_nano=1, event_name=name)
        record.body.kvlist_value.values.add(key="content").value.string_value = f"body of {name}"
    old = logs.log_records.add(time_unix_nano=1)
    old.attributes.add(key="event.name").value.string_value = "gen_ai.choice"
    old.body.string_value = "an answer"
    for after in cleaned(tmp_path, content, Signal.LOGS, request)[:2]:
        records = after.resource_logs[0].scope_logs[0].log_records
        bodies = [record.body.WhichOneof("value") for record in records]
        hashed = [[one.value.string_value for one in r.attributes if one.key.startswith("spanscore.")] for r in records]

        assert bodies == [None, "kvlist_value", None]
        assert [len(found) for found in hashed] == ([1, 0, 1] if content is Content.HASH else [0, 0, 0])


def test_equal_content_has_one_hash_in_both_encodings(tmp_path: Path) -> None:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add()
    for text in ("one", "two", "one"):
        span = spans.spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="chat")
        span.attributes.add(key="gen_ai.tool.call.arguments").value.string_value = text
        span.attributes.add(key="gen_ai.tool.name").value.string_value = "search"
    binary, text, counts = cleaned(tmp_path, Content.HASH, Signal.TRACES, request)
    first, second, third = [
        {one.key: one.value.string_value for one in span.attributes}
        for span in binary.resource_spans[0].scope_spans[0].spans
    ]

    assert binary == text
    assert first == third != second
    assert set(first) == {"spanscore.content_hash.gen_ai.tool.call.arguments", "gen_ai.tool.name"}
    assert counts == {"content": 3}


def captures() -> Iterator[Path]:
    yield from sorted(path for pattern in ("*/*.jsonl", "*/*.jsonl.gz") for path in CORPUS.glob(pattern))


def texts(node: Any, owner: str = "") -> Iterator[tuple[str, str]]:
    """(key of the attribute, or name of the field, text) of every text in a document."""
    if isinstance(node, dict):
        key = node.get("key") if "value" in node else None
        for name, member in node.items():
            yield from texts(
                member, str(key) if key is not None else owner or (f"field {name}" if isinstance(member, str) else "")
            )
    elif isinstance(node, list):
        for member in node:
            yield from texts(member, owner)
    elif isinstance(node, str):
        yield owner, node


def test_no_framework_keeps_its_prompts_and_answers(tmp_path: Path) -> None:
    redactor = Redactor(Privacy(content=Content.DROP), tmp_path, on_redact=lambda kinds: None)
    phrases = ("What would twelve units of A-113 cost", "Twelve units of A-113 cost", "You are a", "249.99")
    left = Counter[str]()
    lines = 0
    for path in captures():
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in content.splitlines():
            lines += 1
            document = json.loads(redactor.clean(Signal.TRACES, Encoding.JSON, line))
            left.update(
                f"{path.parent.name} {key}"
                for key, text in texts(document)
                if any(phrase in text for phrase in phrases)
            )

    assert lines > 300
    # What an error quotes is not taken for content; docs/operations.md says so.
    errors = ("exception.message", "exception.stacktrace", "field message")
    assert {one for one in left if one.split(" ", 1)[1] not in errors} == set()
