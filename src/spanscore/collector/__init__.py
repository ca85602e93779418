"""Receives OTLP over gRPC and HTTP, acknowledges what is on disk, and moves it to the store.

with Collector("store-directory") as collector:
    ...                     # send to collector.grpc_address or http://{collector.http_address}
    collector.drain()       # everything acknowledged is now in the store
"""

from typing import TYPE_CHECKING, Any

from spanscore.collector.config import DEFAULT_GRPC, DEFAULT_HTTP, CollectorConfig, CollectorLimits
from spanscore.collector.redaction.settings import Content, Privacy, Redact
from spanscore.collector.security import Security
from spanscore.collector.status import STATUS_FILE, read_status

if TYPE_CHECKING:
    from spanscore.collector.collector import Collector, serve

__all__ = [
    "DEFAULT_GRPC",
    "DEFAULT_HTTP",
    "STATUS_FILE",
    "Collector",
    "CollectorConfig",
    "CollectorLimits",
    "Content",
    "Privacy",
    "Redact",
    "Security",
    "read_status",
    "serve",
]


def __getattr__(name: str) -> Any:
    """Loads gRPC, uvicorn, Arrow and DuckDB when a collector is wanted: `doctor` reads the status without them."""
    if name in ("Collector", "serve"):
        from spanscore.collector import collector

        return getattr(collector, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
