"""What has still to be told to others. A row goes when it has arrived: whatever happens, it is told at least once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanscore.store.queries import read_query
from spanscore.store.scoring import WAIT_S
from spanscore.store.session import read_session
from spanscore.store.writing import transaction

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb
    import pyarrow as pa

    from spanscore.store.session import ReadSession

MOST_MESSAGES = 20
"""Messages that wait for the webhook, of one series of an alert [count]; older ones are given up."""

# Receivers may say why in many words [characters].
_LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Waiting:
    """Some runs and sessions whose scores have to be sent.

    Attributes:
        subjects: kind, subject_id and queued_at, oldest first.
        scores: their scores, with the span that each is about; the columns of `production/score_events.sql`.
    """

    subjects: list[tuple[str, str, dt.datetime]]
    scores: pa.Table


def waiting_scores(directory: Path, destination: str, *, limit: int) -> Waiting:
    """The oldest `limit` runs and sessions whose scores `destination` lacks."""
    with read_session(directory, wait_s=WAIT_S, may_spill=True) as session:
        subjects = session.rows(
            "select kind, subject_id, queued_at from score_outbox where destination = ?"
            " order by queued_at, kind, subject_id limit ?",
            [destination, limit],
        )
        scores = session.arrow(read_query("production/score_events.sql"), {"destination": destination, "limit": limit})
    return Waiting([(kind, subject, queued) for kind, subject, queued in subjects], scores)


def forget_sent(directory: Path, destination: str, subjects: Sequence[tuple[str, str, dt.datetime]]) -> None:
    """The scores of these have arrived; those that were queued again meanwhile stay."""
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.execute("delete from destination_failures where destination = ?", [destination])
        connection.execute(
            "delete from score_outbox where destination = $destination and (kind, subject_id, queued_at) in"
            " (select unnest($kinds::varchar[]), unnest($ids::varchar[]), unnest($times::timestamp[]))",
            {
                "destination": destination,
                "kinds": [kind for kind, _, _ in subjects],
                "ids": [subject for _, subject, _ in subjects],
                "times": [queued for _, _, queued in subjects],
            },
        )


def keep_failure(directory: Path, destination: str, error: str) -> None:
    """Scores could not be sent to `destination`, for this reason."""
    with transaction(directory, wait_s=WAIT_S) as connection:
        rows = connection.execute(
            "select failed_passes from destination_failures where destination = ?", [destination]
        ).fetchall()
        connection.execute("delete from destination_failures where destination = ?", [destination])
        connection.execute(
            "insert into destination_failures (destination, failed_passes, last_error, failed_at)"
            " values (?, ?, ?, now() at time zone 'UTC')",
            [destination, sum(n for (n,) in rows) + 1, error[:_LONGEST_ERROR]],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """Whether an alert fires for a series, and since when [UTC]."""

    alert: str
    series: str
    state: str
    since: dt.datetime
    notified_at: dt.datetime | None
    value: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message for the webhook."""

    message_id: str
    alert: str
    series: str
    payload: dict[str, Any]
    queued_at: dt.datetime
    attempts: int = 0


def alert_states(session: ReadSession) -> list[AlertState]:
    """Every state that is known."""
    rows = session.rows(
        "select alert, series, state, since, notified_at, value, reason from alert_states order by alert, series"
    )
    names = ("alert", "series", "state", "since", "notified_at", "value", "reason")
    return [AlertState(**dict(zip(names, row, strict=True))) for row in rows]


def keep_alerts(directory: Path, states: Sequence[AlertState], messages: Sequence[Message]) -> None:
    """Stores states in the place of earlier ones and queues messages, together. Without any the store is not opened."""
    if not states and not messages:
        return
    with transaction(directory, wait_s=WAIT_S) as connection:
        for state in states:
            connection.execute("delete from alert_states where alert = ? and series = ?", [state.alert, state.series])
            connection.execute(
                "insert into alert_states (alert, series, state, since, notified_at, value, reason)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                [state.alert, state.series, state.state, state.since, state.notified_at, state.value, state.reason],
            )
        for message in messages:
            _make_room(connection, message)
            connection.execute(
                "insert into alert_outbox (message_id, alert, series, payload, queued_at, attempts)"
                " values (?, ?, ?, ?, ?, 0)",
                [message.message_id, message.alert, message.series, json.dumps(message.payload), message.queued_at],
            )


def _make_room(connection: duckdb.DuckDBPyConnection, message: Message) -> None:
    """Drops what nobody need be told any more once `message` is queued: a webhook that never answers costs no more."""
    connection.execute(
        """
        delete from alert_outbox
        where alert = $alert and series = $series
            and (
                -- It says again what this one says.
                (payload ->> 'state' = $state and payload ->> 'since' = $since)
                or message_id not in (
                    select message_id
                    from alert_outbox
                    where alert = $alert and series = $series
                    order by queued_at desc, message_id
                    limit $others
                )
            )
        """,
        {
            "alert": message.alert,
            "series": message.series,
            "state": message.payload["state"],
            "since": message.payload["since"],
            "others": MOST_MESSAGES - 1,
        },
    )


def waiting_messages(directory: Path) -> list[Message]:
    """Messages that have not reached the webhook, oldest first."""
    with read_session(directory, wait_s=WAIT_S) as session:
        rows = session.rows(
            "select message_id, alert, series, payload::varchar, queued_at, attempts from alert_outbox"
            " order by queued_at, message_id"
        )
    return [
        Message(
            message_id=message_id,
            alert=alert,
            series=series,
            payload=json.loads(payload),
            queued_at=queued_at,
            attempts=attempts,
        )
        for message_id, alert, series, payload, queued_at, attempts in rows
    ]


def forget_message(directory: Path, message_id: str) -> None:
    """The message has arrived."""
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.execute("delete from alert_outbox where message_id = ?", [message_id])


def keep_attempt(directory: Path, message_id: str, error: str) -> None:
    """The message has not arrived, for this reason."""
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.execute(
            "update alert_outbox set attempts = attempts + 1, last_error = ? where message_id = ?",
            [error[:_LONGEST_ERROR], message_id],
        )
