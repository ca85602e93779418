"""`spanscore archive`: old traces out of the database, still in every query."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption


def archive(
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE|TIME", help="Quiet for this age (90m, 24h, 30d), or since a UTC time."
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be moved.")] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Write the database anew afterwards, so that its file gets smaller.")
    ] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Move the spans and log records of old traces into Parquet files.

    They stay part of every query and evaluation; trajectories and scores stay in the database. A trace returns by
    itself when more of it arrives. It can be run as often as you like, beside a collector too.

    \b
    Examples:
      spanscore archive --older-than 30d
      spanscore archive --older-than 2026-01-01 --dry-run
    """
    from spanscore.report.progress import counting
    from spanscore.report.retention import print_archived
    from spanscore.report.runs import parse_since
    from spanscore.retention.archive import archive_store

    before = parse_since(older_than, now=datetime.now(UTC), option="--older-than")
    assert before is not None
    with counting("archiving traces") as done:
        archived = archive_store(store, before, is_dry_run=dry_run, compact=compact, on_traces=done)
    print_archived(archived, output)
