"""From raw spans to trajectories: runs the SQL of `queries/trajectory` over the traces that changed.

What a span means is written in `queries/`; here is only the order of the steps, the size of a batch and the transaction.
Every step is set-based. A batch is one transaction: the rows of its traces are replaced together with their removal from
`pending_traces`, so a crash leaves a trace either as it was or as it should be, and still pending in the first case.
"""

import csv
from collections.abc import Callable
from functools import cache

import duckdb

from spanscore.store.prices import install_prices, price_calls
from spanscore.store.queries import query_path, read_query

MODEL_VERSION = 1
"""Raise it when a change of `queries/` changes what the trajectory tables hold: stores are then derived again."""

BATCH_SPANS = 40_000
"""Spans derived in one batch [spans]: bounds memory; a trace and those it is joined with are never split."""

MACROS = ("json", "words", "notation", "messages", "parts", "errors")
"""Files of `queries/macros`, in the order in which they use each other."""

TABLES = (
    "runs",
    "agent_invocations",
    "llm_calls",
    "tool_calls",
    "tool_requests",
    "handoffs",
    "messages",
    "retrievals",
    "findings",
)
"""Files of `queries/trajectory/tables`: the public tables, each with a `trace_id` by which its rows are replaced."""

DERIVED_FILES = (*TABLES, "trace_edges")
"""Files that create everything that can be derived again from the raw tables."""

DERIVED_TABLES = (*TABLES, "trace_edges", "open_conversations")
"""Tables that are dropped when the model changes."""

CONVENTIONS = ("claude_code",)
"""Files of `queries/conventions` that add attributes to a batch, for dialects that need more than a key."""

STEPS = (
    "span_exceptions",
    "span_class",
    "delegations",
    "adoption",
    "span_tree",
    "span_runs",
    "agents",
    "event_messages",
    "raw_messages",
    "message_parts",
    "flat_messages",
    "llm_spans",
    "llm_calls",
    "transcripts",
    "tool_requests",
    "tool_schemas",
    "tool_executions",
    "tool_calls",
    "agent_rows",
    "stated_handoffs",
    "handoffs",
    "usage_owners",
    "span_texts",
    "calls_to_price",
    "publish_calls",
    "publish_agents",
    "run_identity",
    "run_texts",
    "run_ends",
    "publish_runs",
    "publish_messages",
    "publish_findings",
    "trace_edges",
)
"""Files of `queries/trajectory/steps` after the attributes are read, in the order in which they use each other."""


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Creates the trajectory tables, and on this connection the macros and the attribute map that the steps use."""
    for name in MACROS:
        con.execute(read_query(f"macros/{name}.sql"))
    con.execute(
        "create or replace temp table attribute_map as "
        "select column_name, priority::integer as priority, key, path, scope, unit from read_csv(?, header = true,"
        " nullstr = '', columns = {'column_name': 'varchar', 'priority': 'varchar', 'key': 'varchar', 'path': 'varchar',"
        " 'scope': 'varchar', 'unit': 'varchar', 'note': 'varchar'})",
        [str(query_path("conventions/attributes.csv"))],
    )
    install_prices(con)
    for table in DERIVED_FILES:
        con.execute(read_query(f"trajectory/tables/{table}.sql"))


@cache
def canonical_columns() -> tuple[str, ...]:
    """The canonical columns of the attribute map, in the order of the file."""
    with query_path("conventions/attributes.csv").open(encoding="utf-8", newline="") as file:
        return tuple(dict.fromkeys(row["column"] for row in csv.DictReader(file)))


def derive(con: duckdb.DuckDBPyConnection, progress: Callable[[int, int], None] | None = None) -> int:
    """Rebuilds the trajectory rows of every pending trace.

    Args:
        con: a read-write connection on which `install` ran.
        progress: called after each batch with the traces done and the traces there were [traces].

    Returns:
        How many traces were derived [traces].
    """
    total = _count(con, "select count(*) from pending_traces")
    done = 0
    while _take_batch(con):
        con.begin()
        try:
            _derive_batch(con)
            con.execute("delete from pending_traces where trace_id in (select trace_id from batch_traces)")
            con.execute("insert into pending_traces select trace_id from reopened_traces")
            con.commit()
        except BaseException:
            con.rollback()
            raise
        done += _count(con, "select count(*) from batch_traces")
        if progress is not None:
            progress(min(done, total), total)
    return done


def _take_batch(con: duckdb.DuckDBPyConnection) -> bool:
    con.execute(read_query("trajectory/steps/take_batch.sql"), {"batch_spans": BATCH_SPANS})
    return _count(con, "select count(*) from batch_traces") > 0


def _derive_batch(con: duckdb.DuckDBPyConnection) -> None:
    _run(con, "trajectory/steps/batch_spans.sql")
    _run(con, "trajectory/steps/span_values.sql")
    for convention in CONVENTIONS:
        _run(con, f"conventions/{convention}.sql")
    _run(con, "trajectory/steps/span_facts.sql")
    con.execute(_pivot())
    for table in TABLES:
        con.execute(f"delete from {table} where trace_id in (select trace_id from batch_traces)")
    for step in STEPS:
        _run(con, f"trajectory/steps/{step}.sql")
        if step == "calls_to_price":
            price_calls(con)


@cache
def _pivot() -> str:
    """SQL that turns `span_values` into one row per span with every canonical column, in the order of the map."""
    columns = canonical_columns()
    listed = ", ".join(f"'{column}'" for column in columns)
    return (
        "create or replace temp table span_facts as select batch_spans.s, "
        + ", ".join(f"pivoted.{column}" for column in columns)
        + f" from batch_spans left join (pivot span_values on column_name in ({listed}) using first(value) group by s)"
        " as pivoted using (s)"
    )


def _run(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(read_query(name))


def _count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(con.execute(query).fetchall()[0][0])
