"""Takes out of a request what must not reach the disk, before the spool sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from spanscore.collector.records import Encoding, Signal
from spanscore.collector.redaction.json_request import redact_json
from spanscore.collector.redaction.protobuf import redact_protobuf
from spanscore.collector.redaction.rules import Rules
from spanscore.collector.redaction.settings import Privacy
from spanscore.collector.redaction.store_key import store_key


class Redactor:
    """Cleans requests; safe to use from many threads."""

    def __init__(self, privacy: Privacy, store: Path, *, on_redact: Callable[[Mapping[str, int]], None]) -> None:
        """Reads or makes the store's key; `on_redact` is told how many replacements of each kind a request took.

        Raises:
            StoreError: the key cannot be used.
        """
        self._rules = None if privacy.is_off else Rules(privacy, store_key(store))
        self._on_redact = on_redact

    def clean(self, signal: Signal, encoding: Encoding, payload: bytes) -> bytes:
        """The request as it may be stored; the very bytes of it where nothing had to be changed.

        Raises:
            DecodeError: it cannot be decoded, so nobody knows what is in it.
        """
        rules = self._rules
        is_json = encoding is Encoding.JSON
        if rules is None or not (rules.always or rules.scan.needs_look(payload, is_json=is_json)):
            return payload
        counts: Counter[str] = Counter()
        changed = redact_json(payload, rules, counts) if is_json else redact_protobuf(payload, signal, rules, counts)
        if not counts:
            return payload
        self._on_redact(counts)
        return changed
