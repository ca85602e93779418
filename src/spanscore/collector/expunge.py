"""Takes traces out of the spool: out of requests that are kept a while after loading, and that were set aside.

Whoever calls holds the spool (`Spool`), so no collector writes or deletes a segment meanwhile, and has loaded what
waited: a segment that gets shorter is loaded to its end all the same.
"""

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector.records import Encoding, Gap, Signal, SpoolRecord, read_segment
from spanscore.collector.spool import QUARANTINE, segment_paths
from spanscore.store.directory import sync_directory


@dataclass(frozen=True, slots=True)
class Expunged:
    """What became of the spool's files [count]."""

    segments_rewritten: int = 0
    segments_deleted: int = 0
    quarantine_deleted: int = 0
    quarantine_left: int = 0
    """Copies of unreadable requests in which none of the ids was found; what else they hold cannot be told."""


_TEMPORARY = ".spool.tmp"


def expunge(
    directory: Path,
    trace_ids: Collection[str],
    *,
    loose_logs: bool = False,
    before_ns: int | None = None,
    whole_quarantine: bool = False,
) -> Expunged:
    """Rewrites every segment that has something of these traces, and deletes the copies set aside that have.

    Args:
        directory: the spool.
        trace_ids: lower-case hex.
        loose_logs: whether requests with log records of no trace go as a whole.
        before_ns: copies that were set aside before this time go too [ns since 1970, UTC].
        whole_quarantine: whether all copies go.
    """
    ids = frozenset(bytes.fromhex(trace_id) for trace_id in trace_ids)
    rewritten = deleted = 0
    for leftover in directory.glob(f"*{_TEMPORARY}"):
        leftover.unlink()
    for path in segment_paths(directory):
        records: list[SpoolRecord] = []
        is_changed = False
        for found in read_segment(path):
            if isinstance(found, Gap):
                # What could not be read was copied to the quarantine when the segment was loaded.
                is_changed = True
                continue
            payload = without(found, ids, loose_logs=loose_logs)
            is_changed |= payload is not found.payload
            if payload is not None:
                records.append(SpoolRecord(found.signal, found.encoding, found.received_ns, payload))
        if not is_changed:
            continue
        if records:
            _rewrite(path, records)
            rewritten += 1
        else:
            path.unlink()
            deleted += 1
    sync_directory(directory)
    quarantined, left = _clear_quarantine(
        directory / QUARANTINE, ids, time.time_ns() if whole_quarantine else before_ns
    )
    return Expunged(rewritten, deleted, quarantined, left)


def without(record: SpoolRecord, ids: Collection[bytes], *, loose_logs: bool = False) -> bytes | None:
    """The request without anything of these traces; the same object where it has nothing, None where all goes."""

    def goes(trace_id: bytes) -> bool:
        return trace_id in ids or (loose_logs and record.signal is Signal.LOGS and not any(trace_id))

    try:
        if record.encoding is Encoding.PROTOBUF:
            return _without_protobuf(record, goes)
        return _without_json(record, goes)
    except (DecodeError, orjson.JSONDecodeError, ValueError, TypeError, AttributeError):
        return None if _names_any(record.payload, ids) else record.payload


def _without_protobuf(record: SpoolRecord, goes: Callable[[bytes], bool]) -> bytes | None:
    owners: Any
    if record.signal is Signal.TRACES:
        traces = ExportTraceServiceRequest.FromString(record.payload)
        request: ExportTraceServiceRequest | ExportLogsServiceRequest = traces
        owners, scopes_name, items_name = traces.resource_spans, "scope_spans", "spans"
    else:
        logs = ExportLogsServiceRequest.FromString(record.payload)
        request = logs
        owners, scopes_name, items_name = logs.resource_logs, "scope_logs", "log_records"
    is_changed = False
    for owner in list(owners):
        scopes = getattr(owner, scopes_name)
        for scope in list(scopes):
            items = getattr(scope, items_name)
            kept = [item for item in items if not goes(item.trace_id)]
            if len(kept) < len(items):
                is_changed = True
                del items[:]
                items.extend(kept)
                if not kept:
                    scopes.remove(scope)
        if is_changed and not scopes:
            owners.remove(owner)
    if not is_changed:
        return record.payload
    return request.SerializeToString() if owners else None


def _without_json(record: SpoolRecord, goes: Callable[[bytes], bool]) -> bytes | None:
    names = {
        Signal.TRACES: ("resourceSpans", "scopeSpans", "spans"),
        Signal.LOGS: ("resourceLogs", "scopeLogs", "logRecords"),
    }
    owners_name, scopes_name, items_name = names[record.signal]
    request = orjson.loads(record.payload)
    is_changed = False
    owners = []
    for owner in request.get(owners_name) or []:
        scopes = []
        for scope in owner.get(scopes_name) or []:
            items = scope.get(items_name) or []
            kept = [item for item in items if not goes(bytes.fromhex(item.get("traceId") or ""))]
            if len(kept) < len(items):
                is_changed = True
                scope[items_name] = kept
                if not kept:
                    continue
            scopes.append(scope)
        owner[scopes_name] = scopes
        if scopes:
            owners.append(owner)
    if not is_changed:
        return record.payload
    request[owners_name] = owners
    return orjson.dumps(request) if owners else None


def _names_any(content: bytes, ids: Collection[bytes]) -> bool:
    lowered = content.lower()
    return any(one in content or one.hex().encode() in lowered for one in ids)


def _rewrite(path: Path, records: list[SpoolRecord]) -> None:
    """Puts a segment with these records in the place of `path`, all or nothing; it stays as old as it was."""
    age = path.stat()
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        for record in records:
            file.write(record.header() + record.payload)
        file.flush()
        os.fsync(file.fileno())
    os.utime(temporary, ns=(age.st_atime_ns, age.st_mtime_ns))
    temporary.replace(path)


def _clear_quarantine(folder: Path, ids: Collection[bytes], before_ns: int | None) -> tuple[int, int]:
    if not folder.is_dir():
        return 0, 0
    gone = left = 0
    for path in sorted(found for found in folder.iterdir() if found.is_file()):
        is_old = before_ns is not None and path.stat().st_mtime_ns <= before_ns
        if is_old or _names_any(path.read_bytes(), ids):
            path.unlink()
            gone += 1
        else:
            left += 1
    sync_directory(folder)
    return gone, left
