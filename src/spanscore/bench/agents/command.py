"""An agent that is a command line: one process per trial."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote

from spanscore.bench.agents.agent import LONGEST_ANSWER, timed_out
from spanscore.bench.agents.telemetry import exporter_environment
from spanscore.bench.trial import Ending, Outcome
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from spanscore.bench.suites import Case
    from spanscore.bench.trial import TrialContext

EXIT_TRY_AGAIN = 75
"""EX_TEMPFAIL of sysexits.h: the program could not do its work just now."""

# Between asking a process to end, so that it exports its spans, and ending it [s].
_GRACE_S = 2.0
_MESSAGE_LINES = 5
_PLACEHOLDER = re.compile(r"\{(input|case_id|trial|variant|steps)\}")


class CommandAgent:
    """Runs a command; what it prints on standard output is the answer.

    `{input}`, `{case_id}`, `{trial}`, `{variant}` and `{steps}` in the words of the command are filled in; no shell
    sees them. A command without `{input}` gets the text on standard input.
    """

    settle_s = 0.0

    def __init__(self, command: str) -> None:
        """Args: command: the words, quoted as for a shell."""
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"--command cannot be split into words: {error}.") from error
        if not self._words:
            raise UsageError("--command is empty.")
        if shutil.which(self._words[0]) is None:
            raise UsageError(f"--command: there is no program `{self._words[0]}`.")
        self.description = command
        self._endpoint = ""
        self._running: set[subprocess.Popen[bytes]] = set()

    def open(self, endpoint: str) -> None:
        """Remembers where spans are to go."""
        self._endpoint = endpoint

    def ask(self, case: Case, context: TrialContext, *, timeout_s: float) -> Outcome:
        """Runs it once."""
        values = {
            "{input}": case.input,
            "{case_id}": case.id,
            "{trial}": str(context.trial),
            "{variant}": context.variant or "",
            "{steps}": "" if context.budget.steps is None else str(context.budget.steps),
        }
        process = subprocess.Popen(  # noqa: S603 - the command is the user's own
            [_filled(word, values) for word in self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment(context),
            start_new_session=True,
        )
        self._running.add(process)
        given = b"" if any("{input}" in word for word in self._words) else case.input.encode("utf-8")
        try:
            out, err = process.communicate(given, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return timed_out(timeout_s)
        finally:
            self._running.discard(process)
        answer = out.decode("utf-8", "replace").strip()[:LONGEST_ANSWER] or None
        if process.returncode == 0:
            return Outcome(Ending.OK, answer)
        ending = Ending.INFRASTRUCTURE if process.returncode == EXIT_TRY_AGAIN else Ending.ERROR
        return Outcome(ending, answer, _name_of(process.returncode), _last_lines(err))

    def flush(self) -> None:
        """Nothing: a process exports its spans before it ends."""

    def close(self) -> None:
        """Ends what still runs: nobody waits for it any more."""
        for process in list(self._running):
            _end(process)

    def _environment(self, context: TrialContext) -> dict[str, str]:
        environment = exporter_environment(dict(os.environ), self._endpoint)
        ids = ",".join(f"{key}={quote(str(value), safe='')}" for key, value in context.ids.items())
        before = environment.get("OTEL_RESOURCE_ATTRIBUTES")
        # The process is one trial and nothing else, and its resource says so: not every agent reads TRACEPARENT.
        environment["OTEL_RESOURCE_ATTRIBUTES"] = f"{before},{ids}" if before else ids
        environment["TRACEPARENT"] = context.traceparent
        environment["BAGGAGE"] = context.baggage
        if context.variant is not None:
            environment["SPANSCORE_VARIANT"] = context.variant
        if context.budget.steps is not None:
            environment["SPANSCORE_STEP_BUDGET"] = str(context.budget.steps)
        return environment


def _filled(word: str, values: dict[str, str]) -> str:
    """`word` with its placeholders filled in, in one pass: one that comes with a value is left alone."""
    return _PLACEHOLDER.sub(lambda match: values[match.group()], word)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(timeout=_GRACE_S)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _name_of(code: int) -> str:
    if code >= 0:
        return f"exit_code_{code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal_{-code}"


def _last_lines(err: bytes) -> str | None:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return "\n".join(lines[-_MESSAGE_LINES:])[-2000:] or None
