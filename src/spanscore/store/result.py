"""What a query gives back: columns, and rows that are read as they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result: its name, unique in the result, and its DuckDB type in capitals."""

    name: str
    type: str


@dataclass(slots=True)
class QueryResult:
    """The rows of a query, read as they are asked for; where they come from must stay open meanwhile.

    A value is None, bool, int, float, Decimal, str, bytes, UUID, or a list or dict of these. Moments are ISO 8601 text
    in UTC with as many decimals as they have; a JSON column is its text.
    """

    columns: tuple[Column, ...]
    rows: Iterator[tuple[Any, ...]]
    is_truncated: bool = field(default=False)
    """Whether there were more rows than the limit; known once `rows` is exhausted."""


@dataclass(frozen=True, slots=True)
class ArrowResult:
    """The rows of a query as Arrow batches, read as they are asked for."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]

    def table(self) -> pa.Table:
        """All rows at once."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches, self.schema)
