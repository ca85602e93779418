"""`spanscore collect`: the OTLP receiver."""

from pathlib import Path
from typing import Annotated

import typer

from spanscore.cli.options import DEFAULT_MAX_TEXT, DEFAULT_STORE, MaxTextOption, StoreOption
from spanscore.collector.redaction import Content, Redact


def collect(
    store: StoreOption = DEFAULT_STORE,
    grpc: Annotated[
        str, typer.Option(metavar="HOST:PORT|none", help="Where to receive OTLP over gRPC; `none` switches it off.")
    ] = "127.0.0.1:4317",
    http: Annotated[
        str, typer.Option(metavar="HOST:PORT|none", help="Where to receive OTLP over HTTP; `none` switches it off.")
    ] = "127.0.0.1:4318",
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Bearer tokens, one a line, of which every request must carry one; read again when it changes. "
            "$SPANSCORE_COLLECT_TOKENS takes tokens too, separated by blanks.",
            show_default=False,
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Certificate chain (PEM) of both ports; read again when it changes.",
            show_default=False,
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its private key (PEM).", show_default=False),
    ] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Accept only clients with a certificate of these authorities (PEM).",
            show_default=False,
        ),
    ] = None,
    insecure_no_auth: Annotated[
        bool,
        typer.Option(
            "--insecure-no-auth",
            "--insecure",
            help="Let anyone send who reaches the address.",
        ),
    ] = False,
    insecure_plaintext: Annotated[
        bool,
        typer.Option(
            "--insecure-plaintext",
            help="Take tokens without TLS from other machines: a proxy in front encrypts.",
        ),
    ] = False,
    redact: Annotated[
        Redact,
        typer.Option(
            help="What is replaced in all texts before they are stored: `secrets` are keys, tokens and passwords; "
            "`personal` e-mail addresses, telephone numbers, cards and bank accounts too.",
        ),
    ] = Redact.SECRETS,
    content: Annotated[
        Content,
        typer.Option(
            help="Prompts, answers, tool arguments and results: `hash` keeps a keyed hash of them, `drop` nothing. "
            "What needs them is then not applicable.",
        ),
    ] = Content.FULL,
    redact_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Replace the value of this attribute, whatever it is; `*` stands for anything; may be repeated.",
            show_default=False,
        ),
    ] = None,
    keep_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Never redact the value of this attribute; `*` stands for anything; may be repeated.",
            show_default=False,
        ),
    ] = None,
    max_text: MaxTextOption = DEFAULT_MAX_TEXT,
) -> None:
    """Receive OpenTelemetry traces and logs, until stopped.

    Ctrl-C or SIGTERM stops it in good order. What has been acknowledged is on disk. Other commands can read the store
    meanwhile. The HTTP port answers /healthz, /readyz and /metrics too.

    \b
    Examples:
      spanscore collect
      spanscore collect --store ./my-store --http none
      OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python my_agent.py
    \b
    For other machines:
      openssl rand -hex 32 > tokens && chmod 600 tokens
      spanscore collect --http 0.0.0.0:4318 --grpc none --token-file tokens --tls-cert c.pem --tls-key k.pem
      OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20$(cat tokens)" python my_agent.py
    \b
    Without prompts and answers:
      spanscore collect --content drop --redact personal --redact-key 'user.*'
    """
    import logging

    from spanscore.collector import Collector, CollectorConfig, CollectorLimits, Privacy, Security, serve
    from spanscore.collector.security import tokens_from_environment
    from spanscore.otlp import SpanLimits

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = CollectorConfig(
        store=store,
        grpc=_address(grpc),
        http=_address(http),
        security=Security(
            token_file=token_file,
            tokens=tokens_from_environment(),
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_client_ca=tls_client_ca,
            insecure_no_auth=insecure_no_auth,
            insecure_plaintext=insecure_plaintext,
        ),
        privacy=Privacy(
            redact=redact, content=content, redact_keys=tuple(redact_key or ()), keep_keys=tuple(keep_key or ())
        ),
        limits=CollectorLimits(span=SpanLimits(max_text_bytes=max_text)),
    )

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
