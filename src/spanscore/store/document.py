"""Writes the data model page from the comments in a new store.

python -m spanscore.store.document docs/data-model.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.store import derive
from spanscore.store.migrate import known_migrations
from spanscore.store.store import Store

if TYPE_CHECKING:
    import duckdb

_RAW = ("spans", "span_events", "span_links", "log_records", "resources", "scopes")
_BOOKKEEPING = (
    "ingest_accounting",
    "span_conflicts",
    "pending_traces",
    "spool_manifest",
    "store_meta",
    "archive_parts",
    "archive_files",
    "archived_traces",
    "archive_returned",
    "evaluator_versions",
    "scored_subjects",
    "score_outbox",
    "destination_failures",
    "alert_states",
    "alert_outbox",
    "schema_migrations",
)

_HEAD = """\
# Data model

What `spanscore sql` and evaluators read: schema {schema}, trajectory model {model}. `duckdb_columns()` shows the same
in a store. This page is made from the comments there by `python -m spanscore.store.document docs/data-model.md`.

- Ids are lower-case hex. Moments are UTC. NULL is unknown or not sent, and 0 is a reported zero.
- Units stand in brackets, and in names as a suffix: `_ns`, `_s`, `_tokens`, `_usd`.
- Attributes are `MAP(VARCHAR, VARIANT)` and keep the type that was sent:
  `attributes['gen_ai.usage.input_tokens']::bigint`.
- There are no keys and no foreign keys: signals arrive in any order, and a span may come before or without its parent.
"""

_SECTIONS = {
    "Trajectory": "What the agents did, derived from the raw tables whenever a trace gets new rows.",
    "Raw telemetry": "What was received, in OTLP's own words, nothing interpreted and nothing lost.",
    "Bookkeeping": "What became of everything received, and the state of the store.",
    "Prices and scores": "What calls cost, and what was scored.",
}


def data_model() -> str:
    """The page as Markdown."""
    with tempfile.TemporaryDirectory() as directory, Store.open(Path(directory)) as store:
        tables = _tables(store.connection)
        sections = {
            "Trajectory": list(derive.TABLES),
            "Raw telemetry": list(_RAW),
            "Bookkeeping": [*_BOOKKEEPING, *(name for name in derive.DERIVED_TABLES if name not in derive.TABLES)],
        }
        placed = {name for names in sections.values() for name in names}
        sections["Prices and scores"] = [name for name in tables if name not in placed]
        parts = [_HEAD.format(schema=known_migrations()[-1].version, model=derive.MODEL_VERSION)]
        for heading, names in sections.items():
            if not names:
                continue
            parts.append(f"## {heading}\n\n{_SECTIONS[heading]}\n")
            parts.extend(_section(store.connection, name, tables[name]) for name in names)
    return "\n".join(parts)


def _tables(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    rows = connection.execute(
        """
        select table_name, coalesce(comment, '')
        from duckdb_tables()
        where database_name = current_database() and not temporary
        order by table_name
        """
    ).fetchall()
    return dict(rows)


def _section(connection: duckdb.DuckDBPyConnection, name: str, comment: str) -> str:
    columns = connection.execute(
        """
        select column_name, data_type, coalesce(comment, '')
        from duckdb_columns()
        where database_name = current_database() and table_name = ?
        order by column_index
        """,
        [name],
    ).fetchall()
    lines = [f"| `{column}` | {_cell(kind)} | {_cell(meaning)} |" for column, kind, meaning in columns]
    return "\n".join([f"### {name}", "", comment, "", "| Column | Type | Meaning |", "|---|---|---|", *lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(data_model(), encoding="utf-8")
