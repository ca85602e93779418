"""What takes the room: the document of `spanscore stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = "1.0"
SAMPLED_SPANS = 20_000
"""Spans of the database whose attributes are measured [spans]: looking at all of them would take too long."""


def examine_usage(directory: Path, *, limit: int = 10) -> dict[str, Any]:
    """Room by table, day, trace, service and attribute key, in the archive and the spool [bytes].

    Args:
        directory: of the store.
        limit: traces, services and attribute keys to name at most.

    Raises:
        StoreError: the store cannot be read.
    """
    from spanscore.store import read_session, run_query
    from spanscore.store.queries import read_query
    from spanscore.store.usage import database_usage

    with read_session(directory) as session:

        def rows(name: str, **parameters: int) -> list[dict[str, Any]]:
            text = read_query(f"{name}.sql")
            for key, value in parameters.items():
                text = text.replace(f"${key}", str(int(value)))
            result = run_query(session, text)
            return [dict(zip((column.name for column in result.columns), row, strict=True)) for row in result.rows]

        database = database_usage(session, directory)
        archive = rows("retention/usage_archive")
        days = rows("retention/usage_days")
        traces = rows("retention/usage_traces", limit=limit)
        services = rows("retention/usage_services", limit=limit)
        attributes = rows("retention/usage_attributes", limit=limit, sampled=SAMPLED_SPANS)
        loaded = {row["segment"]: row["end_offset"] for row in rows("reports/spool_manifest")}
    spans = next((table.rows for table in database.tables if table.table == "spans"), 0)
    raw = sum(table.size for table in database.tables if table.table in {"spans", "span_events", "span_links"})
    archived_spans = sum(row["spans"] for row in archive)
    archived_bytes = sum(row["bytes"] for row in archive)
    return {
        "schema_version": SCHEMA_VERSION,
        "store": str(directory),
        "database": {
            "bytes": database.size,
            "free_bytes": database.free,
            "wal_bytes": database.wal,
            "spans": spans,
            "raw_bytes_per_span": _ratio(raw, spans),
            "bytes_per_span": _ratio(sum(table.size for table in database.tables), spans),
            "tables": [
                {"table": one.table, "rows": one.rows, "bytes": one.size, "bytes_per_row": _ratio(one.size, one.rows)}
                for one in database.tables
                if one.rows
            ],
        },
        "archive": {
            "bytes": archived_bytes,
            "files": sum(row["files"] for row in archive),
            "traces": sum(row["traces"] for row in archive),
            "spans": archived_spans,
            "bytes_per_span": _ratio(archived_bytes, archived_spans),
        },
        "spool": _spool(directory, loaded),
        "days": days,
        "largest_traces": traces,
        "services": services,
        "attributes": attributes,
    }


def _ratio(amount: int, count: int) -> float | None:
    return round(amount / count, 1) if count else None


def _spool(directory: Path, loaded: dict[str, int]) -> dict[str, int]:
    """What waits to be loaded, what is kept after loading, and copies of what could not be read [bytes]."""
    from spanscore.collector.collector import SPOOL_FOLDER
    from spanscore.collector.slices import waiting
    from spanscore.collector.spool import QUARANTINE, segment_paths
    from spanscore.store.directory import sizes_of

    folder = directory / SPOOL_FOLDER
    if not folder.is_dir():
        return {"waiting_bytes": 0, "kept_bytes": 0, "segments": 0, "quarantine_bytes": 0, "quarantine_files": 0}
    waits = sum(end - start for _, start, end in waiting(folder, loaded=loaded, synced={}))
    sizes = sizes_of(segment_paths(folder))
    quarantine = folder / QUARANTINE
    copies = sizes_of(quarantine.iterdir()) if quarantine.is_dir() else []
    return {
        "waiting_bytes": waits,
        "kept_bytes": sum(sizes) - waits,
        "segments": len(sizes),
        "quarantine_bytes": sum(copies),
        "quarantine_files": len(copies),
    }
