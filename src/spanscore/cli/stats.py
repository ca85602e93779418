"""`spanscore stats`: what takes the room."""

from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption


def stats(
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[
        int, typer.Option(min=1, help="Tables, days, traces, services and attribute keys to list at most.")
    ] = 10,
    output: OutputOption = Output.TEXT,
) -> None:
    """Show what takes the room on disk: tables, archive, spool, days, traces, services, attribute keys.

    Sizes of attribute values are of a sample, before compression: they tell which keys are worth leaving out, not how
    much the file would shrink.

    \b
    Examples:
      spanscore stats
      spanscore stats --format json | jq .database.bytes_per_span
    """
    from spanscore.report.usage import print_usage
    from spanscore.retention.usage import examine_usage

    print_usage(examine_usage(store, limit=limit), output, limit=limit)
