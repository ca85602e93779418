"""What became of numbered spans: acknowledged, stored, lost, doubled."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_spans import SPANS_PER_REQUEST

# Ids of spans are numbers: the series in the upper half, the place in the series in the lower.
_PER_REQUEST = f"""
select
    ('0x' || substr(span_id, 1, 8))::bigint as series,
    ('0x' || substr(span_id, 9, 8))::bigint // {SPANS_PER_REQUEST} as request,
    count(*) as n,
    count(distinct span_id) as n_distinct
from spans
group by all
"""


@dataclass(frozen=True, slots=True)
class Balance:
    """What became of the spans [spans].

    Attributes:
        acked: acknowledged to the sender.
        stored: rows in the store, those never acknowledged included: an answer can be lost on its way.
        lost: acknowledged, and not in the store.
        doubled: rows beyond the first of each span.
    """

    acked: int
    stored: int
    lost: int
    doubled: int


def reconcile(store: Path, acked: Mapping[int, AbstractSet[int]]) -> Balance:
    """Compares the acknowledged requests of each series of `AgentSpans` with the rows of the store."""
    from spanscore.store import read_session

    with read_session(store, wait_s=30.0) as session:
        rows = session.rows(_PER_REQUEST)
    present = {(series, request): n_distinct for series, request, _, n_distinct in rows}
    return Balance(
        acked=sum(len(requests) for requests in acked.values()) * SPANS_PER_REQUEST,
        stored=sum(n for _, _, n, _ in rows),
        lost=sum(
            SPANS_PER_REQUEST - present.get((series, request), 0)
            for series, requests in acked.items()
            for request in requests
        ),
        doubled=sum(n - n_distinct for _, _, n, n_distinct in rows),
    )
