"""Puts aside what the spool has and the store cannot take: a copy in a file of its own, and word of it."""

import logging
import os
from pathlib import Path

from spanscore.collector.records import Gap, SpoolRecord
from spanscore.collector.spool import QUARANTINE, TORN_SUFFIX
from spanscore.collector.status import CollectorStatus
from spanscore.store.directory import sync_directory

log = logging.getLogger(__name__)


class Quarantine:
    """The folder of a spool in which copies are kept until someone deletes them."""

    def __init__(self, spool: Path, status: CollectorStatus) -> None:
        self._folder = spool / QUARANTINE
        self._status = status

    def set_gap_aside(self, segment: str, gap: Gap) -> None:
        copy = self._copy(segment, gap.start_offset, gap.end_offset, gap.content, is_torn=gap.is_torn_tail)
        if gap.is_torn_tail:
            self._status.add(torn_tails=1)
            log.warning(
                "Segment `%s` ends in the middle of a record at byte %d, as after a kill: the record was never "
                "acknowledged. Its %d bytes are kept in `%s`.",
                segment, gap.start_offset, len(gap.content), copy,
            )  # fmt: skip
            return
        self._status.report_damage(segment, gap.start_offset, gap.end_offset, gap.reason, copy)
        log.error(
            "Segment `%s` is damaged from byte %d to %d: %s. Spans that were acknowledged may be lost. The bytes are "
            "kept in `%s`; check the disk.",
            segment, gap.start_offset, gap.end_offset, gap.reason, copy,
        )  # fmt: skip

    def set_record_aside(self, segment: str, record: SpoolRecord, reason: str) -> None:
        start = record.end_offset - len(record.payload)
        copy = self._copy(segment, start, record.end_offset, record.payload)
        self._status.report_damage(segment, start, record.end_offset, reason, copy)
        log.error(
            "A request in segment `%s` that was acknowledged cannot be loaded: %s. Its bytes are kept in `%s`.",
            segment, reason, copy,
        )  # fmt: skip

    def _copy(self, segment: str, start: int, end: int, content: bytes, *, is_torn: bool = False) -> Path:
        """Keeps bytes that could not be loaded; the same bytes again are the same file."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / f"{segment}.{start}-{end}{TORN_SUFFIX if is_torn else ''}"
        with path.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(self._folder)
        return path
