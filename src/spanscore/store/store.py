"""The store opened for writing: loads telemetry, keeps the trajectory up to date."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

import duckdb

from spanscore.errors import StoreError
from spanscore.store import load, model
from spanscore.store.connection import DEFAULT_WAIT_S, connect_for_writing, database_path
from spanscore.store.counts import LoadCounts, ManifestRow, SignalCounts
from spanscore.store.directory import make_directory
from spanscore.store.merging import let_merge
from spanscore.store.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from spanscore.otlp import RawTables
    from spanscore.store.beside import DerivingBeside


class Store:
    """One writer's hold on a store directory. While it is open no other process can read the store: close it soon."""

    def __init__(self, directory: Path, connection: duckdb.DuckDBPyConnection) -> None:
        """Use `Store.open`."""
        self.directory = directory
        self.connection = connection
        # Spans and log records that were loaded, and traces that were derived.
        self._rows = 0

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        wait_s: float = DEFAULT_WAIT_S,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> Self:
        """Opens the store in `directory` for writing; makes it when there is none, and migrates it when it is older.

        Args:
            directory: created, for its owner only, when missing.
            wait_s: how long to wait for another process to let go of the store [s].
            memory_limit: DuckDB's, such as "2GiB"; None = `$SPANSCORE_MEMORY_LIMIT`, or 1 GiB where there is enough.
            threads: DuckDB's; None = `$SPANSCORE_THREADS` or one per processor.

        Raises:
            StoreLocked: another process holds the store.
            StoreTooNew, StoreUnrecognised, StoreDamaged: the file cannot be used; it is left as it is.
        """
        make_directory(directory)
        path = database_path(directory)
        connection = connect_for_writing(path, wait_s=wait_s, memory_limit=memory_limit, threads=threads)
        try:
            path.chmod(0o600)
            migrate(connection, path)
            model.install(connection)
        except BaseException:
            connection.close()
            raise
        return cls(directory, connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the store. Closing writes the log into the file."""
        self.connection.close()

    def load(
        self,
        tables: RawTables,
        *,
        source: str,
        manifest: ManifestRow | None = None,
        received_ns: int | None = None,
    ) -> LoadCounts:
        """Stores what is new of one batch (about 20,000 spans at most) in one transaction.

        The same batch again stores nothing. The traces that got rows wait in `pending_traces` for `derive`.

        Args:
            tables: what a decoder made of one file chunk or of some spool records.
            source: where it came from, for the accounting: "otlp/http", a file name, …
            manifest: spool position to record with the rows.
            received_ns: when the oldest of it was received [ns since 1970, UTC]; None = now.

        Raises:
            StoreError: the disk or the memory does not allow it. Nothing was stored, unless the commit itself failed,
                which leaves it open: reopen and read `manifest()`.
        """
        try:
            counts = load.load_tables(
                self.connection, tables, source=source, manifest=manifest, received_ns=received_ns
            )
        except (duckdb.OperationalError, duckdb.FatalException) as error:
            raise StoreError(
                f"The store `{database_path(self.directory)}` could not be written: {str(error).splitlines()[0]}\n"
                "  Look at the free space and the memory, then load again: what is stored already is not stored twice."
            ) from error
        self._add(counts.spans.stored + counts.log_records.stored)
        return counts

    def record_rejected(
        self, *, source: str, spans: Mapping[str, int] | None = None, log_records: Mapping[str, int] | None = None
    ) -> None:
        """Accounts for what could not be decoded at all, as reason -> count."""
        counts = LoadCounts(spans=_all_rejected(spans or {}), log_records=_all_rejected(log_records or {}))
        load.record_counts(self.connection, counts, source=source)

    def manifest(self) -> dict[str, int]:
        """How far each spool segment has been loaded: segment -> offset of the next record [bytes]."""
        rows = self.connection.execute(
            "select segment, max(end_offset) from spool_manifest group by segment"
        ).fetchall()
        return dict(rows)

    def forget_segments(self, segments: list[str]) -> None:
        """Drops the manifest rows of spool segments that have been deleted."""
        self.connection.execute(
            "delete from spool_manifest where segment in (select unnest($1::varchar[]))", [segments]
        )

    def derive(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        round_spans: int | None = None,
        until: float | None = None,
    ) -> int:
        """Rebuilds the trajectory of every trace that got rows since it was last built, and returns how many.

        Args:
            progress: told (traces done, traces in all) as it goes.
            round_spans: about how many spans to take up at a time [spans]; None = as many as make it quickest.
            until: moment of `time.monotonic` after which nothing further is begun [s]: the rest stays pending.
        """
        from spanscore.store import derive
        from spanscore.store.archive import stale

        waiting = stale.count_stale(self.connection)
        told = stale.more(progress, waiting) if waiting else progress
        done = derive.derive(self.connection, told, round_spans=round_spans or derive.ROUND_SPANS, until=until)
        if waiting and (until is None or time.monotonic() < until):
            done += stale.derive_stale(self.connection, stale.after(progress, done))
        self._add(done)
        return done

    def pending_traces(self) -> int:
        """How many traces have rows that the trajectory does not know yet."""
        ((n,),) = self.connection.execute("select count(*) from pending_traces").fetchall()
        return int(n)

    def waiting_since_ns(self) -> int | None:
        """Since when the one of them waits that waits longest [ns since 1970, UTC]; None = none waits."""
        query = "select epoch_us(min(waiting_since)) * 1000 from pending_traces"
        ((since,),) = self.connection.execute(query).fetchall()
        return None if since is None else int(since)

    def deriving_beside(self) -> DerivingBeside:
        """What derives the first traces while later ones are loaded, where there is a processor for it."""
        from spanscore.store.beside import DerivingBeside

        return DerivingBeside(self.connection)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuilds the trajectory of every trace, and returns how many there are.

        Args:
            progress: told (traces done, traces in all) as it goes.
        """
        model.mark_all_pending(self.connection)
        self.connection.execute("update archive_parts set model_version = null")
        return self.derive(progress)

    def checkpoint(self) -> None:
        """Writes the write-ahead log into the file: what was loaded before is then safe without the spool."""
        self.connection.execute("checkpoint")

    def _add(self, rows: int) -> None:
        """Counts rows as written; the next checkpoint, which closing is too, merges row groups or leaves them alone."""
        self._rows += rows
        let_merge(self.connection, rows=self._rows)


def _all_rejected(reasons: Mapping[str, int]) -> SignalCounts:
    return SignalCounts(received=sum(reasons.values()), rejected=dict(reasons))
