"""Asks an agent every case as often as wanted, and sees to it that every trial is made once and leaves its trace."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spanscore.bench.journal import Attempt
from spanscore.bench.root_span import root_request
from spanscore.bench.trial import Ending, Outcome, TrialContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.bench.agents import Agent
    from spanscore.bench.journal import Journal
    from spanscore.bench.root_span import Sender
    from spanscore.bench.suites import Case
    from spanscore.bench.trial import Arm

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 8.0
# How often the main thread looks whether a trial failed for good.
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How trials are made.

    Attributes:
        repeats: trials per case [count].
        concurrency: trials at a time [count].
        timeout_s: what one attempt may take [s].
        retries: further attempts after one that failed for the infrastructure [count].
    """

    repeats: int = 1
    concurrency: int = 1
    timeout_s: float = 300.0
    retries: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the trials of one experiment.

    Attributes:
        planned: cases times repeats [count].
        resumed: trials made by an earlier process [count].
        endings: how the trials ended that count, and under `infrastructure` those that could not be made [count].
        retried: attempts that had to be made again for the infrastructure [count].
        messages: what the first of each kind of failure said, by error type.
    """

    planned: int
    resumed: int
    endings: dict[str, int]
    retried: int
    messages: dict[str, str]

    @property
    def not_made(self) -> int:
        """Trials that could not be made, however often they were tried [count]."""
        return self.planned - sum(self.endings.get(ending, 0) for ending in Ending if ending.is_trial)


class Harness:
    """Makes the trials of one experiment."""

    def __init__(self, arm: Arm, agent: Agent, journal: Journal, sender: Sender, limits: Limits) -> None:
        """Args: arm: the experiment; agent: open; journal: of the experiment; sender: of the harness's own spans."""
        self._arm = arm
        self._agent = agent
        self._journal = journal
        self._sender = sender
        self._limits = limits
        self._cases: dict[str, Case] = {case.id: case for case in arm.suite.cases}
        self._stopping = threading.Event()
        self._attempts: Counter[tuple[str, int]] = Counter(
            (attempt.case_id, attempt.trial) for attempt in journal.attempts.values()
        )

    def run(self, on_done: Callable[[int, int], None] | None = None) -> Tally:
        """Makes the trials that are still to be made, after settling what an earlier process left.

        Args:
            on_done: told (trials done, trials in all).

        Raises:
            BenchError: the receiver of the spans is gone.
        """
        self._settle()
        # The first trial of every case before the second of any: a run that is stopped half-way has seen all cases.
        planned = [(case.id, trial) for trial in range(self._limits.repeats) for case in self._arm.suite.cases]
        made = self._journal.trials
        todo = [key for key in planned if key not in made]
        resumed = len(planned) - len(todo)
        if on_done is not None:
            on_done(resumed, len(planned))
        self._work(todo, lambda done: None if on_done is None else on_done(resumed + done, len(planned)))
        return self._tally(set(planned), resumed)

    def _work(self, todo: list[tuple[str, int]], on_done: Callable[[int], None]) -> None:
        """Makes trials, several at a time. The first error ends it, Ctrl-C too.

        On daemon threads: what is under way then is not waited for, and is made anew when the experiment is resumed.
        """
        errors: list[BaseException] = []
        remaining = iter(todo)
        done = 0
        mutex = threading.Lock()

        def work() -> None:
            nonlocal done
            # `next` on a shared list iterator holds the interpreter lock: no trial is given twice.
            for key in remaining:
                if self._stopping.is_set():
                    return
                try:
                    self._make(*key)
                except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
                    errors.append(error)
                    self._stopping.set()
                    return
                with mutex:
                    done += 1
                    on_done(done)

        threads = [
            threading.Thread(target=work, name=f"spanscore-bench-{number}", daemon=True)
            for number in range(min(self._limits.concurrency, len(todo)))
        ]
        try:
            for thread in threads:
                thread.start()
            while not errors and any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(_LOOK_S)
        finally:
            self._stopping.set()
        if errors:
            raise errors[0]

    def _settle(self) -> None:
        """Sends what ended and may not have arrived; takes back what was cut off."""
        for trace_id in sorted(self._journal.unsent):
            self._send(self._journal.attempts[trace_id])
        for attempt in self._journal.unfinished:
            outcome = Outcome(Ending.INTERRUPTED, None, "interrupted", "the harness was stopped while the agent worked")
            self._end(attempt, outcome, ended_ns=time.time_ns())

    def _make(self, case_id: str, trial: int) -> None:
        """One trial: an attempt, and others as long as it is the infrastructure that fails."""
        for retry in range(self._limits.retries + 1):
            self._attempts[case_id, trial] += 1
            context = TrialContext.begin(self._arm, case_id, trial)
            attempt = Attempt(
                case_id=case_id,
                trial=trial,
                attempt=self._attempts[case_id, trial],
                trace_id=context.trace_id,
                span_id=context.span_id,
                started_ns=time.time_ns(),
            )
            self._journal.begun(attempt)
            outcome = self._agent.ask(self._cases[case_id], context, timeout_s=self._limits.timeout_s)
            ended_ns = time.time_ns()
            if self._stopping.is_set():
                # Left as begun: the spans of it may be on their way, or not.
                return
            # First the agent's spans, then the journal: a trial that is written down as made has its trace.
            self._agent.flush()
            self._end(attempt, outcome, ended_ns=ended_ns)
            if outcome.ending.is_trial or retry == self._limits.retries:
                return
            self._stopping.wait(min(_FIRST_PAUSE_S * 2**retry, _LONGEST_PAUSE_S))

    def _end(self, attempt: Attempt, outcome: Outcome, *, ended_ns: int) -> None:
        ended = replace(
            attempt,
            ended_ns=ended_ns,
            ending=outcome.ending,
            answer=outcome.answer,
            error_type=outcome.error_type,
            message=outcome.message,
        )
        self._journal.ended(ended)
        self._send(ended)

    def _send(self, attempt: Attempt) -> None:
        self._sender.send(root_request(self._arm, attempt, self._cases[attempt.case_id].input))
        self._journal.sent(attempt)

    def _tally(self, planned: set[tuple[str, int]], resumed: int) -> Tally:
        made = {key: attempt for key, attempt in self._journal.trials.items() if key in planned}
        endings = Counter(str(attempt.ending) for attempt in made.values())
        lost = [a for a in self._journal.attempts.values() if a.ending is Ending.INFRASTRUCTURE]
        not_made = planned - made.keys()
        if not_made:
            endings[str(Ending.INFRASTRUCTURE)] = len(not_made)
        messages: dict[str, str] = {}
        failed = [a for a in made.values() if a.ending is not Ending.OK]
        for attempt in [*failed, *(a for a in lost if (a.case_id, a.trial) in not_made)]:
            if attempt.error_type is not None:
                messages.setdefault(attempt.error_type, attempt.message or "")
        return Tally(
            planned=len(planned),
            resumed=resumed,
            endings=dict(sorted(endings.items())),
            retried=sum((a.case_id, a.trial) in made for a in lost),
            messages=messages,
        )
