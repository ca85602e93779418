"""`spanscore ingest`: captured files into the store."""

from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_MAX_TEXT, DEFAULT_STORE, MaxTextOption, Output, OutputOption, StoreOption


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Files, folders or globs; - is standard input.", show_default=False),
    ],
    store: StoreOption = DEFAULT_STORE,
    max_text: MaxTextOption = DEFAULT_MAX_TEXT,
    output: OutputOption = Output.TEXT,
) -> None:
    """Load captured OpenTelemetry files into the store.

    Reads what the Collector's file exporter writes (JSON lines, length-prefixed protobuf), single OTLP/JSON documents,
    Tempo batches and Jaeger JSON; also as .gz or .zst. The same file again stores nothing twice.

    A span that is refused and a record that cannot be read are counted with their reason and told on standard error,
    in lines that begin with `!`; the rest is kept, and the exit code is 0. So it is for files that are empty. Where
    there was something, and nothing of it could be used, it is 3; where a path does not exist, 2, and nothing is read.

    \b
    Examples:
      spanscore ingest traces.jsonl
      spanscore ingest captures/ logs.jsonl.gz --store ./my-store
      spanscore ingest traces.jsonl --format json | jq .stored
    """
    from spanscore.ingest import ingest_files, total_bytes
    from spanscore.otlp import SpanLimits
    from spanscore.report.ingest import print_summary
    from spanscore.report.progress import progress

    with progress(reading=True, total_bytes=total_bytes(paths)) as bars:
        limits = SpanLimits(max_text_bytes=max_text)
        summary = ingest_files(paths, store, limits=limits, on_bytes=bars.bytes, on_traces=bars.traces)
    print_summary(summary, output)
    if summary.is_empty_handed:
        raise typer.Exit(3)
