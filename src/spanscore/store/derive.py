"""From raw spans to trajectories: runs the SQL of `queries/trajectory` over the traces that changed.

What a span means is written in `queries/`; here is only the order of the steps, the size of a batch and the
transactions. Every step is set-based. The pending traces are dealt into batches, each derived in a transaction of its
own, several at a time where there are processors for it; a last transaction joins what turned out to belong together
and takes the traces off `pending_traces`. A crash in between leaves them pending, and deriving them again gives the
same rows.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from functools import cache
from queue import SimpleQueue

import duckdb
import pyarrow as pa

from spanscore.store.archive.recall import recall_pending
from spanscore.store.prices import install_prices, price_calls
from spanscore.store.queries import query_path, read_query
from spanscore.store.transactions import roll_back

MODEL_VERSION = 3
"""Raise it when a change of `queries/` changes what the trajectory tables hold: stores are then derived again."""

BATCH_SPANS = 30_000
"""Spans derived in one batch [spans]: bounds memory; a trace and those it is joined with are never split."""

ROUND_SPANS = 2_000_000
"""Spans that are dealt into batches at a time [spans]."""

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
    "adoption",
    "span_tree",
    "span_runs",
    "agents",
    "event_messages",
    "message_lists",
    "message_parts",
    "flat_messages",
    "llm_spans",
    "llm_calls",
    "transcripts",
    "tool_parts",
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
    "open_conversations",
)
"""Files of `queries/trajectory/steps` after the attributes are read, in the order in which they use each other."""


def install(con: duckdb.DuckDBPyConnection) -> None:
    """Creates the trajectory tables where they are missing."""
    for table in DERIVED_FILES:
        con.execute(read_query(f"trajectory/tables/{table}.sql"))
    install_prices(con)


def install_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Creates, on this connection alone, the macros and the attribute map that the steps use."""
    for name in MACROS:
        con.execute(read_query(f"macros/{name}.sql"))
    con.register("attribute_map", _attribute_map())
    con.execute(_pattern_text())


def derive(
    con: duckdb.DuckDBPyConnection,
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: int | None = None,
    round_spans: int = ROUND_SPANS,
    until: float | None = None,
) -> int:
    """Rebuilds the trajectory rows of the pending traces.

    Args:
        con: a read-write connection to a store whose tables `install` made.
        progress: called after each batch with the traces done and the traces there were [traces].
        workers: batches derived at a time; None = as many as DuckDB has threads.
        round_spans: how many spans to deal into batches before looking at `pending_traces` again [spans].
        until: moment of `time.monotonic` after which no further round is begun [s]; None = go on until none is pending.

    Returns:
        How many traces were derived [traces].
    """
    total = _count(con, "select count(*) from pending_traces")
    done = 0
    threads = thread_count(con)
    # A batch is too small for DuckDB to divide. Threads of its own would only take tasks from each other: with them,
    # two batches side by side cost a quarter more processor time.
    set_threads(con, 1)
    try:
        while (taken := take_round(con, round_spans)).num_rows:
            for traces_done in derive_round(con, taken, workers=workers or threads):
                done += traces_done
                if progress is not None:
                    progress(min(done, total), total)
            if until is not None and time.monotonic() >= until:
                break
    finally:
        set_threads(con, threads)
    return done


def take_round(con: duckdb.DuckDBPyConnection, round_spans: int) -> pa.Table:
    """Pending traces of about `round_spans` spans, what waits longest first, with those they share a run with.

    Returns:
        A row per trace: trace_id, group_id (of what is one run) and batch (number of the batch it is dealt into).
    """
    # Deriving reads a trace whole, from the database alone.
    recall_pending(con)
    query = read_query("trajectory/steps/take_round.sql")
    parameters = {"batch_spans": BATCH_SPANS, "round_spans": round_spans}
    return con.sql(query, params=parameters).to_arrow_table()


def derive_round(con: duckdb.DuckDBPyConnection, taken: pa.Table, *, workers: int) -> Iterator[int]:
    """Derives the traces of a round, and yields how many each batch had [traces].

    To be exhausted: the round ends after its last batch.
    """
    # Whoever only reads a store imports this file too, and not what takes longest of it.
    import pyarrow.compute as pc

    batches = [
        taken.filter(pc.equal(taken["batch"], batch)).select(["trace_id", "group_id"])
        for batch in pc.unique(taken["batch"]).to_pylist()
    ]
    yield from _derive_batches(con, batches, min(len(batches), workers))
    _end_round(con, taken)


def thread_count(con: duckdb.DuckDBPyConnection) -> int:
    """How many threads DuckDB has, whatever the connection."""
    return _count(con, "select current_setting('threads')")


def set_threads(con: duckdb.DuckDBPyConnection, threads: int) -> None:
    """Gives DuckDB so many threads, on every connection."""
    con.execute(f"set threads = {threads}")


def _derive_batches(con: duckdb.DuckDBPyConnection, batches: list[pa.Table], workers: int) -> Iterator[int]:
    """Derives the batches, several at a time, and yields how many traces each had."""
    connections: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(workers):
            connection = stack.enter_context(con.cursor())
            install_macros(connection)
            connections.put(connection)
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=workers))
        derived = [pool.submit(_derive_batch, connections, batch) for batch in batches]
        for future in as_completed(derived):
            yield future.result()


def _derive_batch(connections: SimpleQueue[duckdb.DuckDBPyConnection], traces: pa.Table) -> int:
    """Replaces the rows of the traces over a connection that is free; returns how many traces there were."""
    con = connections.get()
    try:
        con.register("taken_traces", traces)
        con.execute("create or replace temp table batch_traces as from taken_traces")
        con.begin()
        try:
            _read_attributes(con)
            _forget(con)
            for step in STEPS:
                _run(con, f"trajectory/steps/{step}.sql")
                if step == "calls_to_price":
                    price_calls(con)
            _drop_temporary(con)
            con.commit()
        except BaseException:
            roll_back(con)
            raise
    finally:
        connections.put(con)
    return int(traces.num_rows)


def _drop_temporary(con: duckdb.DuckDBPyConnection) -> None:
    """Drops what the batch was worked out in: kept until the next batch replaces it, it would be there twice."""
    for (name,) in con.execute("select table_name from duckdb_tables() where temporary").fetchall():
        con.execute(f'drop table temp."{name}"')


def _read_attributes(con: duckdb.DuckDBPyConnection) -> None:
    _run(con, "trajectory/steps/batch_rows.sql")
    _run(con, "trajectory/steps/batch_spans.sql")
    _run(con, "trajectory/steps/cycles.sql")
    _run(con, "trajectory/steps/span_values.sql")
    for convention in CONVENTIONS:
        _run(con, f"conventions/{convention}.sql")
    _run(con, "trajectory/steps/span_facts.sql")
    _run(con, "trajectory/steps/delegations.sql")
    _pivot(con)


def _forget(con: duckdb.DuckDBPyConnection) -> None:
    """Deletes what an earlier derivation of these traces left; a trace that left rows left a run or a finding."""
    traces = "(select trace_id from batch_traces)"
    for table in ("runs", "findings"):
        if _count(con, f"select count(*) from {table} where trace_id in {traces}"):
            break
    else:
        return
    for table in TABLES:
        con.execute(f"delete from {table} where trace_id in {traces}")


def _end_round(con: duckdb.DuckDBPyConnection, taken: pa.Table) -> None:
    """Joins traces of one run, takes the round off `pending_traces` and puts back what has to be derived together."""
    con.register("round_traces", taken)
    con.begin()
    try:
        _run(con, "trajectory/steps/trace_edges.sql")
        con.execute("delete from pending_traces where trace_id in (select trace_id from round_traces)")
        con.execute("insert into pending_traces by name from reopened_traces")
        con.commit()
    except BaseException:
        roll_back(con)
        raise
    finally:
        con.unregister("round_traces")


@cache
def _attribute_map() -> pa.Table:
    """The attribute map of `queries/conventions`: which key gives which column, in what order."""
    with query_path("conventions/attributes.csv").open(encoding="utf-8", newline="") as file:
        rows = [{key: value or None for key, value in row.items()} for row in csv.DictReader(file)]
    return pa.table(
        {
            "column_name": [row["column"] for row in rows],
            "priority": pa.array([int(row["priority"] or 0) for row in rows], pa.int32()),
            **{name: pa.array([row[name] for row in rows], pa.string()) for name in ("key", "path", "scope", "unit")},
        }
    )


@cache
def _pattern_text() -> str:
    """The macro that reads a text by a pattern of the attribute map.

    A pattern that stands in the statement is compiled once, one that comes from a row is compiled for every row: 14 us
    each, more than everything else that is done with the attribute.
    """
    paths = dict.fromkeys(path for path in _attribute_map()["path"].to_pylist() if path and path.startswith("~"))
    quoted = {path: "'" + path.replace("'", "''") + "'" for path in paths}
    cases = " ".join(f"when {text} then nullif(regexp_extract(value, '{text[2:]}, 1), '')" for text in quoted.values())
    return f"create or replace temp macro pattern_text(value, path) as case path {cases} end"


def _pivot(con: duckdb.DuckDBPyConnection) -> None:
    """Makes `span_facts` of `span_values`: a row per span with every canonical column, in the order of the map.

    A trace fills few of the columns. Those are a table; in the view over it the others are NULL and cost nothing.
    """
    filled = {name for (name,) in con.execute("select distinct column_name from span_values").fetchall()}
    columns = tuple(dict.fromkeys(_attribute_map()["column_name"].to_pylist()))
    stored = [column for column in columns if column in filled] or [columns[0]]
    names = ", ".join(f"'{column}'" for column in stored)
    con.execute(
        "create or replace temp table filled_facts as pivot "
        f"(from span_values union all select s, '{stored[0]}', null from batch_spans) "
        f"on column_name in ({names}) using any_value(value) group by s"
    )
    con.execute("drop table span_values")
    listed = ", ".join(column if column in stored else f"null::varchar as {column}" for column in columns)
    con.execute(f"create or replace temp view span_facts as select s, {listed} from filled_facts")


def _run(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(read_query(name))


def _count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(con.execute(query).fetchall()[0][0])
