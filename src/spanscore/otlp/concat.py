"""Several RawTables as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from spanscore.otlp.schema import RawTables

_TABLES = ("resources", "scopes", "spans", "span_events", "span_links", "log_records")
_INDEXED = {"resource_index": "resources", "scope_index": "scopes", "span_index": "spans"}


def concat_raw_tables(parts: Sequence[RawTables]) -> RawTables:
    """The rows of all parts in order, with their indexes pointing at the same rows as before."""
    if len(parts) == 1:
        return parts[0]
    before: Counter[str] = Counter()
    shifted: dict[str, list[pa.Table]] = {name: [] for name in _TABLES}
    for part in parts:
        for name in _TABLES:
            shifted[name].append(_shifted(getattr(part, name), before))
        before.update({name: len(getattr(part, name)) for name in _INDEXED.values()})
    empty = RawTables()
    tables = {name: pa.concat_tables([getattr(empty, name), *found]) for name, found in shifted.items()}
    return RawTables(
        **tables,
        rejected_spans=dict(sum((Counter(part.rejected_spans) for part in parts), Counter())),
        rejected_log_records=dict(sum((Counter(part.rejected_log_records) for part in parts), Counter())),
    )


def _shifted(table: pa.Table, before: Counter[str]) -> pa.Table:
    for column, target in _INDEXED.items():
        place = table.schema.get_field_index(column)
        if place >= 0 and before[target]:
            table = table.set_column(place, column, pc.add(table[column], pa.scalar(before[target], pa.int64())))
    return table
