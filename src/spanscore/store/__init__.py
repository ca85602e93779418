"""The store: DuckDB and everything that knows it. No other room imports duckdb.

What this names is imported when it is asked for: whoever asks a worker needs no DuckDB, and the worker not all of this.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanscore.store.connection import database_path
    from spanscore.store.counts import LoadCounts, ManifestRow, SignalCounts
    from spanscore.store.query import run_arrow_query, run_query
    from spanscore.store.result import ArrowResult, Column, QueryResult
    from spanscore.store.salvage import SalvagedTable, salvage_rows, unreadable
    from spanscore.store.session import ReadSession, read_session, require_store
    from spanscore.store.store import Store

__all__ = [
    "ArrowResult",
    "Column",
    "LoadCounts",
    "ManifestRow",
    "QueryResult",
    "ReadSession",
    "SalvagedTable",
    "SignalCounts",
    "Store",
    "database_path",
    "read_session",
    "require_store",
    "run_arrow_query",
    "run_query",
    "salvage_rows",
    "unreadable",
]

_HOMES = {
    "connection": ("database_path",),
    "counts": ("LoadCounts", "ManifestRow", "SignalCounts"),
    "query": ("run_arrow_query", "run_query"),
    "result": ("ArrowResult", "Column", "QueryResult"),
    "salvage": ("SalvagedTable", "salvage_rows", "unreadable"),
    "session": ("ReadSession", "read_session", "require_store"),
    "store": ("Store",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
