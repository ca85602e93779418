"""A damaged, cut or missing store heals from the spool, or is repaired by `doctor --repair`, or says what is gone.

A damaged log or file takes 1.1 to 1.8 s on a machine that is busy with other things: the exhaustive tests, which once
ran with 300 logs and 160 files, have as many as end in eight minutes.
"""

import json
import random
import shutil
import time
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector import Collector, CollectorLimits
from spanscore.collector.records import Encoding, Signal, SpoolRecord
from spanscore.collector.slices import decode_records
from spanscore.collector.spool import Spool, segment_paths
from spanscore.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew, StoreUnrecognised
from spanscore.repair import repair_store
from spanscore.store import ManifestRow, Store, read_session

N = 60


def payload(*numbers: int) -> bytes:
    request = ExportTraceServiceRequest()
    owner = request.resource_spans.add()
    owner.resource.attributes.add(key="service.name").value.string_value = "agent"
    scope = owner.scope_spans.add()
    for number in numbers:
        span = scope.spans.add(
            trace_id=(number + 1).to_bytes(16, "big"),
            span_id=(number + 1).to_bytes(8, "big"),
            name="chat",
            start_time_unix_nano=1_700_000_000_000_000_000,
            end_time_unix_nano=1_700_000_001_000_000_000,
        )
        span.attributes.add(key="number").value.int_value = number
        span.events.add(name="seen", time_unix_nano=1_700_000_000_500_000_000)
    return request.SerializeToString()


def record(*numbers: int) -> SpoolRecord:
    return SpoolRecord(Signal.TRACES, Encoding.PROTOBUF, time.time_ns(), payload(*numbers))


def fill(directory: Path, *, spooled: int = N, retired: int = 0) -> Path:
    """A store of numbered spans; the last `spooled` are in the spool too, `retired` before them are not."""
    first, second = range(retired), range(retired, retired + spooled)
    with Store.open(directory) as store:
        if first:
            tables, _ = decode_records([record(*first)])
            store.load(tables, source="file")
        with Spool(directory / "spool") as spool:
            for number in second:
                spool.append(record(number))
            (segment,) = segment_paths(directory / "spool") or [None]
            if segment is not None:
                tables, _ = decode_records([record(number) for number in second])
                size = segment.stat().st_size
                store.load(tables, source="otlp", manifest=ManifestRow(segment.name, size, spooled))
        store.derive()
    return directory / "spanscore.duckdb"


def numbers(directory: Path) -> list[int]:
    with read_session(directory) as session:
        rows = session.rows("select attributes['number']::bigint from spans order by 1")
        ((events, of_spans),) = session.rows(
            "select count(*), count(distinct span_id) from span_events semi join spans using (trace_id, span_id)"
        )
    assert events == of_spans == len(rows), "every span has its event, once"
    return [number for (number,) in rows]


def flip(path: Path, at: int, bit: int = 3) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def heal(directory: Path) -> None:
    """What an operator does: start the collector, and where it refuses, do what it says."""
    try:
        with Collector(directory, grpc=None) as collector:
            collector.drain()
    except StoreError as error:
        if f"spanscore doctor --repair --store {directory}" not in str(error):
            raise
        document = repair_store(directory)
        assert document["damage"] is not None
        with Collector(directory, grpc=None) as collector:
            collector.drain()


def test_a_store_in_order_is_left_as_it_is(tmp_path: Path) -> None:
    path = fill(tmp_path / "store")
    before = path.read_bytes()

    assert repair_store(tmp_path / "store")["damage"] is None
    assert path.read_bytes() == before
    assert not list((tmp_path / "store").glob("damaged-*"))


@pytest.mark.parametrize("share", [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.0, 0.98))])
def test_a_flipped_or_cut_file_is_made_anew_and_the_old_one_is_kept(tmp_path: Path, share: float) -> None:
    directory = tmp_path / "store"
    path = fill(directory)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(max(4096 * 3, int(size * share)))
    broken = path.read_bytes()
    document = repair_store(directory)

    assert numbers(directory) == list(range(N))
    (kept,) = directory.glob("damaged-*/spanscore.duckdb")
    assert kept.read_bytes() == broken
    assert document["moved_to"] == str(kept.parent)
    assert repair_store(directory)["damage"] is None


@pytest.mark.slow
def test_what_only_the_old_file_holds_is_copied_and_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Spans whose segments are retired, and scores, come from the damaged file, as far as it can be read."""
    directory = tmp_path / "store"
    path = fill(directory, spooled=0, retired=9000)
    with Store.open(directory) as store:
        store.connection.execute(
            "insert into experiments (experiment_id, suite_name) select 'e' || i, 's' from range(10) t(i)"
        )
    rng = random.Random(7)
    whole = path.read_bytes()
    seen_partial = False
    for _ in range(5):
        path.write_bytes(whole)
        flip(path, rng.randrange(12288, len(whole)))
        document = repair_store(directory)
        if document["damage"] is None:
            continue
        found = numbers(directory)
        with read_session(directory) as session:
            ((experiments,),) = session.rows("select count(*) from experiments")
        lost = {table["table"]: table for table in document["salvaged"] if table["unreadable"]}

        if len(found) < 9000:
            assert "spans" in lost or "span_events" in lost or not document["salvaged"]
            assert document["notes"]
            seen_partial = seen_partial or len(found) > 0
        if document["salvaged"]:
            assert experiments == 10 or "experiments" in lost
        shutil.rmtree(document["moved_to"])
        (directory / "spanscore.duckdb").unlink()
    assert seen_partial or document is not None


@pytest.mark.parametrize(
    "what", ["cut", *(pytest.param(what, marks=pytest.mark.slow) for what in ("removed", "flipped", "zeros"))]
)
def test_a_damaged_log_costs_nothing_that_was_acknowledged(tmp_path: Path, what: str) -> None:
    """Rows and manifest are one transaction: a log that lost rows lost their manifest too, so they load again."""
    rng = random.Random(what)
    base = tmp_path / "base"
    with_log(base)
    for attempt in range(1 if what == "removed" else 2):
        directory = tmp_path / f"{attempt}"
        shutil.copytree(base, directory)
        damage_log(directory, what, rng)
        heal(directory)

        assert numbers(directory) == list(range(N))


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", ["cut", "flipped", "zeros"])
def test_180_damaged_logs_cost_nothing_that_was_acknowledged(tmp_path: Path, what: str) -> None:
    rng = random.Random(what)
    base = tmp_path / "base"
    with_log(base)
    for _ in range(60):
        directory = tmp_path / "store"
        shutil.copytree(base, directory)
        damage_log(directory, what, rng)
        heal(directory)

        assert numbers(directory) == list(range(N))
        shutil.rmtree(directory)


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", ["flipped", "cut"])
def test_100_damaged_files_cost_nothing_that_was_acknowledged(tmp_path: Path, what: str) -> None:
    """A flip that nothing reads goes unnoticed; whatever DuckDB refuses is repaired."""
    rng = random.Random(what)
    base = tmp_path / "base"
    size = fill(base).stat().st_size
    repaired = 0
    for _ in range(50):
        directory = tmp_path / "store"
        shutil.copytree(base, directory)
        path = directory / "spanscore.duckdb"
        if what == "flipped":
            flip(path, rng.randrange(12288, size), rng.randrange(8))
        else:
            with path.open("r+b") as file:
                file.truncate(rng.randrange(12288, size))
        repaired += repair_store(directory)["damage"] is not None
        heal(directory)

        assert numbers(directory) == list(range(N))
        shutil.rmtree(directory)
    assert repaired > 12


def with_log(directory: Path) -> None:
    """A store as a kill leaves it: loaded twice, the second time into the log alone."""
    fill(directory, spooled=20)
    aside = directory.with_name("live")
    with Store.open(directory) as store:
        for start in (20, 40):
            with Spool(directory / "spool") as spool:
                for number in range(start, start + 20):
                    spool.append(record(number))
            segment = segment_paths(directory / "spool")[-1]
            tables, _ = decode_records([record(number) for number in range(start, start + 20)])
            store.load(tables, source="otlp", manifest=ManifestRow(segment.name, segment.stat().st_size, 20))
        shutil.copytree(directory, aside)
    shutil.rmtree(directory)
    aside.rename(directory)
    assert (directory / "spanscore.duckdb.wal").stat().st_size > 1000


def damage_log(directory: Path, what: str, rng: random.Random) -> None:
    log = directory / "spanscore.duckdb.wal"
    size = log.stat().st_size
    match what:
        case "removed":
            log.unlink()
        case "cut":
            with log.open("r+b") as file:
                file.truncate(rng.randrange(size))
        case "flipped":
            flip(log, rng.randrange(size), rng.randrange(8))
        case "zeros":
            with log.open("r+b") as file:
                file.seek(rng.randrange(size))
                file.write(bytes(min(300, size - file.tell())))


def test_a_file_that_is_gone_comes_back_from_the_spool_and_what_was_retired_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "store"
    limits = CollectorLimits(keep_s=0.0, keep_bytes=0)
    with Collector(directory, grpc=None, limits=limits, open_spool=lambda path: Spool(path, segment_bytes=1)) as first:
        first._spool.append(record(1))
        first.drain()
        first._loader._try(load=True, derive=True)
        assert not segment_paths(directory / "spool")
    (directory / "spanscore.duckdb").unlink()
    document = repair_store(directory)

    assert document["damage"] == "the file is missing"
    assert any("cannot be there" in note for note in document["notes"])
    (directory / "spanscore.duckdb").unlink()
    with Collector(directory, grpc=None) as collector:
        assert "were in the old one alone" in collector.status()["last_error"]
    assert "is gone" in caplog.text


def test_foreign_and_newer_files_are_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "text"
    directory.mkdir()
    (directory / "spanscore.duckdb").write_text("dear diary " * 1000)
    with pytest.raises(StoreUnrecognised):
        repair_store(directory)
    assert (directory / "spanscore.duckdb").read_text().startswith("dear diary")

    newer = tmp_path / "newer"
    path = fill(newer)
    with Store.open(newer) as store:
        store.connection.execute("insert into schema_migrations values (9999, 'x', 'x', now()::timestamp, '99.0')")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew):
        repair_store(newer)
    assert path.read_bytes() == before

    with pytest.raises(StoreMissing):
        repair_store(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_header_that_is_none_is_damage_where_a_spool_says_that_it_was_a_store(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    path = fill(directory)
    with path.open("r+b") as file:
        file.write(bytes(4096))
    broken = path.read_bytes()
    with (
        pytest.raises(StoreUnrecognised, match=f"spanscore doctor --repair --store {directory}"),
        read_session(directory),
    ):
        pass
    document = repair_store(directory)

    assert numbers(directory) == list(range(N))
    assert "header is damaged" in document["damage"]
    (kept,) = directory.glob("damaged-*/spanscore.duckdb")
    assert kept.read_bytes() == broken


def test_a_header_that_is_none_and_nothing_to_make_a_store_of_is_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    path = fill(directory, spooled=0, retired=5)
    shutil.rmtree(directory / "spool")
    with path.open("r+b") as file:
        file.write(bytes(4096))
    broken = path.read_bytes()
    with pytest.raises(StoreUnrecognised, match="restore it from a backup"):
        repair_store(directory)

    assert path.read_bytes() == broken


@pytest.mark.slow
def test_a_repair_that_was_cut_short_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "store"
    path = fill(directory)
    with path.open("r+b") as file:
        file.truncate(20_000)
    real_replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if self.name == "spanscore.duckdb":
            raise KeyboardInterrupt
        return real_replace(self, target)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", killed)
        repair_store(directory)
    with pytest.raises(StoreDamaged), Store.open(directory):
        pass
    repair_store(directory)

    assert numbers(directory) == list(range(N))


def test_the_command_prints_one_document(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from spanscore.cli import app

    path = fill(tmp_path / "store")
    with path.open("r+b") as file:
        file.truncate(20_000)
    words = ["doctor", "--repair", "--store", str(tmp_path / "store")]
    result = CliRunner().invoke(app, [*words, "--format", "json"])
    again = CliRunner().invoke(app, words)

    assert (result.exit_code, json.loads(result.stdout)["from_spool"]) == (0, N)
    path.unlink()
    shown = CliRunner().invoke(app, words)
    assert f"from the spool  {N} spans" in shown.stdout
    assert "Nothing could be read of the old file" not in shown.stdout
    assert "Every row can be read" in again.stdout
