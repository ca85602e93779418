"""Request bytes to Arrow tables, for every signal and encoding, many requests at a time."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.collector.records import Encoding, Signal
from spanscore.otlp import RawTables, SpanLimits, decode_logs, decode_logs_json, decode_traces, decode_traces_json
from spanscore.otlp.footprint import Footprint, json_footprint, protobuf_footprint

Decoder = Callable[[Sequence[bytes], SpanLimits], RawTables]


def merge(parts: Sequence[RawTables]) -> RawTables:
    """The rows of all parts; indexes are moved so that they still point at the same rows."""
    if len(parts) == 1:
        return parts[0]
    resources = scopes = spans = 0
    moved: dict[str, list[pa.Table]] = {
        name: [] for name in ("resources", "scopes", "spans", "span_events", "span_links", "log_records")
    }
    for part in parts:
        owner = {"resource_index": resources, "scope_index": scopes}
        moved["resources"].append(_move(part.resources, resource_index=resources))
        moved["scopes"].append(_move(part.scopes, scope_index=scopes))
        moved["spans"].append(_move(part.spans, **owner))
        moved["span_events"].append(_move(part.span_events, span_index=spans))
        moved["span_links"].append(_move(part.span_links, span_index=spans))
        moved["log_records"].append(_move(part.log_records, **owner))
        resources += part.resources.num_rows
        scopes += part.scopes.num_rows
        spans += part.spans.num_rows
    if not parts:
        return RawTables()
    return RawTables(
        **{name: pa.concat_tables(tables) for name, tables in moved.items()},
        rejected_spans=_sum([part.rejected_spans for part in parts]),
        rejected_log_records=_sum([part.rejected_log_records for part in parts]),
    )


def _move(table: pa.Table, **offsets: int) -> pa.Table:
    for name, offset in offsets.items():
        if offset:
            at = table.schema.get_field_index(name)
            table = table.set_column(at, table.schema.field(at), pc.add(table.column(at), offset))
    return table


def _sum(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _one_by_one(decode: Callable[[bytes, SpanLimits], RawTables]) -> Decoder:
    def decode_all(payloads: Sequence[bytes], limits: SpanLimits) -> RawTables:
        return merge([decode(payload, limits) for payload in payloads])

    return decode_all


DECODERS: Mapping[tuple[Signal, Encoding], Decoder] = {
    (Signal.TRACES, Encoding.PROTOBUF): decode_traces,
    (Signal.TRACES, Encoding.JSON): _one_by_one(decode_traces_json),
    (Signal.LOGS, Encoding.PROTOBUF): decode_logs,
    (Signal.LOGS, Encoding.JSON): _one_by_one(decode_logs_json),
}

FOOTPRINTS: Mapping[Encoding, Callable[[bytes], Footprint]] = {
    Encoding.PROTOBUF: protobuf_footprint,
    Encoding.JSON: json_footprint,
}


def problems_in(items: pa.Table) -> dict[str, int]:
    """How many spans or log records have each problem."""
    problems = items["problems"]
    if problems.null_count == len(problems):
        return {}
    return {one["values"]: one["counts"] for one in pc.value_counts(pc.list_flatten(problems)).to_pylist()}
