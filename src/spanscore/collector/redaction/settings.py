"""What a collector is told to leave out of what it stores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Redact(StrEnum):
    """What is replaced in every text before it is stored."""

    NONE = "none"
    SECRETS = "secrets"
    PERSONAL = "personal"


class Content(StrEnum):
    """What becomes of prompts, answers, tool arguments and results."""

    FULL = "full"
    HASH = "hash"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """What is replaced or left out before anything is written to disk.

    Attributes:
        redact: `secrets` replaces keys, tokens and passwords; `personal` e-mail addresses, telephone numbers, cards and
            bank accounts too.
        content: `hash` keeps a keyed hash of prompts, answers, tool arguments and results under another key, `drop`
            nothing of them.
        redact_keys: attribute keys, or patterns of them (`user.*`), whose values are replaced whatever they are.
        keep_keys: attribute keys, or patterns of them, whose values are never touched by `redact`.
    """

    redact: Redact = Redact.SECRETS
    content: Content = Content.FULL
    redact_keys: tuple[str, ...] = ()
    keep_keys: tuple[str, ...] = ()

    @property
    def is_off(self) -> bool:
        """Whether requests are stored exactly as they came."""
        return self.redact is Redact.NONE and self.content is Content.FULL and not self.redact_keys
