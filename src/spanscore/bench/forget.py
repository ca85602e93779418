"""Takes what agents answered out of the journals of experiments; that the attempts took place stays."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

from spanscore.bench.journal import FOLDER
from spanscore.errors import UsageError
from spanscore.store.directory import sync_directory

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_CONTENT = ("answer", "message")


def forget_answers(store: Path, trace_ids: Collection[str]) -> int:
    """Blanks answers and messages of the attempts that these traces are of; returns how many journals changed [count].

    A line that cannot be read and names one of the traces goes as a whole.

    Raises:
        UsageError: one of these experiments is being run.
    """
    changed = 0
    for path in sorted((store / FOLDER).glob("*.jsonl")):
        with path.open("rb") as file:
            before = file.read().splitlines(keepends=True)
            after = [_without_content(line, trace_ids) for line in before]
            if after == before:
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(
                    f"The experiment of `{path}` is being run by another process.\n  Wait for it, then purge again."
                ) from error
            temporary = path.with_name(f"{path.name}.tmp")
            with temporary.open("wb") as new:
                os.fchmod(new.fileno(), 0o600)
                new.write(b"".join(after))
                new.flush()
                os.fsync(new.fileno())
            temporary.replace(path)
            sync_directory(path.parent)
            changed += 1
    return changed


def _without_content(line: bytes, trace_ids: Collection[str]) -> bytes:
    try:
        entry = json.loads(line)
        if entry.get("trace_id") not in trace_ids or all(entry.get(name) is None for name in _CONTENT):
            return line
    except (ValueError, AttributeError):
        return b"" if any(trace_id.encode() in line for trace_id in trace_ids) else line
    entry.update(dict.fromkeys(_CONTENT))
    return json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
