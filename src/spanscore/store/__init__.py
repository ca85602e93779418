"""The store: DuckDB and everything that knows it. No other room imports duckdb."""

from spanscore.store.counts import LoadCounts, ManifestRow, SignalCounts
from spanscore.store.session import ReadSession, read_session
from spanscore.store.store import Store

__all__ = ["LoadCounts", "ManifestRow", "ReadSession", "SignalCounts", "Store", "read_session"]
