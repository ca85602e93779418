"""Every format of file gives the same spans, and whatever is wrong with a file is named while the rest is kept."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.errors import InputError
from spanscore.otlp import FileChunk, RawTables, concat_raw_tables, decode_traces, json_stream, read_paths

Rows = Callable[[RawTables], dict[str, Any]]
CORPUS = Path(__file__).parents[1] / "corpus"

TRACE_LINE = (CORPUS / "langgraph-openinference/one_tool.jsonl").read_bytes().splitlines()[0]
LOG_LINE = (CORPUS / "openai-otelv2legacy/one_tool.logs.jsonl").read_bytes().splitlines()[0]
METRIC_LINE = b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m"}]}]}]}'


def requests(count: int = 3) -> list[ExportTraceServiceRequest]:
    made = []
    for number in range(1, count + 1):
        request = ExportTraceServiceRequest()
        owner = request.resource_spans.add(schema_url=f"https://schema.example/{number}")
        owner.resource.attributes.add(key="service.name").value.string_value = f"service {number}"
        scope_spans = owner.scope_spans.add()
        scope_spans.scope.name = 'brackets "}]{[" and \\ in a scope'
        for place in range(1, 4):
            span = scope_spans.spans.add(
                trace_id=bytes([number]) * 16, span_id=bytes([place]) * 8, name=f"{number}.{place} }}{{", kind=2
            )
            span.attributes.add(key="n").value.int_value = 2**63 - place
            span.events.add(name="event", time_unix_nano=place)
        made.append(request)
    return made


def merged(found: list[ExportTraceServiceRequest]) -> ExportTraceServiceRequest:
    whole = ExportTraceServiceRequest()
    for request in found:
        whole.MergeFrom(request)
    return whole


def varint(number: int) -> bytes:
    head = b""
    while number > 127:
        head += bytes((number & 127 | 128,))
        number >>= 7
    return head + bytes((number,))


def fixed_length(records: Iterable[bytes]) -> bytes:
    return b"".join(len(record).to_bytes(4, "big") + record for record in records)


def varint_length(records: Iterable[bytes]) -> bytes:
    return b"".join(varint(len(record)) + record for record in records)


def read(*paths: Path | str) -> SimpleNamespace:
    """All chunks of the paths as one: the tables, and problems as (number, reason)."""
    chunks: list[FileChunk] = list(read_paths(paths))
    problems = [(problem.number, problem.reason) for chunk in chunks for problem in chunk.rejected_lines]
    return SimpleNamespace(
        tables=concat_raw_tables([chunk.tables for chunk in chunks]), problems=problems, chunks=chunks
    )


def written(folder: Path, content: bytes, name: str = "file.bin") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def formats(as_json: Callable[[Any], dict[str, Any]]) -> dict[str, bytes]:
    found = requests()
    records = [request.SerializeToString() for request in found]
    objects = [as_json(request) for request in found]
    documents = [json.dumps(item).encode() for item in objects]
    whole = as_json(merged(found))
    compact = json.dumps(whole, separators=(",", ":"))
    return {
        "lines": b"\n".join(documents) + b"\n",
        "lines with CRLF, blank ones and no last newline": b"\r\n\r\n".join(documents),
        "lines after a byte order mark": b"\xef\xbb\xbf" + b"\n".join(documents),
        "one document": compact.encode(),
        "one document, indented": json.dumps(whole, indent=2).encode(),
        "one document, its first list on a line of its own": compact.replace("[", "[\n", 1).encode(),
        "documents, indented": b"\n".join(json.dumps(item, indent=1).encode() for item in objects),
        "an array": json.dumps(objects).encode(),
        "an array, a document per line": b"[\n" + b",\n".join(documents) + b"\n]\n",
        "an array, indented": json.dumps(objects, indent=4).encode(),
        "4-byte lengths": fixed_length(records),
        "4-byte lengths, each record in zstd": fixed_length(map(zstandard.compress, records)),
        "4-byte lengths, each JSON record in zstd": fixed_length(map(zstandard.compress, documents)),
        "4-byte lengths, an empty request first": fixed_length([b"", *records]),
        "varint lengths": varint_length(records),
        "varint lengths, an empty request first": varint_length([b"", *records]),
        "bare protobuf": merged(found).SerializeToString(),
    }


COMPRESSIONS = {
    "plain": lambda content: content,
    "gzip": gzip.compress,
    "gzip in members": lambda content: gzip.compress(content[:100]) + gzip.compress(content[100:]) + b"\0" * 9,
    "zstd": zstandard.compress,
    "zstd in frames": lambda content: zstandard.compress(content[:100]) + zstandard.compress(content[100:]),
}
FORMATS = list(formats(lambda _: {}))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_spans(
    otlp_json: Any, rows_of: Rows, tmp_path: Path, name: str, compression: str
) -> None:
    path = written(tmp_path, COMPRESSIONS[compression](formats(otlp_json)[name]))

    result = read(path)

    expected = decode_traces([request.SerializeToString() for request in requests()])
    assert [] == result.problems
    assert rows_of(expected) == rows_of(result.tables)


@pytest.mark.parametrize("order", ["usual", "header last"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_too_large_for_one_piece_is_cut(
    otlp_json: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, indent: int | None, order: str
) -> None:
    """Pieces repeat the headers of what was cut, so the spans are the same while owners stand more than once."""
    monkeypatch.setattr(json_stream, "WHOLE_BYTES", 200)
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 300)
    whole = otlp_json(merged(requests()))
    whole = {"unknown": [{"a": "]}"}, 1.5, None], **whole, "after": -1}
    if order == "header last":
        for owner in whole["resourceSpans"]:
            owner["resource"] = owner.pop("resource")
            for scope_spans in owner["scopeSpans"]:
                scope_spans["scope"] = scope_spans.pop("scope")

    result = read(written(tmp_path, json.dumps(whole, indent=indent).encode()))

    assert [] == result.problems
    expected = decode_traces([merged(requests()).SerializeToString()])
    assert with_owners(expected) == with_owners(result.tables)


def with_owners(tables: RawTables) -> list[Any]:
    """The spans, each with its resource and scope in place of their row numbers."""
    resources, scopes = tables.resources.to_pylist(), tables.scopes.to_pylist()
    return [
        span
        | {"resource_index": resources[span["resource_index"]] | {"resource_index": None}}
        | {"scope_index": scopes[span["scope_index"]] | {"scope_index": None}}
        for span in tables.spans.to_pylist()
    ]


def test_a_file_may_mix_signals(tmp_path: Path) -> None:
    result = read(written(tmp_path, b"\n".join([TRACE_LINE, METRIC_LINE, LOG_LINE, TRACE_LINE])))

    assert [(2, "metrics_unsupported")] == result.problems
    assert len(read(written(tmp_path, TRACE_LINE)).tables.spans) * 2 == len(result.tables.spans) > 0
    assert len(read(written(tmp_path, LOG_LINE)).tables.log_records) == len(result.tables.log_records) > 0
    scopes = result.tables.scopes["name"].take(result.tables.log_records["scope_index"]).unique().to_pylist()
    assert [json.loads(LOG_LINE)["resourceLogs"][0]["scopeLogs"][0]["scope"]["name"]] == scopes


def test_a_malformed_line_among_good_ones_is_named(tmp_path: Path) -> None:
    cut = TRACE_LINE[:-20]
    lines = [
        cut,
        TRACE_LINE,
        b'{"traces":[]}',
        b"",
        TRACE_LINE,
        b"not json",
        b'{"resourceSpans":[7]}',
        b"{}",
        TRACE_LINE,
    ]

    result = read(written(tmp_path, b"\n".join(lines)))

    assert [(1, "malformed_json"), (3, "not_otlp"), (6, "malformed_json"), (7, "wrong_type")] == result.problems
    assert len(read(written(tmp_path, TRACE_LINE)).tables.spans) * 3 == len(result.tables.spans)
    assert str(tmp_path / "file.bin") == result.chunks[0].rejected_lines[0].path


def test_a_bad_span_of_a_line_is_counted_and_the_others_kept(tmp_path: Path, rows_of: Rows) -> None:
    good = {"traceId": "01" * 16, "spanId": "02" * 8, "name": "good", "events": [{}]}
    spans = [
        good,
        good | {"kind": "SERVER"},
        good | {"traceId": "AQ=="},
        good,
        {"attributes": [{"value": {"intValue": "x"}}]},
        7,
        None,
    ]
    owners = [
        {"scopeSpans": [{"spans": spans}]},
        {"resource": {"attributes": 1}, "scopeSpans": [{"spans": [good, good]}]},
        {"scopeSpans": [{"scope": [], "spans": [good]}, {"scope": {"name": "s"}, "spans": [good]}]},
    ]
    records = [{"body": {"stringValue": "kept"}}, {"severityNumber": "INFO"}, []]
    line = {"resourceSpans": owners, "resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}

    result = read(written(tmp_path, json.dumps(line).encode()))

    rows = rows_of(result.tables)
    assert [] == result.problems
    assert {
        "invalid_enum": 1,
        "invalid_trace_id": 1,
        "invalid_integer": 1,
        "malformed_resource": 2,
        "malformed_scope": 1,
        "wrong_type": 2,
    } == rows["rejected_spans"]
    assert {"invalid_enum": 1, "wrong_type": 1} == rows["rejected_log_records"]
    assert ["good"] * 3 == [span["name"] for span in rows["spans"]]
    assert [0, 1, 2] == [event["span_index"] for event in rows["span_events"]]
    assert [None, None, "s"] == [rows["scopes"][span["scope_index"]]["name"] for span in rows["spans"]]
    assert ["kept"] == [record["body"]["string_value"] for record in rows["log_records"]]


def test_a_malformed_record_among_good_ones_is_named(tmp_path: Path) -> None:
    first, second, third = (request.SerializeToString() for request in requests())
    damaged = second[:-1] + b"\xff\xff"

    result = read(written(tmp_path, fixed_length([first, damaged, third])))

    assert [(2, "malformed_protobuf")] == result.problems
    assert 6 == len(result.tables.spans)


@pytest.mark.parametrize("framed", [fixed_length, varint_length])
def test_a_protobuf_file_may_mix_signals(tmp_path: Path, framed: Callable[[list[bytes]], bytes]) -> None:
    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add(severity_text="INFO").body.string_value = "b" * 16
    metrics = ExportMetricsServiceRequest()
    point = metrics.resource_metrics.add().scope_metrics.add().metrics.add(name="n" * 16, unit="12345678")
    point.sum.data_points.add(as_int=1)
    records = [logs, requests()[0], metrics, logs]

    result = read(written(tmp_path, framed([record.SerializeToString() for record in records])))

    assert [(3, "metrics_unsupported")] == result.problems
    assert (3, 2) == (len(result.tables.spans), len(result.tables.log_records))


@pytest.mark.parametrize("compress", [lambda c: c, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_a_file_cut_short_keeps_what_came_before(
    otlp_json: Any, tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    lines = [json.dumps(otlp_json(request)).encode() for request in requests(2)]
    content = b"\n".join([*lines, json.dumps({"noise": os.urandom(500_000).hex()}).encode()])

    result = read(written(tmp_path, compress(content)[:-1000]))

    assert 6 == len(result.tables.spans)
    reasons = {reason for _, reason in result.problems}
    assert reasons == ({"malformed_json"} if compress(b"") == b"" else {"malformed_json", "truncated"})


def test_a_record_cut_short_is_named(tmp_path: Path) -> None:
    result = read(written(tmp_path, fixed_length(request.SerializeToString() for request in requests())[:-5]))

    assert [(3, "truncated")] == result.problems
    assert 6 == len(result.tables.spans)


def test_damaged_compression_is_named(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(TRACE_LINE + b"\n" + os.urandom(3 << 20)))
    content[-3000:-2000] = b"\0" * 1000

    assert "corrupt_compression" in {reason for _, reason in read(written(tmp_path, bytes(content))).problems}


@pytest.mark.parametrize(
    "content",
    [
        b'{"final_answer": "x", "turns": [1]}',
        json.dumps({"resource_spans": [], "scenario": "snake"}, indent=2).encode(),
        b"plain text",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        bytes(1000),
        b"{}",
        os.urandom(64).replace(b"\x0a", b"\x0b"),
        gzip.compress(bytes(10_000_000)),
        gzip.compress(b" " * 10_000_000),
    ],
    ids=["truth", "snake case", "text", "PNG", "zeros", "empty object", "random", "zeros in gzip", "blanks in gzip"],
)
def test_a_file_of_something_else_is_reported_once(tmp_path: Path, content: bytes) -> None:
    result = read(written(tmp_path, content))

    assert [(1, "not_otlp")] == result.problems
    assert 0 == len(result.tables.spans)


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    assert [] == read(written(tmp_path, b"")).problems
    assert [] == read(written(tmp_path, b" \n\n")).problems


def test_a_malformed_document_is_named_with_its_line(tmp_path: Path) -> None:
    text = json.dumps({"resourceSpans": [{"scopeSpans": []}]}, indent=2)
    result = read(written(tmp_path, (text + "\n" + text[:-2]).encode()))

    ((number, reason),) = result.problems
    assert "malformed_json" == reason
    assert number > 1


def test_a_folder_is_read_recursively_by_name_and_each_file_once(tmp_path: Path, otlp_json: Any) -> None:
    first, second, third = (json.dumps(otlp_json(request)).encode() for request in requests())
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    written(tmp_path, second, "b/two.JSONL")
    written(tmp_path, gzip.compress(first), "a.json.gz")
    written(tmp_path, third, "notes.txt")
    written(tmp_path, third, ".hidden/three.json")
    written(tmp_path, b'{"final_answer": 1}', "a.truth.json")

    result = read(tmp_path, tmp_path / "a.json.gz", f"{tmp_path}/**/*.JSONL")

    assert [Path(chunk.path).name for chunk in result.chunks] == ["a.json.gz", "a.truth.json", "two.JSONL"]
    assert ["1.1 }{", "2.1 }{"] == result.tables.spans["name"].to_pylist()[::3]
    assert [(1, "not_otlp")] == result.problems


@pytest.mark.parametrize("path", ["missing.json", "missing/*.json", "[abc"])
def test_a_missing_path_is_an_error_that_names_it_before_anything_is_read(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match=path.replace("[", r"\[").replace("*", r"\*")):
        read_paths([tmp_path, tmp_path / path])


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(TRACE_LINE))))

    result = read("-")

    assert len(result.tables.spans) > 0
    assert {("-", None)} == {(chunk.path, chunk.bytes_total) for chunk in result.chunks}


def test_progress_adds_up_to_the_size_of_the_files(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(TRACE_LINE * 3))
    seen: list[int] = []

    (chunk,) = read_paths([path], progress=seen.append)

    assert path.stat().st_size == sum(seen) == chunk.bytes_read == chunk.bytes_total


def test_base64_ids_are_accepted_nowhere_but_in_tempo_documents(tmp_path: Path) -> None:
    span = {"traceId": base64.b64encode(b"t" * 16).decode(), "spanId": base64.b64encode(b"s" * 8).decode()}
    owners = [{"scopeSpans": [{"spans": [span]}]}]

    assert 1 == len(read(written(tmp_path, json.dumps({"batches": owners}).encode())).tables.spans)
    tables = read(written(tmp_path, json.dumps({"resourceSpans": owners}).encode())).tables
    assert {"invalid_trace_id": 1} == tables.rejected_spans
