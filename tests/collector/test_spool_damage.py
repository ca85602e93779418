"""A segment that was cut, flipped, overwritten or only half synced: what is left is read, and what is not is told."""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from spanscore.collector import spool as spool_module
from spanscore.collector.records import HEADER_BYTES, Encoding, Gap, Signal, SpoolRecord, read_segment
from spanscore.collector.spool import Spool
from spanscore.store import directory as directory_module

NAME = "00000000000000000001-00000000.spool"


def record(payload: bytes) -> SpoolRecord:
    return SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, 1_700_000_000_000_000_000, payload)


def payloads(sizes: list[int]) -> list[bytes]:
    rng = random.Random(1)
    return [rng.randbytes(size) for size in sizes]


def segment(written: list[bytes]) -> bytes:
    return b"".join(record(payload).header() + payload for payload in written)


def read(path: Path, content: bytes) -> tuple[list[bytes], list[Gap]]:
    path.write_bytes(content)
    found = list(read_segment(path))
    ends = [item.end_offset for item in found]
    assert ends == sorted(ends)
    assert not ends or ends[-1] == len(content), "every byte is a record or in a gap"
    return (
        [item.payload for item in found if isinstance(item, SpoolRecord)],
        [item for item in found if isinstance(item, Gap)],
    )


def check_truncations(path: Path, written: list[bytes], step: int) -> None:
    whole = segment(written)
    ends = [0]
    for payload in written:
        ends.append(ends[-1] + HEADER_BYTES + len(payload))
    for size in range(0, len(whole), step):
        kept = sum(end <= size for end in ends[1:])
        records, gaps = read(path, whole[:size])

        assert records == written[:kept]
        assert [(gap.start_offset, gap.is_torn_tail) for gap in gaps] == ([] if size in ends else [(ends[kept], True)])


def test_a_segment_cut_anywhere_keeps_every_record_before_the_cut(tmp_path: Path) -> None:
    check_truncations(tmp_path / NAME, payloads([0, 1, 30, 200, 5, 700]), 1)


@pytest.mark.slow
def test_a_segment_of_64_kib_cut_at_every_byte_keeps_every_record_before_the_cut(tmp_path: Path) -> None:
    check_truncations(tmp_path / NAME, payloads([4000] * 15 + [5500]), 1)


def test_no_flipped_bit_passes_in_silence_or_for_a_torn_tail(tmp_path: Path) -> None:
    """Not in the last record either, where a longer length looks as if the record had been cut short."""
    written = payloads([40, 3, 90])
    whole = segment(written)
    ends = [HEADER_BYTES + 40, 2 * HEADER_BYTES + 43, len(whole)]
    for bit in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        hit = sum(end <= bit // 8 for end in ends)
        records, gaps = read(tmp_path / NAME, bytes(flipped))

        assert records == [payload for n, payload in enumerate(written) if n != hit]
        assert [gap.is_torn_tail for gap in gaps] == [False]


@pytest.mark.parametrize("seed", range(3))
def test_a_hole_of_zeros_costs_the_records_it_touches(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    written = payloads([rng.randrange(20, 400) for _ in range(12)])
    whole = segment(written)
    for _ in range(200):
        start = rng.randrange(len(whole) - 1)
        end = rng.randrange(start + 1, min(len(whole), start + 1500) + 1)
        holed = whole[:start] + bytes(end - start) + whole[end:]
        at = 0
        kept = []
        for payload in written:
            size = HEADER_BYTES + len(payload)
            if holed[at : at + size] == whole[at : at + size]:
                kept.append(payload)
            at += size
        records, gaps = read(tmp_path / NAME, holed)

        assert records == kept
        assert bool(gaps) == (len(kept) < len(written))


@dataclass
class Recorder:
    """Stands for `os` in the spool, and keeps what was written, synced and acknowledged, in order."""

    log: list[tuple[Any, ...]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Any, flags: int, *rest: int) -> int:
        fd = os.open(path, flags, *rest)
        self.names[fd] = Path(path).name
        if flags & os.O_EXCL:
            self.log.append(("create", self.names[fd]))
        return fd

    def writev(self, fd: int, parts: list[bytes]) -> int:
        self.log.append(("write", self.names[fd], b"".join(parts)))
        return os.writev(fd, parts)

    def fdatasync(self, fd: int) -> None:
        os.fdatasync(fd)
        self.log.append(("sync", self.names[fd]))

    def fsync(self, fd: int) -> None:
        os.fsync(fd)
        self.log.append(("sync names", self.names[fd]))


def images(
    log: list[tuple[Any, ...]], rng: random.Random, per_step: int
) -> Iterator[tuple[dict[str, bytes], set[bytes]]]:
    """What a disk may hold after the power went at each step, and what had been acknowledged by then.

    Synced bytes are there. Of others, any pages may have been written: none, the first, all but some, in any order; the
    rest reads as zeros, or the file is shorter. A name that was not synced may be there or not.
    """
    written: dict[str, bytes] = {}
    synced: dict[str, int] = {}
    durable: set[str] = set()
    acked: set[bytes] = set()
    for kind, name, *rest in log:
        match kind:
            case "create":
                written[name], synced[name] = b"", 0
            case "write":
                written[name] += rest[0]
            case "sync":
                synced[name] = len(written[name])
            case "sync names":
                durable |= set(written)
            case "ack":
                acked.add(name)
        for _ in range(per_step):
            image = {}
            for file, content in written.items():
                if file not in durable and rng.random() < 0.5:
                    continue
                safe, loose = content[: synced[file]], content[synced[file] :]
                pages = [loose[at : at + 64] for at in range(0, len(loose), 64)]
                loose = b"".join(page if rng.random() < 0.6 else bytes(len(page)) for page in pages)
                image[file] = safe + loose[: rng.choice([0, len(loose), rng.randint(0, len(loose))])]
            yield image, set(acked)


def test_what_was_acknowledged_survives_a_power_failure_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    for module in (spool_module, directory_module):
        monkeypatch.setattr(module, "os", recorder)
    rng = random.Random(5)
    with Spool(tmp_path / "spool", segment_bytes=2000) as spool:
        for payload in payloads([rng.randrange(1, 500) for _ in range(40)]):
            spool.append(record(payload))
            recorder.log.append(("ack", payload))
    monkeypatch.undo()
    folder = tmp_path / "image"
    folder.mkdir()
    tried = 0
    for image, acked in images(recorder.log, rng, 8):
        found: set[bytes] = set()
        for name, content in image.items():
            found.update(read(folder / name, content)[0])
        tried += 1

        assert acked <= found
    assert tried >= 1000
    assert sum(step[0] == "create" for step in recorder.log) > 3


def test_the_power_failure_of_a_spool_that_does_not_sync_loses_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same check sees the loss when acknowledgements come before the sync."""
    recorder = Recorder()
    for module in (spool_module, directory_module):
        monkeypatch.setattr(module, "os", recorder)
    with Spool(tmp_path / "spool", segment_bytes=2000) as spool:
        for payload in payloads([200] * 10):
            spool.append(record(payload))
            recorder.log.append(("ack", payload))
    monkeypatch.undo()
    log = [step for step in recorder.log if step[0] != "sync"]
    lost = 0
    for image, acked in images(log, random.Random(6), 4):
        found: set[bytes] = set()
        for name, content in image.items():
            found.update(read(tmp_path / name, content)[0])
        lost += not acked <= found
    assert lost > 0
