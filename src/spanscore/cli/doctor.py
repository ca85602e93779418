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
    output: OutputOption = Output.TEXT,
) -> None:
    """Tell what came in, what waits, and what to do.

    Everything received is accounted for: stored, duplicate, conflict or rejected. The exit code is 0 when the store
    can be read, whatever the advice, and 3 when it is damaged or locked.

    With --repair, damaged files are moved into a folder beside the new store, never deleted, and what cannot be there
    is named. Stop the collector before.

    \b
    Examples:
      spanscore doctor
      spanscore doctor --format json | jq .advice
      spanscore doctor --repair
    """
    if repair:
        from spanscore.repair import repair_store
        from spanscore.report.health import print_repair
        from spanscore.report.progress import progress

        with progress() as bars:
            document = repair_store(store, on_traces=bars.traces)
        print_repair(document, output)
        return
    from spanscore.doctor import examine
    from spanscore.report.health import print_health

    print_health(examine(store), output)
