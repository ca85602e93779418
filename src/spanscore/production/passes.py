"""One pass: score what has changed, send the scores, judge the alerts, tell about them. Each part stands by itself."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanscore.errors import DeliveryFailed
from spanscore.production.alerts import Judgement, Verdict, judge, judge_series
from spanscore.production.events import emit
from spanscore.production.lease import lease
from spanscore.production.notify import FIRING, changes, deliver
from spanscore.production.scoring import Job, Scored, score
from spanscore.store import read_session
from spanscore.store.outbox import AlertState, alert_states, keep_alerts
from spanscore.store.scoring import WAIT_S
from spanscore.store.undelivered import Undelivered, undelivered_messages, undelivered_scores
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spanscore.production.events import Destination
    from spanscore.production.rules import Alerting, Rule


@dataclass(slots=True)
class Report:
    """What a pass did.

    Attributes:
        started_at: UTC, without zone.
        duration_s: how long it took [s].
        scored: what was scored.
        emitted, rejected: scores that were sent, and of them those that the receiver rejected [count].
        emit_waiting: runs and sessions whose scores are still to be sent there [count].
        elsewhere: destinations that this pass was not given, and that scores wait for all the same.
        messages_waiting: messages that have not reached the webhook [count].
        has_webhook: whether there is one.
        judgements: of the alert rules.
        firing_before: states of alerts that fired when the pass began.
        sent: messages that reached the webhook [count].
        failures: what could not be delivered.
        lag_s: how long the run has waited whose last span came first of those not scored yet [s]; None = none waits.
    """

    started_at: dt.datetime
    scored: Scored
    duration_s: float = 0.0
    emitted: int = 0
    rejected: int = 0
    emit_waiting: int = 0
    elsewhere: list[Undelivered] = field(default_factory=list)
    messages_waiting: int = 0
    has_webhook: bool = False
    judgements: list[Judgement] = field(default_factory=list)
    states: list[AlertState] = field(default_factory=list)
    sent: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def lag_s(self) -> float | None:
        """See above."""
        oldest = self.scored.plan.oldest_waiting
        return None if oldest is None else max(0.0, (self.started_at - oldest).total_seconds())

    @property
    def firing(self) -> list[Judgement]:
        """Alerts that fire, and those that still do because nothing says that all is well again."""
        known = {(state.alert, state.series) for state in self.states if state.state == FIRING}
        return [
            one
            for one in self.judgements
            if one.verdict is Verdict.FIRING
            or (one.verdict is Verdict.UNDECIDABLE and (one.rule.name, one.series) in known)
        ]

    @property
    def exit_reasons(self) -> list[tuple[int, str]]:
        """Exit codes that something asks for, each with the fact that does, the one that wins first.

        An alert that fires is known; what could not be evaluated or delivered is not known, and hides no alert.
        """
        scored, found = self.scored, []
        if self.firing:
            found.append((1, f"{counted(len(self.firing), 'alert')} firing"))
        if scored.errors:
            named = ", ".join(sorted(scored.errors))
            found.append((3, f"{counted(len(scored.errors), 'evaluator')} failed: {named}"))
        if self.failures:
            found.append((3, f"{counted(len(self.failures), 'delivery', 'deliveries')} failed"))
        if self.rejected:
            found.append((3, f"{counted(self.rejected, 'score')} rejected by the receiver"))
        return found

    @property
    def exit_code(self) -> int:
        """1 an alert fires, whatever else; 3 an evaluator failed, or something could not be delivered; else 0."""
        return next((code for code, _ in self.exit_reasons), 0)


def run_pass(
    job: Job,
    *,
    alerting: Alerting,
    destination: Destination | None,
    environ: Mapping[str, str],
    wait_s: float,
    on_step: Callable[[str, int, int], None] = lambda *_: None,
    is_stopping: Callable[[], bool] = lambda: False,
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC).replace(tzinfo=None),
) -> Report:
    """Makes one pass over the store.

    Args:
        job: what to score.
        alerting: rules, and whom to tell; alerts are not judged when `job.scope.until` is given: the past is no news.
        destination: where scores go; the same as `job.destination` names.
        environ: environment variables.
        wait_s: how long to wait for another process that scores the store [s].
        on_step: told (step that is done, runs and sessions done, of how many).
        is_stopping: whether to end after the batch in hand.
        now: the clock, UTC without zone.

    Raises:
        ScoringRunning: another process scores the store.
        StoreError: the store cannot be read or written.
    """
    began = time.monotonic()
    with lease(job.store, wait_s=wait_s):
        moment = now()
        report = Report(moment, score(job, now=moment, on_step=on_step, is_stopping=is_stopping))
        total = report.scored.done
        if destination is not None:
            try:
                report.emitted, report.rejected = emit(job.store, destination)
            except DeliveryFailed as error:
                report.failures.append(f"Scores were not sent: {error}")
            on_step("emitted", total, total)
        if alerting.rules and job.scope.until is None:
            _judge(job, alerting, report)
            on_step("judged", total, total)
        if alerting.webhook is not None:
            delivered = deliver(job.store, alerting.webhook, environ)
            report.sent = delivered.sent
            report.failures += delivered.failures
            on_step("delivered", total, total)
        report.has_webhook = alerting.webhook is not None
        _look_for_waiting(job, report)
    report.duration_s = time.monotonic() - began
    return report


def _look_for_waiting(job: Job, report: Report) -> None:
    with read_session(job.store, wait_s=WAIT_S) as session:
        scores, messages = undelivered_scores(session), undelivered_messages(session)
    report.emit_waiting = sum(one.waiting for one in scores if one.name == job.destination)
    report.elsewhere = [one for one in scores if one.name != job.destination]
    report.messages_waiting = sum(one.waiting for one in messages)


def _judge(job: Job, alerting: Alerting, report: Report) -> None:
    with read_session(job.store, wait_s=WAIT_S, may_spill=True) as session:
        judgements = judge(session, alerting.rules, source=job.scope.source, now=report.started_at)
        known = alert_states(session)
    judgements += _silent(alerting.rules, judgements, known)
    states, messages = changes(judgements, known, now=report.started_at, has_webhook=alerting.webhook is not None)
    keep_alerts(job.store, states, messages)
    changed = {(state.alert, state.series): state for state in states}
    report.judgements = judgements
    report.states = list({**{(state.alert, state.series): state for state in known}, **changed}.values())


def _silent(rules: Sequence[Rule], judgements: Sequence[Judgement], known: Sequence[AlertState]) -> list[Judgement]:
    """What is to be said of series that fired and have had no run since."""
    judged = {(one.rule.name, one.series) for one in judgements}
    by_name = {rule.name: rule for rule in rules if rule.by is not None}
    return [
        judge_series(by_name[state.alert], state.series, [], [] if by_name[state.alert].compares else None)
        for state in known
        if state.state == FIRING and state.alert in by_name and (state.alert, state.series) not in judged
    ]
