"""What waits for whom, since when and why; and its end, where nobody will ever answer there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.store.queries import read_query
from spanscore.store.scoring import WAIT_S
from spanscore.store.writing import transaction

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from spanscore.store.session import ReadSession


@dataclass(frozen=True, slots=True)
class Undelivered:
    """What waits for one destination, or about one alert.

    Attributes:
        name: of the destination, without anything secret, or of the alert.
        waiting: runs and sessions whose scores have to be sent, or messages [count].
        oldest: when the one that waits longest was queued [UTC].
        failed_passes: passes in a row that could not deliver [count]; None or 0 = none has tried.
        last_error: why not; None = none has tried.
    """

    name: str
    waiting: int
    oldest: dt.datetime
    failed_passes: int | None
    last_error: str | None


def undelivered_scores(session: ReadSession) -> list[Undelivered]:
    """Destinations that scores wait for, what waited longest first."""
    rows = session.rows(read_query("reports/outbox.sql"))
    return [Undelivered(*row[:5]) for row in rows]


def undelivered_messages(session: ReadSession) -> list[Undelivered]:
    """Alerts that messages about wait for the webhook, what waited longest first."""
    return [Undelivered(*row) for row in session.rows(read_query("reports/alert_outbox.sql"))]


def discard_scores(directory: Path, destination: str) -> int:
    """Nothing is sent to `destination` any more of what waits for it; returns how many runs and sessions did [count].

    Raises:
        StoreLocked: another process holds the store.
    """
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.execute("delete from destination_failures where destination = ?", [destination])
        rows = connection.execute(
            "delete from score_outbox where destination = ? returning subject_id", [destination]
        ).fetchall()
    return len(rows)


def discard_messages(directory: Path) -> int:
    """The webhook is told of nothing that happened until now; returns how many messages waited [count].

    Raises:
        StoreLocked: another process holds the store.
    """
    with transaction(directory, wait_s=WAIT_S) as connection:
        return len(connection.execute("delete from alert_outbox returning message_id").fetchall())


def readdress_scores(directory: Path, old: str, new: str) -> int:
    """What waits for `old` waits for `new` from now on; returns how many runs and sessions that are [count].

    Raises:
        StoreLocked: another process holds the store.
    """
    with transaction(directory, wait_s=WAIT_S) as connection:
        connection.execute(read_query("production/readdressed.sql"), {"old": old, "new": new})
        connection.execute(read_query("production/drop_queued.sql"))
        connection.execute(read_query("production/queue_scores.sql"))
        connection.execute("delete from destination_failures where destination = ?", [old])
        rows = connection.execute("delete from score_outbox where destination = ? returning subject_id", [old])
        return len(rows.fetchall())
