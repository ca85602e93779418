"""`spanscore rebuild`: all trajectories anew."""

from spanscore.cli.options import DEFAULT_STORE, Output, OutputOption, StoreOption


def rebuild(store: StoreOption = DEFAULT_STORE, output: OutputOption = Output.TEXT) -> None:
    """Derive all trajectories again from their spans.

    Needed after an upgrade that understands traces better. Spans, log records and scores stay as they are.

    \b
    Examples:
      spanscore rebuild --store ./my-store
    """
    from spanscore.rebuild import rebuild_store
    from spanscore.report.ingest import print_rebuilt
    from spanscore.report.progress import progress

    with progress() as bars:
        traces = rebuild_store(store, on_traces=bars.traces)
    print_rebuilt(traces, output)
