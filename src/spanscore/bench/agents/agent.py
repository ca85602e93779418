"""What the harness asks of an agent, however it is reached.

Where the blame for a failure lies is decided here and in the three modules beside: an agent that could not be reached,
or that says itself that it cannot work just now, is infrastructure, and is asked again. Everything else that goes wrong
is the agent's own failure and counts, an answer that takes too long included.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Protocol

from spanscore.bench.trial import Ending, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.bench.suites import Case
    from spanscore.bench.trial import TrialContext

LONGEST_ANSWER = 1 << 20
"""What is kept of an answer [characters]."""

_ANSWER_KEYS = ("output", "answer", "final_answer", "response", "result", "content", "text", "message")


class Agent(Protocol):
    """An agent that can be asked."""

    @property
    def description(self) -> str:
        """How it is reached; the same agent has the same description."""

    @property
    def settle_s(self) -> float:
        """How long its spans may take to arrive after its last answer [s]."""

    def open(self, endpoint: str) -> None:
        """Gets ready; its spans are to go to the OTLP/HTTP receiver at `endpoint`."""

    def ask(self, case: Case, context: TrialContext, *, timeout_s: float) -> Outcome:
        """Asks it once. Called on several threads at a time.

        Args:
            case: what to ask.
            context: which attempt this is.
            timeout_s: how long it may take [s].
        """

    def flush(self) -> None:
        """Returns once the spans it has made so far are on their way, as far as that can be known."""

    def close(self) -> None:
        """Undoes `open`."""


def within(timeout_s: float, work: Callable[[], Outcome]) -> Outcome:
    """What `work` comes to, or a timeout. Python cannot stop it: it then goes on, on a thread that nobody waits for."""
    outcomes: list[Outcome] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            outcomes.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            failures.append(error)

    thread = threading.Thread(target=run, name="spanscore-trial", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if failures:
        raise failures[0]
    return outcomes[0] if outcomes else timed_out(timeout_s)


def timed_out(timeout_s: float) -> Outcome:
    """The outcome of an agent that did not answer in time [s]."""
    return Outcome(Ending.TIMEOUT, None, "timeout", f"no answer within {timeout_s:g} s")


def answer_text(value: Any) -> str | None:
    """What an agent gave back as text: of an object the part that is the answer, anything else as JSON."""
    if value is None:
        return None
    if isinstance(value, dict):
        for key in _ANSWER_KEYS:
            if isinstance(value.get(key), str):
                return str(value[key])[:LONGEST_ANSWER]
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            # An object of the framework: its text is usually the answer, or tells at least what came.
            value = next(
                (text for key in _ANSWER_KEYS if isinstance(text := getattr(value, key, None), str)), str(value)
            )
    # Half of a surrogate pair cannot be sent.
    return str(value)[:LONGEST_ANSWER].encode("utf-8", "replace").decode("utf-8")
