"""What OTLP asks of a server, row by row, and the encodings in which a row cannot be asked.

Sources: https://opentelemetry.io/docs/specs/otlp/ (1.11.0) and opentelemetry-proto (1.11.0).
"""

ROWS = {
    "C01": "POST of protobuf: 200, an empty response in protobuf",
    "C02": "POST of JSON: 200, `{}` in JSON",
    "C03": "a media type with parameters and in any case",
    "C04": "another Content-Type, or none: 415",
    "C05": "another method than POST: 405 and Allow",
    "C06": "another path: 404",
    "C07": "a preflight request: no Access-Control headers",
    "C08": "no bytes at all are an empty protobuf request",
    "C09": "requests without resources, scopes or spans",
    "C10": "no bytes at all are no JSON: 400",
    "C11": "Content-Encoding gzip",
    "C12": "Content-Encoding identity",
    "C13": "other content encodings: 415",
    "C14": "damaged gzip: 400",
    "C15": "gzip in several members",
    "C16": "a request of the limit: 200; one byte more: 413",
    "C17": "gzip that unpacks to more than the limit: 413",
    "C18": "chunks over the limit: 413 while reading, closed",
    "C19": "malformed: 400, Status with BadRequest",
    "C20": "hex ids in any case",
    "C21": "ids that are no hex of the right length: span rejected",
    "C22": "ids of parents and links",
    "C23": "enums by number",
    "C24": "enums by name: 400",
    "C25": "unknown enum numbers are kept",
    "C26": "unknown JSON fields are ignored",
    "C27": "unknown protobuf fields are ignored",
    "C28": "snake_case keys are unknown fields",
    "C29": "64-bit times, as text and as number, exact",
    "C30": "64-bit integers exact",
    "C31": "integers that are none: 400",
    "C32": "doubles, NaN and the infinities",
    "C33": "bare NaN and Infinity: 400",
    "C34": "bytes, in every base64 there is",
    "C35": "an empty value",
    "C36": "arrays and kvlists everywhere",
    "C37": "references into a string table: empty, with a warning",
    "C38": "null is an absent field",
    "C39": "flags with unassigned bits",
    "C40": "nothing set but the ids",
    "C41": "some spans invalid: partial success",
    "C42": "all spans invalid: partial success",
    "C43": "accepted with a warning: rejected_spans 0 and a message",
    "C44": "full success: partial_success is unset",
    "C45": "10,000 invalid spans: a short message",
    "C46": "overloaded over HTTP: 503 and Retry-After",
    "C47": "overloaded over gRPC: UNAVAILABLE and RetryInfo",
    "C48": "a message over the limit: RESOURCE_EXHAUSTED, no RetryInfo",
    "C49": "garbage: INVALID_ARGUMENT",
    "C50": "a compressed message",
    "C51": "an unknown method: UNIMPLEMENTED",
    "C52": "100 requests at once",
    "C53": "1,000 requests on one connection",
    "C54": "protobuf and JSON on one port",
    "C55": "Expect: 100-continue",
    "C56": "errors are a google.rpc.Status",
    "C57": "Accept-Encoding gzip",
    "C58": "storage faults are 503, never 500",
    "C59": "default ports",
    "C60": "killed in the middle of a request: sent again, stored once",
    "C61": "real exporters",
    "C62": "a missing or wrong token: 401",
}

TITLES = {"protobuf": "HTTP protobuf", "json": "HTTP JSON", "grpc": "gRPC"}

_HTTP_ONLY = "gRPC has no such thing"
_JSON_ONLY = "only JSON can say it"
_GRPC_ONLY = "a row of gRPC"

NOT_APPLICABLE = {
    ("C01", "json"): "C02",
    ("C01", "grpc"): "C44",
    ("C02", "protobuf"): "C01",
    ("C02", "grpc"): "C44",
    **{(row, "grpc"): _HTTP_ONLY for row in ("C03", "C04", "C05", "C07", "C54", "C55", "C57")},
    ("C06", "grpc"): "C51",
    ("C08", "json"): "C10",
    ("C10", "protobuf"): "C08",
    ("C10", "grpc"): "C08",
    ("C11", "grpc"): "C50",
    ("C13", "grpc"): "grpcio knows what it can unpack, and its client sends nothing else",
    ("C14", "grpc"): "grpcio's client sends sound gzip only",
    ("C15", "grpc"): "grpcio's client sends one member",
    ("C16", "grpc"): "C48",
    ("C17", "grpc"): "C48",
    ("C18", "grpc"): "every message has a length",
    ("C19", "grpc"): "C49",
    **{
        (row, encoding): _JSON_ONLY
        for row in ("C20", "C24", "C26", "C28", "C31", "C33", "C38")
        for encoding in ("protobuf", "grpc")
    },
    ("C27", "json"): "C26",
    ("C44", "protobuf"): "C01",
    ("C44", "json"): "C02",
    ("C46", "grpc"): "C47",
    **{(row, encoding): _GRPC_ONLY for row in ("C47", "C49", "C50", "C51") for encoding in ("protobuf", "json")},
    ("C48", "protobuf"): "C16 and C17",
    ("C48", "json"): "C16 and C17",
}

ELSEWHERE = {
    ("C61", "protobuf"): "tests/collector/test_exporters.py",
    ("C61", "json"): "tests/clients/test_javascript.py",
    ("C61", "grpc"): "tests/collector/test_exporters.py",
    **{("C62", encoding): "tests/collector/test_authentication.py" for encoding in TITLES},
}
"""Rows whose tests stand with those of the part that they are about."""

COLLECTED: set[tuple[str, str]] = set()
"""Cells of the table that the tests of this run are about."""
