"""Brings the raw tables of a store to the schema this version knows, one numbered SQL file at a time."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore import __version__
from spanscore.errors import StoreOutdated, StoreTooNew, StoreUnrecognised
from spanscore.store.directory import store_option
from spanscore.store.transactions import roll_back

if TYPE_CHECKING:
    import duckdb

_FOLDER = Path(__file__).with_name("migrations")
_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")

_CREATE_LEDGER = """
create table if not exists schema_migrations (
    version integer not null,
    name varchar not null,
    sha256 varchar not null,
    applied_at timestamp not null,
    spanscore_version varchar not null
);
comment on table schema_migrations is 'One row per migration of the raw tables that this file has been through.';
comment on column schema_migrations.version is 'Number of the migration; the highest is the schema of the store.';
comment on column schema_migrations.name is 'What the migration does, from its file name.';
comment on column schema_migrations.sha256 is 'SHA-256 of the bytes of the migration file, lower-case hex.';
comment on column schema_migrations.applied_at is 'When it was applied [UTC].';
comment on column schema_migrations.spanscore_version is 'Version of spanscore that applied it.';
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered SQL file. `sha256` is of its bytes, lower-case hex."""

    version: int
    name: str
    sha256: str
    sql: str


@cache
def known_migrations() -> tuple[Migration, ...]:
    """The migrations this version ships, in order: 1, 2, 3 … without a gap."""
    found = []
    for path in sorted(_FOLDER.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None:
            raise ValueError(f"`{path.name}` is no name for a migration: expected 0001_what_it_does.sql")
        content = path.read_bytes()
        found.append(
            Migration(
                int(match["version"]), match["name"], hashlib.sha256(content).hexdigest(), content.decode("utf-8")
            )
        )
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations must be numbered 1, 2, 3 … without a gap: {[m.version for m in found]}")
    return tuple(found)


def schema_version(connection: duckdb.DuckDBPyConnection) -> int | None:
    """The version of the store's schema; 0 = an empty file, None = tables that no migration of ours made."""
    columns = connection.execute(
        """
        select table_name, column_name
        from duckdb_columns()
        where database_name = current_database() and not internal
        """
    ).fetchall()
    # Other tools keep a table of that name too; the column tells ours.
    if ("schema_migrations", "spanscore_version") not in columns:
        return None if columns else 0
    ((version,),) = connection.execute("select coalesce(max(version), 0) from schema_migrations").fetchall()
    return int(version)


def migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> list[Migration]:
    """Applies what is missing, each file and its record in one transaction, and returns what was applied.

    Raises:
        StoreTooNew: a newer spanscore has migrated the file.
        StoreUnrecognised: the file holds tables that are not ours; nothing is written to it.
    """
    migrations = known_migrations()
    version = require_recognised(schema_version(connection), path)
    pending = [migration for migration in migrations if migration.version > version]
    for migration in pending:
        connection.execute("begin transaction")
        try:
            connection.execute(_CREATE_LEDGER)
            connection.execute(migration.sql)
            connection.execute(
                "insert into schema_migrations values (?, ?, ?, current_localtimestamp(), ?)",
                [migration.version, migration.name, migration.sha256, __version__],
            )
            connection.execute("commit")
        except Exception:
            roll_back(connection)
            raise
    return pending


def require_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Checks, without writing, that the store has the schema this version reads.

    Raises:
        StoreOutdated, StoreTooNew, StoreUnrecognised: it has another one.
    """
    version = require_recognised(schema_version(connection), path)
    newest = known_migrations()[-1].version
    if version < newest:
        raise StoreOutdated(
            f"The store `{path}` has schema {version}; this version of spanscore reads schema {newest}.\n"
            f"  Bring it up to date with:  spanscore rebuild {store_option(path.parent)}"
        )


def require_recognised(version: int | None, path: Path) -> int:
    newest = known_migrations()[-1].version
    if version is None:
        raise StoreUnrecognised(
            f"`{path}` holds tables, but not those of a spanscore store.\n"
            "  It is left as it is: name another directory with --store, or move the file away."
        )
    if version > newest:
        raise StoreTooNew(
            f"The store `{path}` has schema {version}; spanscore {__version__} knows up to {newest}.\n"
            "  Upgrade spanscore to read it."
        )
    return version
