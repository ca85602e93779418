"""Checkpoints merge row groups after little was written, and leave them alone after much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from spanscore.store import Store
from spanscore.store.connection import database_path
from spanscore.store.merging import LITTLE
from spanscore.store.writing import transaction


def row_groups(directory: Path) -> list[int]:
    """Rows of each row group of `spans`, sorted."""
    with duckdb.connect(str(database_path(directory)), read_only=True) as connection:
        rows = connection.execute(
            "select max(start + count) - min(start) from pragma_storage_info('spans') "
            "where column_name = 'trace_id' and segment_type = 'VARCHAR' group by row_group_id"
        ).fetchall()
    return sorted(n for (n,) in rows)


def load(directory: Path, make_tables: Any, first: int, spans: int, *, checkpoint: bool) -> None:
    with Store.open(directory) as store:
        rows = [{"trace_id": (first + n).to_bytes(16, "big")} for n in range(spans)]
        store.load(make_tables(rows), source="test")
        if checkpoint:
            store.checkpoint()


@pytest.mark.parametrize("checkpoint", [True, False], ids=["checkpoint", "close"])
def test_a_store_that_grows_a_little_at_a_time_has_few_row_groups(
    tmp_path: Path, make_tables: Any, *, checkpoint: bool
) -> None:
    for number in range(12):
        load(tmp_path / "store", make_tables, 1 + 100 * number, 100, checkpoint=checkpoint)
    assert sum(row_groups(tmp_path / "store")) == 1200
    assert len(row_groups(tmp_path / "store")) < 6


@pytest.mark.parametrize("checkpoint", [True, False], ids=["checkpoint", "close"])
def test_a_checkpoint_after_much_was_written_writes_no_row_group_again(
    tmp_path: Path, make_tables: Any, *, checkpoint: bool
) -> None:
    for number in range(4):
        load(tmp_path / "store", make_tables, 1 + 2 * LITTLE * number, LITTLE, checkpoint=checkpoint)
    assert row_groups(tmp_path / "store") == [LITTLE] * 4


def test_writing_scores_and_alerts_merges_nothing(tmp_path: Path, make_tables: Any) -> None:
    for number in range(4):
        load(tmp_path / "store", make_tables, 1 + 2 * LITTLE * number, LITTLE, checkpoint=False)
    with transaction(tmp_path / "store", wait_s=0) as connection:
        connection.execute("insert into alert_states values ('a', 's', 'ok', now()::timestamp, null, 1, 'r')")
    assert row_groups(tmp_path / "store") == [LITTLE] * 4
