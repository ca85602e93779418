"""What a reading session sees of the archive: views that put its rows to those of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from spanscore.store.archive.files import ARCHIVE_FOLDER, RAW_TABLES, READ_AS, literal
from spanscore.store.archive.recall import install_macros
from spanscore.store.connection import damage_in

if TYPE_CHECKING:
    from pathlib import Path


def archive_folder(directory: Path) -> Path | None:
    """The folder of the archive of a store, absolute; None where nothing was archived."""
    folder = directory.absolute() / ARCHIVE_FOLDER
    return folder if folder.is_dir() else None


def whole_tables(connection: duckdb.DuckDBPyConnection, directory: Path, database: str) -> dict[str, str]:
    """Raw table -> a query for all its rows, live and archived; a table that has none in the archive is left out.

    The connection needs the macros of `install_macros`, and leave to read the folder.
    """
    rows = connection.execute(
        """
        select
            archive_files.table_name,
            archive_parts.schema_version,
            archive_files.part in (select part from archive_returned) as has_returned,
            list(struct_pack(part := archive_files.part, path := archive_files.path) order by archive_files.path)
        from archive_files
        inner join archive_parts using (part)
        group by all
        order by all
        """
    ).fetchall()
    sources: dict[str, list[str]] = {}
    for table, _, has_returned, files in rows:
        paths = ", ".join(literal(directory.absolute() / file["path"]) for file in files)
        # Where traces have returned to the database, their rows in the file do not count; elsewhere there is no join.
        name = ", filename = 'archive_path'" if has_returned else ""
        query = f"select * replace ({READ_AS[table]}) from read_parquet([{paths}], hive_partitioning = false{name})"
        if has_returned:
            query = f"select * exclude (archive_path) from ({query}) as archived where not exists ({_RETURNED})"
        sources.setdefault(table, []).append(query.replace("$database", database))
    return {
        table: " union all by name ".join([f"select * from {database}.main.{table}", *queries])
        for table, queries in sources.items()
    }


_RETURNED = """
    select 1
    from $database.main.archive_returned as returned
    where returned.trace_id = archived.trace_id
        and returned.part = parse_filename(archived.archive_path, true)
"""


def lay_views(connection: duckdb.DuckDBPyConnection, directory: Path, database: str) -> dict[str, str]:
    """Makes the raw tables show archived rows too, and returns the queries that do; empty without an archive."""
    if not connection.execute("select 1 from archive_files limit 1").fetchall():
        return {}
    install_macros(connection)
    queries = whole_tables(connection, directory, database)
    for table in RAW_TABLES:
        if table in queries:
            try:
                connection.execute(f"create or replace temp view {table} as {queries[table]}")
            except duckdb.Error as error:
                raise damage_in(error, directory) or error from error
    return queries
