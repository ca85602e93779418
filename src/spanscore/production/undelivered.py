"""`spanscore doctor --discard` and `--readdress`: what waits for a destination that is not used any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.production.events import Destination
from spanscore.store import read_session
from spanscore.store.undelivered import (
    discard_messages,
    discard_scores,
    readdress_scores,
    undelivered_messages,
    undelivered_scores,
)

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = "1.0"
WEBHOOK = "webhook"
"""What messages about alerts wait for; a file of this name is `./webhook`."""


def discard(store: Path, word: str) -> dict[str, Any]:
    """Drops what waits for a destination. The scores and the states of alerts stay.

    Args:
        store: its directory.
        word: the destination as it was given to `score --emit`, or as `doctor` names it; or `webhook`.

    Returns:
        The JSON document of the command.

    Raises:
        UsageError: nothing waits for it.
        StoreError: the store cannot be read or written.
    """
    name = _waiting_for(store, word)
    n = discard_messages(store) if name == WEBHOOK else discard_scores(store, name)
    return {"schema_version": SCHEMA_VERSION, "store": str(store), "destination": name, "discarded": n}


def readdress(store: Path, old: str, new: str) -> dict[str, Any]:
    """Has what waits for `old` wait for `new`, where the next pass of `score --emit NEW` sends it. As above.

    Raises:
        UsageError: nothing waits for `old`, or `new` is no destination for scores.
    """
    name, target = _waiting_for(store, old), Destination(new, {}).name
    if name == WEBHOOK or new == WEBHOOK:
        raise UsageError(
            "Messages about alerts go to the webhook of spanscore.toml, and scores do not.\n"
            "  Change the address there: what waits is sent to it by the next pass."
        )
    if name == target:
        raise UsageError(f"What waits for `{name}` waits for `{target}` already.")
    n = readdress_scores(store, name, target)
    return {
        "schema_version": SCHEMA_VERSION,
        "store": str(store),
        "destination": name,
        "readdressed": n,
        "new_destination": target,
    }


def _waiting_for(store: Path, word: str) -> str:
    """The name of the destination that is called `word`, of those that something waits for."""
    with read_session(store) as session:
        names = [one.name for one in undelivered_scores(session)]
        if undelivered_messages(session):
            names.append(WEBHOOK)
    if word in names:
        return word
    if word == WEBHOOK:
        raise UsageError("No message about an alert waits for the webhook.")
    name = Destination(word, {}).name
    if name in names:
        return name
    listed = "; ".join(f"`{one}`" for one in names)
    raise UsageError(
        f"Nothing waits for `{name}`.\n  " + (f"Something waits for: {listed}." if names else "Nothing waits at all.")
    )
