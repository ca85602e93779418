"""`setup`: from nothing to traces leaving the process, without disturbing what the user has already set up."""

from opentelemetry import _logs, trace

from spanscore_instrumentation._content import Content, set_content
from spanscore_instrumentation._propagation import continue_environment
from spanscore_instrumentation._quiet import logger, quiet


def setup(service_name: str, endpoint: str | None = None, *, content: Content | None = None) -> bool:
    """Export traces and scores over OTLP, and choose what content they carry.

    Where the program has a tracer provider of its own, that one stays: it gets the processor which writes experiment
    and case on spans, and one more exporter only if `endpoint` is given. Call `setup` after making your own provider. A
    second call changes the content switch and adds nothing twice. A process that was started with `TRACEPARENT` in its
    environment becomes a part of that trace.

    Args:
        service_name: the `service.name` of the traces, unless the program has its own provider.
        endpoint: of an OTLP receiver, such as `http://127.0.0.1:4318`; port 4317 means gRPC. None is the environment's
            (`OTEL_EXPORTER_OTLP_ENDPOINT`), else `http://localhost:4318`.
        content: "on", "off", or a function `(attribute, value) -> value or None`. None is what the environment says
            (`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`), else "on": without content most scores of an answer
            cannot be computed.

    Returns:
        Whether spans are being recorded.

    Raises:
        ValueError: `content` is none of these.
    """
    set_content(content)
    try:
        from spanscore_instrumentation import _sdk
    except ImportError as error:
        logger.warning(
            "setup: nothing is exported, `%s` is missing or too old; run "
            "pip install --upgrade opentelemetry-sdk opentelemetry-exporter-otlp",
            error.name,
        )
        return False
    continue_environment()
    return bool(quiet(_sdk.install)(service_name, endpoint))


@quiet
def flush(timeout_s: float = 5.0) -> None:
    """Wait until what was recorded has been exported, at most `timeout_s` [s] for each signal; the exit does so too."""
    for provider in (trace.get_tracer_provider(), _logs.get_logger_provider()):
        force_flush = getattr(provider, "force_flush", None)
        if callable(force_flush):
            force_flush(int(timeout_s * 1000))
