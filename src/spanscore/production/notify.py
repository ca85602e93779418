"""When a message about an alert is due, and its way to the webhook: once per change, whatever happens in between."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanscore.errors import DeliveryFailed, UsageError
from spanscore.production.alerts import Judgement, Verdict
from spanscore.production.delivery import post
from spanscore.store.outbox import AlertState, Message, forget_message, keep_attempt, waiting_messages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from spanscore.production.rules import Webhook
    from spanscore.statistics import Interval

SCHEMA_VERSION = "1.0"
FIRING, RESOLVED = "firing", "resolved"


def changes(
    judgements: Sequence[Judgement], known: Sequence[AlertState], *, now: dt.datetime, has_webhook: bool
) -> tuple[list[AlertState], list[Message]]:
    """The states that change, and the messages that are due.

    What cannot be decided changes nothing: an alert that fires goes on firing until enough runs say that all is well.

    Args:
        judgements: of this pass.
        known: states of earlier ones.
        now: UTC, without zone.
        has_webhook: whether there is anyone to tell.
    """
    states: list[AlertState] = []
    messages: list[Message] = []
    by_series = {(state.alert, state.series): state for state in known}
    for judgement in judgements:
        before = by_series.get((judgement.rule.name, judgement.series))
        was_firing = before is not None and before.state == FIRING
        if judgement.verdict is Verdict.FIRING:
            state, since = FIRING, before.since if was_firing and before is not None else now
        elif judgement.verdict is Verdict.OK and was_firing:
            state, since = RESOLVED, now
        else:
            continue
        is_change = state != (FIRING if was_firing else RESOLVED)
        told_at = None if before is None or is_change else before.notified_at
        is_due = has_webhook and (told_at is None or _is_over(told_at, judgement.rule.repeat_s, now))
        if not is_change and not is_due:
            continue
        row = AlertState(
            alert=judgement.rule.name,
            series=judgement.series,
            state=state,
            since=since,
            notified_at=now if is_due else told_at,
            value=judgement.value,
            reason=judgement.reason,
        )
        states.append(row)
        if is_due:
            messages.append(_message(judgement, row, now))
    return states, messages


def _is_over(told_at: dt.datetime, repeat_s: float | None, now: dt.datetime) -> bool:
    return repeat_s is not None and now - told_at >= dt.timedelta(seconds=repeat_s)


def _message(judgement: Judgement, state: AlertState, now: dt.datetime) -> Message:
    identity = (state.alert, state.series, state.state, state.since.isoformat(), now.isoformat())
    message_id = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:32]
    payload = {
        "schema_version": SCHEMA_VERSION,
        "id": message_id,
        "text": words(judgement, state.state),
        "state": state.state,
        "since": f"{state.since.isoformat()}Z",
        "severity": judgement.rule.severity,
        **described(judgement),
    }
    return Message(message_id=message_id, alert=state.alert, series=state.series, payload=payload, queued_at=now)


def words(judgement: Judgement, state: str) -> str:
    """One line for people."""
    rule = judgement.rule
    whose = f" of {rule.by} {judgement.series}" if rule.by is not None else ""
    value = "no value" if judgement.value is None else f"{judgement.value:.4g}"
    ends = judgement.interval
    interval = "" if ends is None else f" (95% interval {_end(ends.low)} to {_end(ends.high)}, n = {judgement.n})"
    return f"{rule.name} {state}: {rule.metric}{whose} is {value}{interval}; {judgement.reason}"


def _end(value: float | None) -> str:
    return "open" if value is None else f"{value:.4g}"


def described(judgement: Judgement) -> dict[str, Any]:
    """A judgement as documents and messages show it."""
    rule = judgement.rule
    return {
        "alert": rule.name,
        "verdict": str(judgement.verdict),
        "severity": rule.severity,
        "metric": rule.metric,
        "unit": rule.unit,
        "figure": rule.figure,
        "by": rule.by,
        "series": judgement.series,
        "window_s": rule.window_s,
        "value": judgement.value,
        "interval": _pair(judgement.interval),
        "n": judgement.n,
        "n_total": judgement.n_total,
        "clusters": judgement.clusters,
        "min_n": rule.min_n,
        "below": rule.below,
        "above": rule.above,
        "previous": judgement.previous,
        "change_interval": _pair(judgement.change),
        "reason": judgement.reason,
    }


def _pair(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [interval.low, interval.high]


@dataclass(frozen=True, slots=True)
class Delivered:
    """Messages that arrived [count], and why others did not."""

    sent: int
    failures: tuple[str, ...]


def deliver(store: Path, webhook: Webhook, environ: Mapping[str, str]) -> Delivered:
    """Posts every message that waits, until the webhook cannot be reached: the others then wait without being tried.

    The address and the token are never part of what is said about it.
    """
    sent = 0
    failures: list[str] = []
    messages = waiting_messages(store)
    for message in messages:
        try:
            post(
                address(webhook, environ),
                json.dumps(message.payload).encode(),
                headers=_headers(webhook, message, environ),
                timeout_s=webhook.timeout_s,
            )
        except DeliveryFailed as error:
            keep_attempt(store, message.message_id, str(error))
            failures.append(f"The message about `{message.alert}` was not delivered: {error}")
            if not error.is_final:
                # Every one of them would wait for the same attempts and time limits.
                break
        else:
            forget_message(store, message.message_id)
            sent += 1
    return Delivered(sent, tuple(failures))


def address(webhook: Webhook, environ: Mapping[str, str]) -> str:
    """The address of the webhook.

    Raises:
        UsageError: the variable that should hold it does not.
    """
    url = webhook.url if webhook.url_env is None else environ.get(webhook.url_env, "")
    if not url or not url.startswith(("http://", "https://")):
        raise UsageError(
            f"The environment variable `{webhook.url_env}` of [alerting] holds no http:// or https:// address.\n"
            "  Set it, or take `webhook_env` out of spanscore.toml."
        )
    return url


def _headers(webhook: Webhook, message: Message, environ: Mapping[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": message.message_id}
    if webhook.token_env is not None:
        headers["Authorization"] = f"Bearer {environ.get(webhook.token_env, '')}"
    return headers
