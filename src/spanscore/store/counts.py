"""What became of everything that was received."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SignalCounts:
    """Spans, or log records [count]; received = stored + duplicate + conflict + the sum of rejected, always."""

    received: int = 0
    stored: int = 0
    duplicate: int = 0
    conflict: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: SignalCounts) -> SignalCounts:
        return SignalCounts(
            received=self.received + other.received,
            stored=self.stored + other.stored,
            duplicate=self.duplicate + other.duplicate,
            conflict=self.conflict + other.conflict,
            rejected=dict(Counter(self.rejected) + Counter(other.rejected)),
        )

    @property
    def is_balanced(self) -> bool:
        """Whether everything received is accounted for."""
        return self.received == self.stored + self.duplicate + self.conflict + sum(self.rejected.values())


@dataclass(frozen=True, slots=True)
class LoadCounts:
    """What one load, or several added up, did with spans and log records."""

    spans: SignalCounts = field(default_factory=SignalCounts)
    log_records: SignalCounts = field(default_factory=SignalCounts)

    def __add__(self, other: LoadCounts) -> LoadCounts:
        return LoadCounts(spans=self.spans + other.spans, log_records=self.log_records + other.log_records)


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """How far a spool segment has been loaded.

    `end_offset` [bytes from the start of the segment] is where the next record begins; `records` [count] is how many
    the load took.
    """

    segment: str
    end_offset: int
    records: int
