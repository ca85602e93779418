"""The archive: nothing of the raw rows is lost, doubled or changed by going there and coming back."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanscore.doctor import examine
from spanscore.errors import StoreDamaged
from spanscore.ingest import ingest_files
from spanscore.store import Store, derive, read_session
from spanscore.store.archive import move
from spanscore.store.archive.move import ArchiveCounts, archive_before

day = dt.datetime.fromisoformat
LATER = day("2100-01-01")
DEMO = Path(derive.__file__).parents[1] / "demo_data"

TYPED = """
    select {key}, list_transform(
        map_entries(attributes),
        lambda e: struct_pack(k := e.key, t := variant_typeof(e.value), v := e.value::varchar)
    )::varchar
    from {table} order by all
"""


def trace(number: int) -> bytes:
    return number.to_bytes(16, "big")


def nano(moment: dt.datetime) -> int:
    return int(moment.replace(tzinfo=dt.UTC).timestamp()) * 1_000_000_000


def archive_all(directory: Path, before: dt.datetime = LATER) -> ArchiveCounts:
    moved = ArchiveCounts()
    with Store.open(directory) as store:
        while (counts := archive_before(store.connection, before)) is not None:
            moved += counts
    return moved


def contents(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the raw tables as text that tells types apart, and of the trajectory."""
    with read_session(directory) as session:
        found = {
            table: sorted(session.rows(f"select r::varchar from (select * exclude (received_at) from {table}) as r"))
            for table in ("spans", "log_records")
        }
        for table in ("span_events", "span_links", *derive.TABLES):
            found[table] = sorted(session.rows(f"select r::varchar from {table} as r"))
        found["types"] = session.rows(TYPED.format(key="span_id", table="spans"))
    return found


def archived(directory: Path) -> int:
    with read_session(directory) as session:
        return int(session.rows("select count(*) from archived_traces")[0][0])


def files(directory: Path) -> list[Path]:
    return sorted(path for path in (directory / "archive").rglob("*") if path.is_file())


VALUES: dict[str, object] = {
    "zero": 0,
    "smallest": -(2**63),
    "largest": 2**63 - 1,
    "beyond doubles": 2**53 + 1,
    "nan": float("nan"),
    "infinite": float("-inf"),
    "negative zero": -0.0,
    "whole double": 1.0,
    "bytes": b"\x00\xff\x80",
    "no bytes": b"",
    "text": 'snow ☃ "q" \\ \'',
    "no text": "",
    "true": True,
    "false": False,
    "none": None,
    "list": {"json_value": '[1,-2,1.5,1.0,null,"x",[],{"b":{},"a":[true]}]'},
    "object": {"json_value": '{"z":1,"a":18446744073709551615,"f":1e300,"nested":{"k":["v"]}}'},
    "empty list": {"json_value": "[]"},
    "empty object": {"json_value": "{}"},
    "": "an empty key",
}


def test_every_value_comes_back_with_its_type(tmp_path, make_tables):
    queries = [
        TYPED.format(key="span_id", table="spans"),
        TYPED.format(key="event_index", table="span_events"),
        TYPED.format(key="link_index", table="span_links"),
        TYPED.format(key="log_record_id", table="log_records"),
        "select variant_typeof(body), body::varchar from log_records order by all",
        "select * exclude (attributes) from spans",
        "select * exclude (body, attributes) from log_records order by log_record_id",
    ]

    def read() -> list[Any]:
        with read_session(tmp_path) as session:
            return [session.rows(query) for query in queries]

    logs = [{"trace_id": trace(1), "body": body, "attributes": VALUES} for body in VALUES.values()]
    with Store.open(tmp_path) as store:
        store.load(
            make_tables(
                [{"trace_id": trace(1), "attributes": VALUES, "start_time_unix_nano": 0}],
                events=[{"attributes": VALUES}],
                links=[{"linked_trace_id": trace(2), "attributes": VALUES}],
                logs=logs,
            ),
            source="test",
        )
        store.derive()
    before = read()

    assert archive_all(tmp_path) == ArchiveCounts(1, 1, len(logs), sum(path.stat().st_size for path in files(tmp_path)))
    assert read() == before
    with read_session(tmp_path) as session:
        assert session.rows("select count(*) from spanscore.main.spans") == [(0,)]

    # Another span of the trace brings it back into the database.
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(1), "span_id": b"\2" * 8}]), source="test")
        store.connection.execute("delete from spans where span_id = '0202020202020202'")
    assert archived(tmp_path) == 0
    assert read() == before


@pytest.mark.slow
def test_real_captures_read_the_same_from_the_archive(tmp_path):
    ingest_files([DEMO], tmp_path)
    before = contents(tmp_path)

    moved = archive_all(tmp_path)

    assert moved.spans == len(before["spans"])
    assert contents(tmp_path) == before
    with Store.open(tmp_path) as store:
        store.rebuild()
    assert contents(tmp_path) == before
    assert archived(tmp_path) == moved.traces
    counts = ingest_files([DEMO], tmp_path).counts
    assert (counts.spans.stored, counts.spans.conflict, counts.log_records.stored) == (0, 0, 0)
    assert contents(tmp_path) == before


def test_evaluators_score_archived_traces_alike(tmp_path):
    from spanscore.store.evaluation import Scope, evaluation_session

    ingest_files([DEMO / "openai-agents-handoffs.traces.jsonl.gz"], tmp_path)
    query = "select count(*), count(distinct trace_id), sum(len(attributes::varchar)) from spans"

    def read() -> Any:
        with evaluation_session(tmp_path, Scope(), macros=(), timeout_s=30) as session:
            some = session.scoped_runs()["run_id"].to_pylist()[:1]
            everything = [session.answer(query, {}).rows, session.beside()]
        with evaluation_session(tmp_path, Scope(runs=tuple(sorted(some))), macros=(), timeout_s=30) as session:
            beside = session.beside()
            beside.prepare(Scope(runs=tuple(sorted(some))), macros=())
            return some, everything[0], session.answer(query, {}).rows, beside.answer(query, {}).rows

    before = read()
    archive_all(tmp_path)

    assert read() == before


@pytest.fixture(scope="module")
def late_spans(make_tables: Callable[..., Any]) -> list[Any]:
    """Batches in which the spans, events and log records of two traces come in pieces, some twice."""
    return [
        make_tables(
            [
                {
                    "trace_id": trace(1 + number % 2),
                    "span_id": (1 + number // 4).to_bytes(8, "big"),
                    "attributes": {"gen_ai.operation.name": "chat", "n": number // 4},
                }
            ],
            events=[{"attributes": {"n": number % 2}}],
            logs=[{"trace_id": trace(1 + number % 2), "body": number // 4}],
        )
        for number in range(6)
    ]


def load_in_order(directory: Path, batches: list[Any], archivings: set[int]) -> None:
    with Store.open(directory, threads=1) as store:
        for place, batch in enumerate(batches):
            store.load(batch, source="test")
            if place in archivings:
                store.derive()
                archive_before(store.connection, LATER)
        store.derive()


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(archivings=st.sets(st.integers(0, 5), min_size=1, max_size=3), seed=st.integers(0, 1))
def test_archiving_at_any_time_changes_nothing(tmp_path_factory, late_spans, archivings, seed):
    batches = list(late_spans)
    random.Random(seed).shuffle(batches)
    check_archiving(tmp_path_factory, batches, archivings)


@pytest.mark.slow
def test_late_spans_of_archived_traces_change_nothing(tmp_path_factory, late_spans):
    check_archiving(tmp_path_factory, late_spans, {1, 3})


def check_archiving(tmp_path_factory: pytest.TempPathFactory, batches: list[Any], archivings: set[int]) -> None:
    plain, kept = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("kept")
    load_in_order(plain, batches, set())
    load_in_order(kept, batches, archivings)

    expected = contents(plain)
    assert contents(kept) == expected
    with read_session(plain) as one, read_session(kept) as other:
        query = "select outcome, sum(n)::bigint from ingest_accounting group by outcome order by outcome"
        assert other.rows(query) == one.rows(query)


def test_only_old_traces_move_and_runs_stay_whole(tmp_path, make_tables):
    """A young trace keeps an old one that shares its run; what waits to be derived stays too."""
    old, young = nano(day("2026-01-01T12:00")), nano(day("2026-03-01"))
    spans = [
        {"trace_id": trace(number), "start_time_unix_nano": start, "end_time_unix_nano": start + 1}
        for number, start in ((1, old), (2, young), (3, old), (4, old))
    ]
    with Store.open(tmp_path) as store:
        store.load(make_tables(spans), source="test")
        store.derive()
        store.connection.execute(
            "insert into trace_edges values ($1, $2, 'message_hop'), ($2, $1, 'message_hop')",
            [trace(2).hex(), trace(3).hex()],
        )
        store.connection.execute("insert into pending_traces (trace_id) values ($1)", [trace(4).hex()])
        counts = archive_before(store.connection, day("2026-02-01"))
        assert archive_before(store.connection, day("2026-02-01")) is None

    assert counts is not None
    assert counts.traces == 1
    with read_session(tmp_path) as session:
        assert session.rows("select trace_id from archived_traces") == [(trace(1).hex(),)]
        assert session.rows("select day from archive_parts") == [(dt.date(2026, 1, 1),)]
    assert [path.parent.name for path in files(tmp_path)] == ["day=2026-01-01"]


def test_a_wrong_clock_keeps_nothing_for_ever(tmp_path, make_tables):
    """A span that says it ends in the year 2200, or never says, is as old as its arrival."""
    far = nano(day("2200-01-01"))
    with Store.open(tmp_path) as store:
        store.load(
            make_tables(
                [
                    {"trace_id": trace(1), "start_time_unix_nano": far, "end_time_unix_nano": far},
                    {"trace_id": trace(2), "start_time_unix_nano": 0, "end_time_unix_nano": 0},
                ]
            ),
            source="test",
        )
        store.derive()
        assert archive_before(store.connection, day("2020-01-01")) is None
        counts = archive_before(store.connection, dt.datetime.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(days=2))

    assert counts is not None
    assert counts.traces == 2


@pytest.mark.slow
def test_parts_of_a_day_are_merged_while_small(tmp_path, make_tables, monkeypatch):
    with Store.open(tmp_path) as store:
        for number in range(1, 4):
            store.load(make_tables([{"trace_id": trace(number)}]), source="test")
            store.derive()
            assert archive_before(store.connection, LATER) is not None
    assert len(files(tmp_path)) == 1

    monkeypatch.setattr(move, "MERGE_SPANS", 0)
    monkeypatch.setattr(move, "PART_SPANS", 1)
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(number)} for number in (4, 5)]), source="test")
        store.derive()
        while archive_before(store.connection, LATER) is not None:
            pass
    assert len(files(tmp_path)) == 3
    with read_session(tmp_path) as session:
        assert session.rows("select count(*), count(distinct trace_id) from spans") == [(5, 5)]


@pytest.mark.slow
def test_a_new_model_derives_archived_traces_again(tmp_path, monkeypatch):
    ingest_files([DEMO / "openai-agents-handoffs.traces.jsonl.gz"], tmp_path)
    moved = archive_all(tmp_path)
    before = contents(tmp_path)

    monkeypatch.setattr(derive, "MODEL_VERSION", derive.MODEL_VERSION + 1)
    monkeypatch.setattr(move, "MODEL_VERSION", derive.MODEL_VERSION)
    told: list[tuple[int, int]] = []
    with Store.open(tmp_path) as store:
        assert store.derive(lambda done, total: told.append((done, total))) >= moved.traces

    assert contents(tmp_path) == before
    assert archived(tmp_path) == moved.traces
    assert told[-1][0] == told[-1][1]
    with read_session(tmp_path) as session:
        assert session.rows("select distinct model_version from archive_parts") == [(derive.MODEL_VERSION,)]


def test_a_missing_file_is_told(tmp_path, make_tables):
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(1)}]), source="test")
        store.derive()
    archive_all(tmp_path)
    (file,) = files(tmp_path)
    file.unlink()

    with Store.open(tmp_path) as store, pytest.raises(StoreDamaged, match="Restore it from a backup"):
        store.load(make_tables([{"trace_id": trace(1), "span_id": b"\2" * 8}]), source="test")
    with Store.open(tmp_path) as store:
        assert store.connection.execute("select count(*) from archived_traces").fetchall() == [(1,)]


@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_damaged_file_is_told_to_readers(tmp_path, make_tables, how):
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(1)}]), source="test")
        store.derive()
    archive_all(tmp_path)
    (file,) = files(tmp_path)
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:100])

    with pytest.raises(StoreDamaged, match="restore the file from a backup"), read_session(tmp_path) as session:
        session.rows("select count(attributes) from spans")


def test_files_of_an_earlier_database_are_never_deleted(tmp_path, make_tables):
    """They may be all that is left of their traces."""
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(1)}]), source="test")
        store.derive()
    archive_all(tmp_path)
    earlier = files(tmp_path)
    for path in tmp_path.glob("spanscore.duckdb*"):
        path.unlink()
    with Store.open(tmp_path) as store:
        store.load(make_tables([{"trace_id": trace(2)}]), source="test")
        store.derive()
    archive_all(tmp_path)
    archive_all(tmp_path)

    assert earlier
    assert set(earlier) < set(files(tmp_path))
    assert archived(tmp_path) == 1
    assert any("of an earlier database" in advice for advice in examine(tmp_path)["advice"])


def test_a_session_reads_the_archive_and_no_other_file(tmp_path, make_tables):
    from spanscore.errors import QueryError

    directory = tmp_path / "o'store"
    with Store.open(directory) as store:
        store.load(make_tables([{"trace_id": trace(1)}]), source="test")
        store.derive()
    archive_all(directory)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")

    with read_session(directory) as session:
        assert session.rows("select count(*) from spans") == [(1,)]
        for file in (secret, directory / "archive" / ".." / "spanscore.duckdb", "/etc/passwd"):
            with pytest.raises(QueryError):
                session.rows("select * from read_text($1)", [str(file)])


@pytest.fixture
def many_files(tmp_path: Path, make_tables: Callable[..., Any]) -> Path:
    with Store.open(tmp_path, threads=1) as store:
        spans = []
        for number in range(1, 31):
            start = nano(day("2025-01-01")) + number * 86_400_000_000_000
            spans.append({"trace_id": trace(number), "start_time_unix_nano": start, "end_time_unix_nano": start + 1})
        store.load(make_tables(spans), source="test")
        store.derive()
        while archive_before(store.connection, LATER) is not None:
            pass
    assert len(files(tmp_path)) == 30
    return tmp_path


@pytest.mark.slow
def test_many_files_need_few_descriptors(many_files):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 16, hard))
    try:
        with read_session(many_files) as session:
            assert session.rows("select count(distinct trace_id), sum(len(attributes::varchar)) from spans")[0][0] == 30
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
