"""Bearer tokens: who may send. Only their SHA-256 digests are kept, and nothing here ever logs one."""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from spanscore.collector.security import TOKENS_VARIABLE, Security
from spanscore.collector.watch import Stamp, stamp
from spanscore.errors import UsageError

MIN_TOKEN_BYTES = 32
_LOOK_EVERY_S = 1.0
# A group is somebody's choice, and how a volume of Kubernetes (fsGroup) lets a user who does not own the file read it.
_EVERYBODY = 0o007

log = logging.getLogger(__name__)


class Authenticator:
    """Checks the `Authorization` header of requests; safe to use from many threads."""

    def __init__(self, security: Security) -> None:
        """Reads the tokens.

        Raises:
            UsageError: the file cannot be read, holds no token, or a token is too short.
        """
        self.is_on = security.has_tokens
        self._file = security.token_file
        self._fixed = _digests(security.tokens, f"${TOKENS_VARIABLE}")
        self._mutex = threading.Lock()
        self._stamp: Stamp | None = None
        self._next_look = 0.0
        self._from_file: tuple[bytes, ...] = ()
        if self._file is not None:
            self._stamp = stamp([self._file])
            self._from_file = _read(self._file)

    def accepts(self, authorization: str | bytes | None) -> bool:
        """Whether the value of an `Authorization` header carries one of the tokens.

        Digests are compared, all of them, in constant time: how long it takes does not tell which token came close.
        """
        if not self.is_on:
            return True
        header = authorization.encode("utf-8", "replace") if isinstance(authorization, str) else authorization
        scheme, _, token = (header or b"").strip().partition(b" ")
        digest = hashlib.sha256(token.strip()).digest()
        is_known = False
        for known in (*self._fixed, *self._current()):
            is_known |= hmac.compare_digest(known, digest)
        return is_known and scheme.lower() == b"bearer"

    def _current(self) -> tuple[bytes, ...]:
        if self._file is not None and time.monotonic() >= self._next_look:
            with self._mutex:
                self._next_look = time.monotonic() + _LOOK_EVERY_S
                self._look()
        return self._from_file

    def _look(self) -> None:
        assert self._file is not None
        found = stamp([self._file])
        if found == self._stamp:
            return
        self._stamp = found
        try:
            self._from_file = _read(self._file)
        except UsageError as error:
            log.warning("%s The tokens read before stay in use.", error)
        else:
            log.info("Read %d tokens from `%s`.", len(self._from_file), self._file)


def _read(file: Path) -> tuple[bytes, ...]:
    try:
        text = file.read_text(encoding="utf-8")
        mode = file.stat().st_mode
        if mode & _EVERYBODY:
            log.warning(
                "The token file `%s` has mode %04o, which lets every user of the machine at it: chmod o-rwx it.",
                file,
                mode & 0o7777,
            )
    except (OSError, ValueError) as error:
        raise UsageError(f"The token file `{file}` cannot be read: {error}.") from error
    tokens = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not tokens:
        raise UsageError(
            f"The token file `{file}` holds no token. Write one a line, for example `openssl rand -hex 32`."
        )
    return _digests(tokens, f"the token file `{file}`")


def _digests(tokens: Sequence[str], place: str) -> tuple[bytes, ...]:
    for number, token in enumerate(tokens, 1):
        size = len(token.encode())
        if size < MIN_TOKEN_BYTES:
            raise UsageError(
                f"Token {number} of {place} has {size} bytes; at least {MIN_TOKEN_BYTES} are needed.\n"
                "  Make one with: openssl rand -hex 32"
            )
        if not token.isascii() or any(c.isspace() for c in token):
            raise UsageError(
                f"Token {number} of {place} has characters that no header can carry: use ASCII without blanks."
            )
    return tuple(hashlib.sha256(token.encode()).digest() for token in tokens)
