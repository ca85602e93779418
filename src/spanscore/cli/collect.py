"""`spanscore collect`: the OTLP receiver."""

from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_STORE, StoreOption


def collect(
    store: StoreOption = DEFAULT_STORE,
    grpc: Annotated[
        str, typer.Option(metavar="HOST:PORT|none", help="Where to receive OTLP over gRPC; `none` switches it off.")
    ] = "127.0.0.1:4317",
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT|none", help="Where to receive OTLP over HTTP; `none` switches it off.")
    ] = "127.0.0.1:4318",
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Listen on addresses that other machines reach, without encryption or authentication."
        ),
    ] = False,
) -> None:
    """Receive OpenTelemetry traces and logs, until stopped.

    Ctrl-C or SIGTERM stops it in good order. What has been acknowledged is on disk. Other commands can read the store
    meanwhile.

    \b
    Examples:
      spanscore collect
      spanscore collect --store ./my-store --http none
      OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python my_agent.py
    """
    import logging

    from spanscore.collector import Collector, CollectorConfig, serve

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = CollectorConfig(store=store, grpc=_address(grpc), http=_address(http), insecure=insecure)

    def say_where(collector: Collector) -> None:
        places = [
            f"{protocol} {address}"
            for protocol, address in (("OTLP/gRPC", collector.grpc_address), ("OTLP/HTTP", collector.http_address))
            if address is not None
        ]
        typer.echo(f"Collecting into `{store}`: {', '.join(places)}. Stop with Ctrl-C.", err=True)

    serve(config, on_ready=say_where)


def _address(text: str) -> str | None:
    return None if text.strip().lower() == "none" else text
