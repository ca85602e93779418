"""`spanscore doctor`: how the store is, and its repair."""

from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption


def doctor(
    store: StoreOption = DEFAULT_STORE,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Read every row; where the store is damaged, make a new one of the spool and of what can be read.",
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Read every file of the archive, and not only its size; takes its time."),
    ] = False,
    discard: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE|webhook",
            help="Drop what waits for this destination of `score --emit`, or for the webhook of the alerts.",
        ),
    ] = None,
    readdress: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="OLD NEW", help="Have the scores that wait for one destination wait for another."),
    ] = None,
    output: OutputOption = Output.TEXT,
) -> None:
    """Tell what came in, what waits, and what to do.

    Everything received is accounted for: stored, duplicate, conflict or rejected. The exit code is 0 when the store
    can be read, whatever the advice, and 3 when it is damaged or locked. Damage shows where rows are read: counts and
    findings here, every row with --repair.

    With --repair, damaged files are moved into a folder beside the new store, never deleted, and what cannot be there
    is named. So are files of the archive that are missing or damaged. Stop the collector before.

    The sizes of the archive's files are compared with what was written; --verify compares every byte, by SHA-256.

    Scores and messages that could not be delivered are shown with their destination, since when they wait, and the
    last error. --readdress and --discard are for a destination that is not used any more, such as one with a typing
    error; scores stay in the store all the same.

    \b
    Examples:
      spanscore doctor
      spanscore doctor --format json | jq .advice
      spanscore doctor --verify
      spanscore doctor --repair
      spanscore doctor --readdress http://otl:4318 http://otel:4318
      spanscore doctor --discard webhook
    """
    if sum((repair, verify, discard is not None, readdress is not None)) > 1:
        from spanscore.errors import UsageError

        raise UsageError("--repair, --verify, --discard and --readdress are done one at a time.")
    if discard is not None or readdress is not None:
        from spanscore.production import undelivered
        from spanscore.report.health import print_undelivered

        done = (
            undelivered.discard(store, discard) if discard else undelivered.readdress(store, *(readdress or ("", "")))
        )
        print_undelivered(done, output)
        return
    if repair:
        from spanscore.repair import repair_store
        from spanscore.report.health import print_repair
        from spanscore.report.progress import progress, reading

        with progress() as bars, reading("verifying the archive", visible=True) as on_bytes:
            document = repair_store(store, on_traces=bars.traces, on_bytes=on_bytes)
        print_repair(document, output)
        return
    from spanscore.doctor import examine
    from spanscore.report.health import print_health
    from spanscore.report.progress import reading

    with reading("verifying the archive", visible=verify) as on_bytes:
        document = examine(store, verify=verify, on_bytes=on_bytes)
    print_health(document, output)
