"""What the spool no longer has: when the requests came whose segments were deleted after they were loaded."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from spanscore.store.directory import sync_directory

RETIRED_FILE = "retired.json"


@dataclass(frozen=True, slots=True)
class Retired:
    """Segments that are gone.

    Attributes:
        segments: how many [count].
        size: of all of them [bytes].
        from_ns, until_ns: when the first was begun and the last written to [ns since 1970, UTC].
    """

    segments: int
    size: int
    from_ns: int
    until_ns: int


def read_retired(spool: Path) -> Retired | None:
    """What was deleted from the spool in this directory; None = nothing, as far as is known."""
    try:
        return Retired(**json.loads((spool / RETIRED_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def note_retired(spool: Path, segments: Sequence[tuple[Path, os.stat_result]]) -> None:
    """Adds segments that are about to be deleted. On disk, and synced, before the first of them goes."""
    before = read_retired(spool)
    began = min(int(path.name[:20]) for path, _ in segments)
    ended = max(found.st_mtime_ns for _, found in segments)
    noted = Retired(
        segments=len(segments) + (before.segments if before else 0),
        size=sum(found.st_size for _, found in segments) + (before.size if before else 0),
        from_ns=min(began, before.from_ns) if before else began,
        until_ns=max(ended, before.until_ns) if before else ended,
    )
    temporary = spool / f"{RETIRED_FILE}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(noted), file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(spool / RETIRED_FILE)
    sync_directory(spool)
