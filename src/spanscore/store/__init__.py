"""The store: DuckDB and everything that knows it. No other room imports duckdb."""

from spanscore.store.connection import database_path
from spanscore.store.containment import contained
from spanscore.store.counts import LoadCounts, ManifestRow, SignalCounts
from spanscore.store.query import Column, QueryResult, run_arrow_query, run_query
from spanscore.store.session import ReadSession, read_session, require_store
from spanscore.store.store import Store

__all__ = [
    "Column",
    "LoadCounts",
    "ManifestRow",
    "QueryResult",
    "ReadSession",
    "SignalCounts",
    "Store",
    "contained",
    "database_path",
    "read_session",
    "require_store",
    "run_arrow_query",
    "run_query",
]
