"""Reading sessions: a connection that can read the store and nothing else, and runs one SELECT at a time."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb

from spanscore.errors import QueryError, QueryTimeout, StoreMissing
from spanscore.store import migrate, model
from spanscore.store.archive.files import ARCHIVE_FOLDER
from spanscore.store.archive.views import archive_folder, lay_views
from spanscore.store.connection import (
    DEFAULT_WAIT_S,
    connect_for_reading,
    damage_in,
    database_path,
    default_spilling_memory_limit,
)
from spanscore.store.directory import spool_bytes, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    Parameters = Sequence[object] | Mapping[str, object]


class ReadSession:
    """A locked-down read-only connection. Parameters are bound, never spliced."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        timeout_s: float | None,
        whole_tables: Mapping[str, str] | None = None,
    ) -> None:
        """Use `read_session`."""
        self.connection = connection
        """For our own statements, such as temporary views; text from a user goes through the methods."""
        self.path = path
        self.timeout_s = timeout_s
        self.whole_tables = whole_tables or {}
        """Raw table -> a query for its live and its archived rows, where it has archived ones."""

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[tuple[Any, ...]]:
        """All rows of one SELECT."""
        self.check(sql)
        with self.refusals():
            return self.connection.execute(sql, parameters).fetchall()

    def arrow(self, sql: str, parameters: Parameters | None = None) -> pa.Table:
        """The rows of one SELECT as an Arrow table; VARIANT columns must be cast in the query."""
        self.check(sql)
        with self.refusals():
            table: pa.Table = self.connection.sql(sql, params=parameters).to_arrow_table()
        return table

    def check(self, sql: str) -> None:
        """Refuses everything but exactly one SELECT.

        A SELECT that writes in a CTE passes here; the read-only file refuses it.

        Raises:
            QueryError: it does not parse, or is no single SELECT.
        """
        with self.refusals():
            statements = self.connection.extract_statements(sql)
        if len(statements) != 1:
            raise QueryError(f"Expected one SELECT statement, got {len(statements)} statements.")
        kind = kind_of(statements[0])
        if kind != "SELECT":
            # DuckDB takes INSTALL for a kind of LOAD: what was written is what is said.
            written = re.match(r"\s*([A-Za-z]+)", statements[0].query)
            kind = kind if written is None else written[1].upper()
            raise QueryError(
                f"Only SELECT is allowed here, and this is {kind}.\n"
                "  The store is read only; FROM, WITH, VALUES, DESCRIBE and SUMMARIZE count as SELECT."
            )

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Turns DuckDB's errors into `QueryError`, and an exceeded time limit into `QueryTimeout`."""
        try:
            yield
        except duckdb.InterruptException as error:
            limit = "its time limit" if self.timeout_s is None else f"the {self.timeout_s:g} s it was allowed"
            raise QueryTimeout(
                f"The query was stopped: it ran longer than {limit}.\n  Narrow it down, or allow more with --timeout."
            ) from error
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise QueryError(
                f"The query needs more memory than it may use: {(str(error).splitlines() or ['out of memory'])[0]}\n"
                "  Narrow it down, or allow more with SPANSCORE_MEMORY_LIMIT."
            ) from error
        except duckdb.Error as error:
            raise damage_in(error, self.path.parent) or QueryError(str(error)) from error


def kind_of(statement: duckdb.Statement) -> str:
    """What a parsed statement is, such as SELECT."""
    try:
        return statement.type.name
    except ValueError:
        # UPDATE EXTENSIONS, for one, is none of the kinds that DuckDB's Python package has a name for.
        return "OTHER"


def require_store(directory: Path) -> Path:
    """The file of the store in `directory`.

    Raises:
        StoreMissing: there is none.
    """
    path = database_path(directory)
    if path.exists():
        return path
    kept = spool_bytes(directory)
    if kept:
        raise StoreMissing(
            f"There is no database in `{directory}`, but a spool that keeps {kept} bytes of what was acknowledged.\n"
            "  Make a new store of it, and be told what cannot be there:  spanscore doctor --repair "
            f"{store_option(directory)}"
        )
    if next((directory / ARCHIVE_FOLDER).rglob("*.parquet"), None) is not None:
        raise StoreMissing(
            f"There is no database in `{directory}`, but an archive that belongs to one.\n"
            "  Restore `spanscore.duckdb` from a backup of the directory. Without one, make a new store of the "
            f"archive, and be told what cannot be there:  spanscore doctor --repair {store_option(directory)}"
        )
    raise StoreMissing(
        f"There is no store in `{directory}`.\n"
        "  Make one with `spanscore ingest` or `spanscore collect`, or name another directory with --store."
    )


@contextmanager
def read_session(
    directory: Path,
    *,
    wait_s: float = DEFAULT_WAIT_S,
    timeout_s: float | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    may_spill: bool = False,
) -> Iterator[ReadSession]:
    """A reading session on the store in `directory`. While it is open no loader can write: leave it soon.

    Args:
        directory: of the store.
        wait_s: how long to wait for a writer to let go of the store [s].
        timeout_s: how long one query may run [s]; None = as long as it takes.
        memory_limit: DuckDB's, such as "2GiB"; None = `$SPANSCORE_MEMORY_LIMIT` or a share of what there is.
        threads: DuckDB's; None = `$SPANSCORE_THREADS` or one per processor.
        may_spill: whether what does not fit into memory may go to a temporary folder, gone at the end.

    Raises:
        StoreMissing: there is no store.
        StoreLocked: a writer held the store for longer than `wait_s`.
        StoreOutdated, StoreTooNew, StoreUnrecognised, StoreDamaged: it cannot be read.
    """
    path = require_store(directory)
    with ExitStack() as stack:
        spill = stack.enter_context(TemporaryDirectory(prefix="spanscore-")) if may_spill else None
        connection = connect_for_reading(
            path,
            wait_s=wait_s,
            timeout_s=timeout_s,
            memory_limit=memory_limit or (default_spilling_memory_limit() if may_spill else None),
            threads=threads,
            spill=spill,
            archive=archive_folder(directory),
        )
        stack.callback(connection.close)
        migrate.require_current(connection, path)
        model.require_current(connection, path)
        yield ReadSession(connection, path, timeout_s, lay_views(connection, directory, path.stem))
