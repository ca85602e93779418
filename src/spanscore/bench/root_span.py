"""The span that the harness puts around every attempt, sent as OTLP without an SDK.

It carries the ids of the trial, what was asked and what came back, so that an agent which knows nothing of baggage is
attributed all the same. It is built from a line of the journal alone: sent again, it is the same span to the byte.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from spanscore import __version__
from spanscore.addresses import read_address
from spanscore.bench.trial import COST_BUDGET, STEP_BUDGET, Ending
from spanscore.errors import BenchError

if TYPE_CHECKING:
    from spanscore.bench.journal import Attempt
    from spanscore.bench.trial import Arm

SCOPE = "spanscore.bench"
_TIMEOUT_S = 10.0
_PAUSES_S = (0.2, 1.0, 3.0)
# What `queries/trajectory` reads from `spanscore.trial.outcome`.
_DISCARDED = "discarded"


def root_request(arm: Arm, attempt: Attempt, question: str) -> bytes:
    """The export request with the span of an attempt that has ended."""
    import json

    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Status

    assert attempt.ending is not None
    request = ExportTraceServiceRequest()
    scope_spans = request.resource_spans.add().scope_spans.add()
    scope_spans.scope.name = SCOPE
    scope_spans.scope.version = __version__
    span = scope_spans.spans.add()
    span.trace_id = bytes.fromhex(attempt.trace_id)
    span.span_id = bytes.fromhex(attempt.span_id)
    span.name = f"{arm.suite.name}/{attempt.case_id}"
    span.kind = span.SPAN_KIND_INTERNAL
    span.flags = 0x101
    span.start_time_unix_nano = attempt.started_ns
    span.end_time_unix_nano = max(attempt.ended_ns, attempt.started_ns)
    attributes: dict[str, str | int | float | None] = {
        "spanscore.experiment.id": arm.experiment_id,
        "spanscore.suite.name": arm.suite.name,
        "spanscore.suite.version": arm.suite.version,
        "spanscore.case.id": attempt.case_id,
        "spanscore.trial": attempt.trial,
        "spanscore.variant": arm.label,
        STEP_BUDGET: arm.budget.steps,
        COST_BUDGET: arm.budget.cost_usd,
        "spanscore.trial.attempt": attempt.attempt,
        "spanscore.trial.outcome": str(attempt.ending) if attempt.ending.is_trial else _DISCARDED,
        "error.type": attempt.error_type,
        "gen_ai.input.messages": json.dumps(_message("user", question), ensure_ascii=False),
    }
    if attempt.answer is not None:
        attributes["gen_ai.output.messages"] = json.dumps(_message("assistant", attempt.answer), ensure_ascii=False)
    for key, value in attributes.items():
        if value is None:
            continue
        item = span.attributes.add()
        item.key = key
        if isinstance(value, str):
            item.value.string_value = value
        elif isinstance(value, int):
            item.value.int_value = value
        else:
            item.value.double_value = value
    span.status.code = Status.STATUS_CODE_OK if attempt.ending is Ending.OK else Status.STATUS_CODE_ERROR
    if attempt.message is not None:
        span.status.message = attempt.message
    content: bytes = request.SerializeToString(deterministic=True)
    return content


def _message(role: str, text: str) -> list[dict[str, object]]:
    return [{"role": role, "parts": [{"type": "text", "content": text}]}]


class Sender:
    """Sends export requests to an OTLP/HTTP receiver."""

    def __init__(self, endpoint: str) -> None:
        """Args: endpoint: of the receiver, such as `http://127.0.0.1:4318`."""
        self._address = read_address(endpoint, called="--endpoint")
        self._url = f"{self._address.url.rstrip('/').removesuffix('/v1/traces')}/v1/traces"
        # A proxy named in the environment must not see what goes to this machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def send(self, request: bytes) -> None:
        """Returns once the receiver has acknowledged.

        Raises:
            BenchError: it did not, several times.
        """
        for pause_s in (*_PAUSES_S, None):
            posted = urllib.request.Request(  # noqa: S310 - the scheme was checked with the options
                self._url,
                data=request,
                headers={"Content-Type": "application/x-protobuf", **self._address.headers},
                method="POST",
            )
            try:
                with self._opener.open(posted, timeout=_TIMEOUT_S) as answer:
                    answer.read()
                return
            except (urllib.error.URLError, OSError) as error:
                if pause_s is None:
                    raise BenchError(
                        f"The span of a trial could not be sent to `{self._address.shown}`: {error}.\n"
                        "  Start the collector there, and run the same experiment again: it goes on where it stopped."
                    ) from error
            time.sleep(pause_s)
