"""The data model page says what the store says."""

from __future__ import annotations

from pathlib import Path

from spanscore.store import Store, derive
from spanscore.store.document import data_model

PAGE = Path(__file__).parents[2] / "docs" / "data-model.md"


def test_the_page_is_up_to_date() -> None:
    """Make it so with `python -m spanscore.store.document docs/data-model.md`."""
    assert data_model() == PAGE.read_text(encoding="utf-8")


def test_every_column_of_the_trajectory_says_what_it_means(store: Store) -> None:
    silent = store.connection.execute(
        """
        select table_name || '.' || column_name from duckdb_columns()
        where database_name = current_database() and table_name in (select unnest($1)) and comment is null
        """,
        [list(derive.DERIVED_TABLES)],
    ).fetchall()

    assert silent == []
