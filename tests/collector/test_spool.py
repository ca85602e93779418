"""What was acknowledged can be read back, whatever happened to the rest."""

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanscore.collector.records import HEADER_BYTES, Encoding, Gap, Signal, SpoolRecord, read_segment
from spanscore.collector.spool import Spool, segment_paths
from spanscore.errors import CollectorRunning, SpoolUnavailable


def record(payload: bytes, *, encoding: Encoding = Encoding.PROTOBUF) -> SpoolRecord:
    return SpoolRecord(Signal.TRACES, encoding, 1_700_000_000_000_000_000, payload)


def contents(directory: Path) -> list[bytes]:
    return [
        found.payload
        for path in segment_paths(directory)
        for found in read_segment(path)
        if isinstance(found, SpoolRecord)
    ]


def segment_of(directory: Path, payloads: list[bytes]) -> Path:
    with Spool(directory) as spool:
        for payload in payloads:
            spool.append(record(payload))
    (path,) = segment_paths(directory)
    return path


def test_a_record_comes_back_as_it_went_in(tmp_path: Path) -> None:
    sent = SpoolRecord(Signal.LOGS, Encoding.JSON, 1_700_000_000_123_456_789, b'{"resourceLogs":[]}')
    with Spool(tmp_path / "spool") as spool:
        spool.append(sent)
        synced = spool.synced()
    (path,) = segment_paths(tmp_path / "spool")
    (found,) = read_segment(path)

    assert isinstance(found, SpoolRecord)
    assert (found.signal, found.encoding, found.received_ns, found.payload) == (
        sent.signal,
        sent.encoding,
        sent.received_ns,
        sent.payload,
    )
    assert synced == {path.name: path.stat().st_size} == {path.name: found.end_offset}


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    path = segment_of(tmp_path / "spool", [b"x"])

    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"


def test_many_threads_share_syncs_and_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs = []
    real = os.fdatasync

    def counted(fd: int) -> None:
        syncs.append(fd)
        real(fd)

    monkeypatch.setattr(os, "fdatasync", counted)
    with Spool(tmp_path / "spool", segment_bytes=4096) as spool:

        def send(thread: int) -> None:
            for i in range(50):
                spool.append(record(f"{thread}-{i}".encode()))

        threads = [threading.Thread(target=send, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = contents(tmp_path / "spool")

    assert sorted(found) == sorted(f"{thread}-{i}".encode() for thread in range(16) for i in range(50))
    assert len(segment_paths(tmp_path / "spool")) > 1
    assert len(syncs) < 800


def test_every_start_begins_a_new_segment_that_sorts_last(tmp_path: Path) -> None:
    names = []
    for n in range(3):
        with Spool(tmp_path / "spool") as spool:
            spool.append(record(str(n).encode()))
            names += spool.synced()

    assert names == [path.name for path in segment_paths(tmp_path / "spool")]
    assert contents(tmp_path / "spool") == [b"0", b"1", b"2"]


def test_a_segment_is_sealed_once_it_is_full_and_not_before(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool", segment_bytes=300) as spool:
        seen = []
        for n in range(12):
            spool.append(record(bytes(50) + str(n).encode()))
            paths = segment_paths(tmp_path / "spool")
            seen.append(
                spool.sealed() == {path.name: path.stat().st_size for path in paths if path.stat().st_size >= 300}
            )

    assert all(seen)
    assert len(paths) > 2


def test_a_segment_that_could_not_be_begun_is_sealed_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Spool(tmp_path / "spool") as spool:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(errno.EIO, "I/O error")))
            with pytest.raises(SpoolUnavailable):
                spool.append(record(b"refused"))
        (begun,) = segment_paths(tmp_path / "spool")
        sealed = spool.sealed()

    assert sealed == {begun.name: 0}


def test_a_second_collector_is_refused_by_name(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool"), pytest.raises(CollectorRunning, match=rf"PID {os.getpid()}"):
        Spool(tmp_path / "spool")
    Spool(tmp_path / "spool").close()


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_writev, real_write = os.writev, os.write
    monkeypatch.setattr(os, "writev", lambda fd, parts: real_writev(fd, [bytes(parts[0])[:5]]))
    monkeypatch.setattr(os, "write", lambda fd, rest: real_write(fd, bytes(rest)[:7]))
    path = segment_of(tmp_path / "spool", [b"first" * 20, b"second" * 20])

    assert contents(path.parent) == [b"first" * 20, b"second" * 20]


@pytest.mark.parametrize("call", ["writev", "fdatasync", "open", "fsync"])
@pytest.mark.parametrize("fault", [errno.EIO, errno.ENOSPC])
def test_a_fault_is_told_to_the_sender_and_later_records_are_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, fault: int
) -> None:
    """Fails the Nth call, for every N until none is reached: what was acknowledged is always readable."""
    real = getattr(os, call)
    reached = True
    nth = 0
    while reached:
        nth += 1
        directory = tmp_path / f"{call}-{nth}" / "spool"
        acked, refusals = [], []
        with Spool(directory, segment_bytes=300) as spool:
            left = [nth]

            def faulty(*args: object, left: list[int] = left, **kwargs: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    raise OSError(fault, os.strerror(fault))
                return real(*args, **kwargs)

            monkeypatch.setattr(os, call, faulty)
            for n in range(12):
                payload = f"record {n}".encode() * 5
                try:
                    spool.append(record(payload))
                    acked.append(payload)
                except SpoolUnavailable as error:
                    refusals.append(str(error))
            monkeypatch.setattr(os, call, real)
            reached = left[0] <= 0

        assert set(acked) <= set(contents(directory))
        assert len(acked) == (11 if reached else 12)
        assert all(os.strerror(fault) in refusal for refusal in refusals)
    assert nth > 1


def test_what_follows_a_failed_sync_goes_to_another_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed sync the kernel may believe lost pages to be clean: the file is never synced again."""
    real = os.fdatasync
    with Spool(tmp_path / "spool") as spool:
        spool.append(record(b"before"))
        (first,) = spool.synced()
        monkeypatch.setattr(os, "fdatasync", lambda fd: (_ for _ in ()).throw(OSError(errno.EIO, "I/O error")))
        with pytest.raises(SpoolUnavailable):
            spool.append(record(b"lost"))
        monkeypatch.setattr(os, "fdatasync", real)
        spool.append(record(b"after"))
        sealed = spool.sealed()

    assert sealed == {first: segment_paths(tmp_path / "spool")[0].stat().st_size}
    assert contents(tmp_path / "spool") == [b"before", b"after"]


def test_a_torn_tail_is_told_apart_from_damage(tmp_path: Path) -> None:
    path = segment_of(tmp_path / "spool", [b"a" * 50, b"b" * 50])
    whole = path.read_bytes()
    one = HEADER_BYTES + 50
    for cut in range(1, one):
        path.write_bytes(whole[: one + cut])
        first, gap = read_segment(path)

        assert isinstance(first, SpoolRecord)
        assert isinstance(gap, Gap)
        assert gap.is_torn_tail
        assert (gap.start_offset, gap.end_offset, gap.content) == (one, one + cut, whole[one : one + cut])


def test_garbage_after_the_last_record_is_a_torn_tail(tmp_path: Path) -> None:
    path = segment_of(tmp_path / "spool", [b"a" * 50])
    with path.open("ab") as file:
        file.write(b"\x00garbage" * 20)
    first, gap = read_segment(path)

    assert isinstance(first, SpoolRecord)
    assert isinstance(gap, Gap)
    assert gap.is_torn_tail


@settings(max_examples=300, deadline=None)
@given(bit=st.integers(0, 3 * (HEADER_BYTES + 40) * 8 - 1))
def test_a_flipped_bit_costs_one_record_and_is_reported(tmp_path_factory: pytest.TempPathFactory, bit: int) -> None:
    directory = tmp_path_factory.mktemp("flip")
    payloads = [bytes([n]) * 40 for n in (1, 2, 3)]
    path = directory / "segment"
    whole = bytearray(b"".join(record(payload).header() + payload for payload in payloads))
    whole[bit // 8] ^= 1 << bit % 8
    path.write_bytes(whole)
    found = list(read_segment(path, end=len(whole)))
    hit = bit // 8 // (HEADER_BYTES + 40)

    assert [item.payload for item in found if isinstance(item, SpoolRecord)] == [
        payload for n, payload in enumerate(payloads) if n != hit
    ]
    (gap,) = (item for item in found if isinstance(item, Gap))
    assert (gap.start_offset, gap.is_torn_tail) == (hit * (HEADER_BYTES + 40), False)
    assert [item.end_offset for item in found][-1] == len(whole)


def test_a_hole_in_the_middle_is_damage_and_reading_goes_on(tmp_path: Path) -> None:
    path = segment_of(tmp_path / "spool", [bytes([n]) * 100 for n in range(1, 6)])
    whole = bytearray(path.read_bytes())
    one = HEADER_BYTES + 100
    whole[one + 10 : 3 * one + 5] = bytes(2 * one - 5)
    path.write_bytes(whole)
    found = list(read_segment(path))

    assert [item.payload[0] for item in found if isinstance(item, SpoolRecord)] == [1, 5]
    (gap,) = (item for item in found if isinstance(item, Gap))
    assert (gap.start_offset, gap.end_offset, gap.is_torn_tail) == (one, 4 * one, False)


def test_a_segment_is_read_no_further_than_it_is_synced(tmp_path: Path) -> None:
    path = segment_of(tmp_path / "spool", [b"synced", b"not yet"])
    end = HEADER_BYTES + len(b"synced")
    (found,) = read_segment(path, end=end)

    assert isinstance(found, SpoolRecord)
    assert found.payload == b"synced"
