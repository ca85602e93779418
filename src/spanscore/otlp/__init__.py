"""OTLP bytes to flat Arrow tables. Knows nothing of agents, and neither DuckDB nor the command line."""

from spanscore.errors import DecodeError
from spanscore.otlp.concat import concat_raw_tables
from spanscore.otlp.decode import decode_logs, decode_logs_json, decode_traces, decode_traces_json
from spanscore.otlp.files import FileChunk, LineProblem, read_paths
from spanscore.otlp.limits import SpanLimits
from spanscore.otlp.schema import ANY_VALUE, ATTRIBUTES, RawTables

__all__ = [
    "ANY_VALUE",
    "ATTRIBUTES",
    "DecodeError",
    "FileChunk",
    "LineProblem",
    "RawTables",
    "SpanLimits",
    "concat_raw_tables",
    "decode_logs",
    "decode_logs_json",
    "decode_traces",
    "decode_traces_json",
    "read_paths",
]
