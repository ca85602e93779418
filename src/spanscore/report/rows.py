"""Rows of the project's own report queries, ready for tables and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spanscore.store.queries import read_query

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
"""One row by column name. A moment is ISO 8601 text in UTC with nine decimals: exact, and sorts by time."""

# Arrow writes the fraction of the unit after %S.
_ISO = "%Y-%m-%dT%H:%M:%SZ"


class Reader(Protocol):
    """What a report needs of a reading session."""

    def arrow(self, sql: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """The rows of one SELECT."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows and the names of their columns, which remain when there is no row."""

    columns: list[str]
    rows: list[Row]


def read_listing(reader: Reader, query: str, parameters: Mapping[str, object] | None = None) -> Listing:
    """The result of the query file `query`, such as `reports/traces.sql`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = reader.arrow(read_query(query), parameters or {})
    for index, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            exact = table.column(index).cast(pa.timestamp("ns"))
            table = table.set_column(index, column.name, pc.strftime(exact, format=_ISO))
    return Listing(table.column_names, table.to_pylist())


def read_rows(reader: Reader, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
    """The rows of the query file `query`."""
    return read_listing(reader, query, parameters).rows
