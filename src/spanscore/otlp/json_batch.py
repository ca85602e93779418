"""Gathers OTLP/JSON objects, from one request or from many lines of a file, and turns them into RawTables at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from spanscore.errors import DecodeError
from spanscore.otlp import json_columns as column
from spanscore.otlp.flatten import FlatLogs, FlatTable, FlatTraces
from spanscore.otlp.json_columns import JsonObject
from spanscore.otlp.json_tables import SpanTables, log_table, resource_table, scope_table, span_tables
from spanscore.otlp.limits import SpanLimits
from spanscore.otlp.schema import RawTables
from spanscore.otlp.validate import checked_logs, checked_traces


@dataclass(frozen=True)
class Signal:
    """The names a signal has in OTLP/JSON."""

    resources: str
    scopes: str
    items: str


TRACES = Signal("resourceSpans", "scopeSpans", "spans")
LOGS = Signal("resourceLogs", "scopeLogs", "logRecords")

MALFORMED_RESOURCE = "malformed_resource"
MALFORMED_SCOPE = "malformed_scope"


@dataclass
class _Items:
    """Spans or log records with the row of the scope each is in."""

    objects: list[JsonObject] = field(default_factory=list)
    scope_index: list[int] = field(default_factory=list)


@dataclass
class JsonBatch:
    """Objects gathered so far; an owner object may be completed as long as the tables are not made."""

    owners: list[JsonObject] = field(default_factory=list)
    scopes: list[JsonObject] = field(default_factory=list)
    owner_of_scope: list[int] = field(default_factory=list)
    limits: SpanLimits = field(default_factory=SpanLimits)
    items: dict[Signal, _Items] = field(default_factory=lambda: {TRACES: _Items(), LOGS: _Items()})

    def __len__(self) -> int:
        return sum(len(items.objects) for items in self.items.values())

    def add_request(self, request: Any, signal: Signal) -> None:
        """Adds a whole export request, or nothing of it.

        Raises:
            DecodeError: the request is not shaped like OTLP down to its lists of spans or log records.
        """
        (request,) = column.objects_in([request], "the document")
        owners = column.objects_in(_list(request, signal.resources), signal.resources)
        scope_lists = [column.objects_in(_list(owner, signal.scopes), signal.scopes) for owner in owners]
        item_lists = [[_list(scope, signal.items) for scope in scopes] for scopes in scope_lists]
        for owner, scopes, lists in zip(owners, scope_lists, item_lists, strict=True):
            owner_index = self.add_owner(owner)
            for scope, items in zip(scopes, lists, strict=True):
                self.add_items(items, signal, scope_index=self.add_scope(scope, owner_index=owner_index))

    def add_owner(self, owner: JsonObject) -> int:
        """The row of a ResourceSpans or ResourceLogs object."""
        self.owners.append(owner)
        return len(self.owners) - 1

    def add_scope(self, scope: JsonObject, *, owner_index: int) -> int:
        """The row of a ScopeSpans or ScopeLogs object."""
        self.scopes.append(scope)
        self.owner_of_scope.append(owner_index)
        return len(self.scopes) - 1

    def add_items(self, items: Sequence[JsonObject], signal: Signal, *, scope_index: int) -> None:
        """Adds spans or log records of one scope."""
        self.items[signal].objects.extend(items)
        self.items[signal].scope_index.extend([scope_index] * len(items))

    def tables(self) -> RawTables:
        """The tables of everything gathered.

        Raises:
            DecodeError: any object is malformed.
        """
        resources, scopes = resource_table(self.owners), scope_table(self.scopes)
        traces, logs = self.items[TRACES], self.items[LOGS]
        tables = checked_traces(
            self._traces(span_tables(traces.objects), traces.scope_index, resources, scopes), self.limits
        )
        if not logs.objects:
            return tables
        records = self._owned(log_table(logs.objects), logs.scope_index)
        found = checked_logs(FlatLogs(resources, scopes, records), self.limits)
        return replace(tables, log_records=found.log_records, rejected_log_records=found.rejected_log_records)

    def sound_tables(self) -> RawTables:
        """The tables of everything sound, with what is malformed left out and counted by reason."""
        try:
            return self.tables()
        except DecodeError:
            rejected = self._drop_malformed()
        tables = self.tables()
        return replace(
            tables,
            rejected_spans=dict(rejected[TRACES] + Counter(tables.rejected_spans)),
            rejected_log_records=dict(rejected[LOGS] + Counter(tables.rejected_log_records)),
        )

    def _drop_malformed(self) -> dict[Signal, Counter[str]]:
        bad_owners = _malformed(self.owners, resource_table)
        bad_scopes = _malformed(self.scopes, scope_table)
        for row in bad_owners:
            self.owners[row] = {}
        for row in bad_scopes:
            self.scopes[row] = {}
        rejected = {}
        builders: dict[Signal, Callable[[Sequence[JsonObject]], object]] = {TRACES: span_tables, LOGS: log_table}
        for signal, build in builders.items():
            items = self.items[signal]
            reasons = _malformed(items.objects, build)
            for row, scope in enumerate(items.scope_index):
                if self.owner_of_scope[scope] in bad_owners:
                    reasons[row] = MALFORMED_RESOURCE
                elif scope in bad_scopes:
                    reasons[row] = MALFORMED_SCOPE
            kept = [row for row in range(len(items.objects)) if row not in reasons]
            self.items[signal] = _Items([items.objects[row] for row in kept], [items.scope_index[row] for row in kept])
            rejected[signal] = Counter(reasons.values())
        return rejected

    def _traces(self, parts: SpanTables, scope_index: list[int], resources: FlatTable, scopes: FlatTable) -> FlatTraces:
        return FlatTraces(resources, scopes, self._owned(parts.spans, scope_index), parts.events, parts.links)

    def _owned(self, items: FlatTable, scope_index: list[int]) -> FlatTable:
        scopes = pa.array(scope_index, pa.int64())
        owners = pa.array(self.owner_of_scope, pa.int64()).take(scopes)
        table = items.table
        for name, values in (("resource_index", owners), ("scope_index", scopes)):
            table = table.set_column(table.schema.get_field_index(name), name, values)
        return FlatTable(table, items.odd_rows)


def _list(parent: JsonObject, name: str) -> list[Any]:
    return column.lists([parent.get(name)], name)[0]


def _malformed(objects: Sequence[JsonObject], build: Callable[[Sequence[JsonObject]], object]) -> dict[int, str]:
    """The reason of each object that cannot be built, by its row: halves are tried until the bad ones stand alone."""
    found: dict[int, str] = {}
    pending = [(0, len(objects))]
    while pending:
        start, end = pending.pop()
        try:
            build(objects[start:end])
        except DecodeError as error:
            if end - start == 1:
                found[start] = error.reason
            else:
                middle = (start + end) // 2
                pending += [(start, middle), (middle, end)]
    return found
