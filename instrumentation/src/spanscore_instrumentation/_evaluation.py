"""Scores as `gen_ai.evaluation.result` log records, so that a judgement made in the program lands beside the trace."""

import math
from typing import Any

from opentelemetry import baggage, trace
from opentelemetry._logs import LogRecord, SeverityNumber, get_logger_provider
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext

from spanscore_instrumentation import attributes as names
from spanscore_instrumentation._content import admitted
from spanscore_instrumentation._experiment import from_baggage
from spanscore_instrumentation._json import to_attribute, to_text
from spanscore_instrumentation._operation import Operation
from spanscore_instrumentation._quiet import quiet
from spanscore_instrumentation._version import __version__

Subject = Operation | Span | SpanContext


@quiet
def score(
    name: str,
    value: float | bool | None = None,
    *,
    label: str | None = None,
    explanation: str | None = None,
    subject: Subject | None = None,
    response_id: str | None = None,
    not_applicable_reason: str | None = None,
    error_type: str | None = None,
) -> None:
    """Record a score.

    With neither a value nor a label nor an error, the score is recorded as not applicable, never as 0.

    Args:
        name: of the evaluator; a few distinct values.
        value: the score; a boolean becomes 1 or 0. NaN and the infinities are no score.
        label: a class such as `pass` or `fail`.
        explanation: one sentence; content, so it follows the content switch.
        subject: what is scored; the current span unless given. It may have ended, or belong to another process.
        response_id: the id of the scored response, where its span is not known.
        not_applicable_reason: why there is no score.
        error_type: why the evaluator failed; then there is no score.
    """
    provider = get_logger_provider()
    if type(provider).__module__.startswith("opentelemetry._logs"):  # the API's stand-ins, which record nothing
        return
    number = _number(value)
    if number is None and label is None and error_type is None:
        label = "not_applicable"
    recorded = admitted(names.EVALUATION_EXPLANATION, explanation)
    attributes: dict[str, Any] = {
        **from_baggage(baggage.get_all()),
        names.EVALUATION_NAME: name,
        names.EVALUATION_SCORE_VALUE: number,
        names.EVALUATION_SCORE_LABEL: label,
        names.EVALUATION_EXPLANATION: None if recorded is None else to_text(recorded),
        names.RESPONSE_ID: response_id,
        names.NOT_APPLICABLE_REASON: not_applicable_reason,
        names.ERROR_TYPE: error_type,
    }
    provider.get_logger("spanscore_instrumentation", __version__).emit(
        LogRecord(
            event_name=names.EVALUATION_EVENT,
            severity_number=SeverityNumber.INFO,
            context=_context_of(subject),
            attributes={key: item for key, given in attributes.items() if (item := to_attribute(given)) is not None},
        )
    )


def _number(value: float | bool | None) -> float | None:
    number = None if value is None else float(value)
    return number if number is not None and math.isfinite(number) else None


def _context_of(subject: Subject | None) -> Context | None:
    """The context whose span the log record names; None is the current one."""
    if subject is None:
        return None
    if isinstance(subject, Operation):
        subject = subject.span
    return trace.set_span_in_context(NonRecordingSpan(subject) if isinstance(subject, SpanContext) else subject)
