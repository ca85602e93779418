"""Components of the OpenTelemetry Collector and those of their options that deploy/ uses or may come to use.

Names as of release 0.162 of its core and contrib distributions, where `otlp_http` is the name and `otlphttp` an old
alias, and where the batch processor gives way to `sending_queue::batch`. `...` stands for anything.
"""

from typing import Any

_RETRY = dict.fromkeys(
    ("enabled", "initial_interval", "max_interval", "max_elapsed_time", "multiplier", "randomization_factor"), ...
)
_BATCH = dict.fromkeys(("enabled", "flush_timeout", "min_size", "max_size", "sizer", "partition"), ...)
_QUEUE = dict.fromkeys(
    ("enabled", "num_consumers", "queue_size", "sizer", "storage", "block_on_overflow", "wait_for_result"), ...
) | {"batch": _BATCH}
_TLS = dict.fromkeys(
    ("ca_file", "cert_file", "key_file", "insecure", "insecure_skip_verify", "server_name_override"), ...
)
_ROTATION = dict.fromkeys(("max_megabytes", "max_days", "max_backups", "localtime"), ...)

OPTIONS: dict[str, dict[str, Any]] = {
    "receivers": {
        "otlp": {
            "protocols": {
                "grpc": dict.fromkeys(("endpoint", "max_recv_msg_size_mib", "tls", "auth", "include_metadata"), ...),
                "http": dict.fromkeys(("endpoint", "max_request_body_size", "tls", "auth", "cors"), ...),
            }
        }
    },
    "processors": {
        "memory_limiter": dict.fromkeys(
            ("check_interval", "limit_mib", "spike_limit_mib", "limit_percentage", "spike_limit_percentage"), ...
        ),
        "tail_sampling": {
            "decision_wait": ...,
            "decision_wait_after_root_received": ...,
            "num_traces": ...,
            "expected_new_traces_per_sec": ...,
            "decision_cache": {"sampled_cache_size": ..., "non_sampled_cache_size": ...},
            "policies": ...,
        },
        "redaction": dict.fromkeys(
            (
                "allow_all_keys",
                "allowed_keys",
                "allowed_values",
                "blocked_key_patterns",
                "blocked_values",
                "hash_function",
                "ignored_key_patterns",
                "ignored_keys",
                "redact_all_types",
                "summary",
            ),
            ...,
        ),
        "transform": dict.fromkeys(("error_mode", "trace_statements", "log_statements", "metric_statements"), ...),
    },
    "exporters": {
        "otlp_http": {
            **dict.fromkeys(
                ("endpoint", "traces_endpoint", "logs_endpoint", "compression", "timeout", "encoding"), ...
            ),
            "headers": ...,
            "tls": _TLS,
            "retry_on_failure": _RETRY,
            "sending_queue": _QUEUE,
        },
        "otlp_grpc": {
            **dict.fromkeys(("endpoint", "compression", "timeout"), ...),
            "headers": ...,
            "tls": _TLS,
            "retry_on_failure": _RETRY,
            "sending_queue": _QUEUE,
        },
        "file": {
            **dict.fromkeys(("path", "format", "compression", "append", "flush_interval", "create_directory"), ...),
            "rotation": _ROTATION,
        },
    },
    "extensions": {
        "file_storage": dict.fromkeys(("directory", "create_directory", "timeout", "compaction", "fsync"), ...),
        "health_check": dict.fromkeys(("endpoint", "path"), ...),
    },
}

TAIL_SAMPLING_POLICIES: dict[str, Any] = {
    "name": ...,
    "type": ...,
    "status_code": {"status_codes": ...},
    "latency": {"threshold_ms": ..., "upper_threshold_ms": ...},
    "probabilistic": {"sampling_percentage": ..., "hash_salt": ...},
    "span_count": {"min_spans": ..., "max_spans": ...},
}
