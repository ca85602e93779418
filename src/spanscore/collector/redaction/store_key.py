"""The key of a store that replacements are made with: equal secrets stay equal, and nobody else can try them out."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from spanscore.errors import StoreError
from spanscore.store.directory import make_directory

KEY_FILE = "redaction.key"
KEY_BYTES = 32


def store_key(store: Path) -> bytes:
    """The key of a store, made and kept (for its owner only) where there is none yet.

    Raises:
        StoreError: it cannot be made or read.
    """
    path = store / KEY_FILE
    make_directory(store)
    try:
        if not path.exists():
            _write(path)
        key = path.read_bytes()
    except OSError as error:
        raise StoreError(f"The redaction key `{path}` cannot be used: {error.strerror}.") from error
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"The redaction key `{path}` has {len(key)} bytes, not {KEY_BYTES}.\n"
            "  Remove it to have a new one made: secrets redacted from then on no longer match earlier ones."
        )
    return key


def _write(path: Path) -> None:
    """Writes the whole key under another name first, so that no reader and no crash ever sees a part of one."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Whoever comes first decides.
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
