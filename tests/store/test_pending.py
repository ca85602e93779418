"""Which of the traces that wait is derived first, and what is known of how long they wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanscore.store import Store, derive

S = 1_000_000_000


def pending(store: Store) -> set[int]:
    rows = store.connection.execute("select distinct trace_id from pending_traces").fetchall()
    return {int(trace_id, 16) for (trace_id,) in rows}


def span(trace: int, number: int, start: int) -> dict[str, Any]:
    return {
        "trace_id": trace.to_bytes(16, "big"),
        "span_id": number.to_bytes(8, "big"),
        "start_time_unix_nano": start,
        "end_time_unix_nano": start + 1,
    }


@pytest.mark.slow
def test_old_traces_that_keep_growing_do_not_keep_new_ones_waiting(tmp_path: Path, make_tables: Any) -> None:
    """Five traces of long ago get a span before every round, and a round has room for three traces."""
    with Store.open(tmp_path / "store") as store:
        waited: dict[int, int] = {}
        for step in range(6):
            grown = [span(trace, 1000 * trace + step, trace) for trace in range(1, 6)]
            new = [span(100 + step, 1, 1_000_000 + step)] if step < 2 else []
            store.load(make_tables([*grown, *new]), source="test")
            # Each trace alone has at least as many spans as a third of this.
            store.derive(round_spans=3 * (step + 1), until=0.0)
            for trace in pending(store):
                waited[trace] = waited.get(trace, 0) + 1

        assert pending(store).isdisjoint((100, 101))
        assert max(waited.get(trace, 0) for trace in (100, 101)) <= 3


def test_a_trace_waits_since_its_oldest_request_was_received(tmp_path: Path, make_tables: Any) -> None:
    with Store.open(tmp_path / "store") as store:
        assert store.waiting_since_ns() is None
        store.load(make_tables([span(1, 1, 1)]), source="otlp", received_ns=70 * S)
        store.load(make_tables([span(1, 2, 1)]), source="otlp", received_ns=90 * S)
        store.load(make_tables(logs=[{"trace_id": bytes(15) + b"\x02"}]), source="otlp", received_ns=80 * S)
        store.load(make_tables([span(3, 1, 1)]), source="otlp", received_ns=2**62)
        store.load(make_tables([span(4, 1, 1)]), source="file")
        since = dict(
            store.connection.execute(
                "select trace_id[-1]::int, if(waiting_since > current_localtimestamp() - interval 1 hour, "
                "null, epoch(waiting_since)) from pending_traces"
            ).fetchall()
        )

        assert since == {1: 70, 2: 80, 3: None, 4: None}
        assert store.waiting_since_ns() == 70 * S
        ((future,),) = store.connection.execute(
            "select count(*) from pending_traces where waiting_since > current_localtimestamp()"
        ).fetchall()
        assert future == 0


def test_what_is_put_back_to_be_joined_waits_since_it_did(tmp_path: Path, make_tables: Any) -> None:
    """Two traces turn out to be one run: both are derived again, and neither goes behind what came meanwhile."""
    hop = {"attributes": {"messaging.system": "kafka", "messaging.operation.type": "process"}}
    with Store.open(tmp_path / "store") as store:
        link = {"linked_trace_id": span(1, 1, 1)["trace_id"], "linked_span_id": span(1, 1, 1)["span_id"]}
        store.load(make_tables([span(1, 1, 1)]), source="otlp", received_ns=10 * S)
        store.load(
            make_tables([{**span(2, 1, 5), **hop}], links=[{"span_index": 0, **link}]),
            source="otlp",
            received_ns=20 * S,
        )
        store.derive(round_spans=1, until=0.0)
        assert pending(store) == {2}
        store.derive(round_spans=1, until=0.0)
        assert pending(store) == {1, 2}
        assert store.waiting_since_ns() == 20 * S


@pytest.mark.parametrize("during", ["_derive_batch", "_end_round"])
def test_what_went_wrong_is_told_where_the_transaction_is_over_already(
    tmp_path: Path, make_tables: Any, monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    """As after a commit that failed: there is nothing left to roll back."""
    step = {"_derive_batch": "publish_runs", "_end_round": "trace_edges"}[during]
    run = derive._run

    def failing(con: Any, name: str) -> None:
        if name.endswith(f"/{step}.sql"):
            con.execute("commit")
            raise OSError("the disk is full")
        run(con, name)

    monkeypatch.setattr(derive, "_run", failing)
    with Store.open(tmp_path / "store") as store:
        store.load(make_tables([span(1, 1, 1)]), source="test")
        with pytest.raises(OSError, match="the disk is full"):
            store.derive()
