"""`spanscore purge`: traces deleted for good."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption
from spanscore.errors import UsageError
from spanscore.wording import counted


def purge(
    store: StoreOption = DEFAULT_STORE,
    trace: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="This trace or run; a beginning that is unambiguous will do. May be repeated."),
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Every trace of this session. May be repeated.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(metavar="AGE|TIME", help="Traces that have been quiet for an age (90d) or since a UTC time."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    compact: Annotated[
        bool | None,
        typer.Option(
            "--compact/--no-compact",
            help="Write the database anew, without the bytes of deleted rows. Alone, only that.  [default: compact]",
            show_default=False,
        ),
    ] = None,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Delete all copies of unreadable requests in the spool too.")
    ] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Delete traces for good: from the spool, every table, the archive, and the pages of the database file.

    What is named by --trace, --session or --before goes, with its scores. No collector may run meanwhile. The same
    spans can be stored again afterwards: a purge is no ban. Captured files, exports and backups are not looked for.

    A trace or session that does not exist is an error (exit code 2), and nothing is deleted. Where --before matches
    nothing, the exit code is 0 and the database is left as it is.

    \b
    Examples:
      spanscore purge --session 8f14e45f --dry-run
      spanscore purge --trace 54611c32 --trace 9a0364b9
      spanscore purge --before 180d --yes
    """
    from spanscore.report.retention import print_compacted, print_purged
    from spanscore.report.runs import parse_since
    from spanscore.retention.purge import finish_purge, plan_purge, purge_store
    from spanscore.store.purge import Purgeable

    if not trace and not session and before is None:
        if compact and not quarantine and not dry_run:
            print_compacted(finish_purge(store), output)
            return
        raise UsageError("Nothing is named to be deleted.\n  Name traces with --trace, --session or --before.")
    if any(not name.strip() for name in [*(trace or ()), *(session or ())]):
        raise UsageError("An empty id names nothing.")
    wanted = Purgeable(
        traces=tuple(trace or ()),
        sessions=tuple(session or ()),
        before=parse_since(before, now=datetime.now(UTC), option="--before"),
    )
    if dry_run or not yes:
        planned = plan_purge(store, wanted)
        if dry_run or (planned.is_empty and not planned.waiting_bytes and not quarantine):
            print_purged(replace(planned, is_dry_run=dry_run), output, store=store)
            return
        _ask(planned.counts.traces, planned.counts.spans, planned.counts.log_records)
    purged = purge_store(store, wanted, compact=compact is not False, whole_quarantine=quarantine)
    print_purged(purged, output, store=store)


def _ask(traces: int, spans: int, log_records: int) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "Deleting needs a yes, and there is nobody to ask.\n  Add --yes, or look first with --dry-run."
        )
    typer.confirm(
        f"Delete {counted(traces, 'trace')} ({counted(spans, 'span')}, {counted(log_records, 'log record')}) for good?",
        abort=True,
        err=True,
    )
