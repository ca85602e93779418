"""What happens to one attribute by its key, the same for both encodings."""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache

from spanscore.collector.redaction.commands import option_takes_password
from spanscore.collector.redaction.content import content_keys
from spanscore.collector.redaction.names import Name, name_of
from spanscore.collector.redaction.scan import Scan
from spanscore.collector.redaction.settings import Content, Privacy, Redact
from spanscore.collector.redaction.text import TextRedactor

LONGEST_WORD = 64
"""Characters of a word of a command line that are looked at [count]."""

_WILD = re.compile(r"[*?\[]")


class Fate(Enum):
    """What becomes of an attribute."""

    LOOK = auto()
    KEEP = auto()
    REPLACE = auto()
    HASH = auto()
    DROP = auto()


class Rules:
    """The settings of one collector, made quick to ask."""

    def __init__(self, privacy: Privacy, key: bytes) -> None:
        self.key = key
        self.privacy = privacy
        self.redacts = privacy.redact is not Redact.NONE
        self.with_personal = privacy.redact is Redact.PERSONAL
        self.strips_content = privacy.content is not Content.FULL
        pieces = [max(_WILD.split(pattern.replace("]", "*")), key=len) for pattern in privacy.redact_keys]
        # A pattern without a literal piece may match anything: then every request is looked at.
        self.always = self.strips_content or not all(pieces)
        self.scan = Scan(with_personal=self.with_personal, keys=[piece for piece in pieces if piece])
        self._content = content_keys() if self.strips_content else None
        # Keys repeat from span to span: what they mean is worked out once.
        self.fate = lru_cache(maxsize=16384)(self._fate)
        self.is_suspect_key = lru_cache(maxsize=16384)(self._is_suspect_key)

    def name(self, key: str) -> Name | None:
        """What a key says about a secret under it; None where only the value itself can tell."""
        return name_of(key) if self.redacts else None

    def name_after(self, words: Sequence[str]) -> Name | None:
        """What the last word of a command line says about the next one; None where it is no option before a secret.

        Words may be cut after `LONGEST_WORD` characters.
        """
        word = words[-1]
        if not self.redacts or not word.startswith("-") or "=" in word or len(word) >= LONGEST_WORD:
            return None
        return Name.PASSWORD if option_takes_password(words) else name_of(word)

    def redactor(self, counts: Counter[str]) -> TextRedactor:
        """A redactor that adds to `counts` what it replaces."""

        def count(kind: str) -> None:
            counts[kind] += 1

        return TextRedactor(self.scan, self.key, with_personal=self.with_personal, count=count)

    def content_hash(self, content: bytes) -> str:
        """The hash that stands for content: 32 hexadecimal digits, equal for equal content of one store."""
        return hmac.new(self.key, content, hashlib.sha256).hexdigest()[:32]

    def _fate(self, key: str, event: str | None) -> Fate:
        if self._content is not None and self._content.has(key, event):
            return Fate.HASH if self.privacy.content is Content.HASH else Fate.DROP
        if _matches(key, self.privacy.redact_keys):
            return Fate.REPLACE
        return Fate.KEEP if not self.redacts or _matches(key, self.privacy.keep_keys) else Fate.LOOK

    def _is_suspect_key(self, key: str) -> bool:
        return self.redacts and bool(self.scan.suspects([key]))


def _matches(key: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)
