"""A pass that is killed loses nothing and doubles nothing: the next one ends as one that was never disturbed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pass_process import SELECTED
from passes import catalogue, job, one_pass, query, scores

SCRIPT = Path(__file__).with_name("pass_process.py")


@pytest.fixture(scope="module")
def undisturbed(captured: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    store = Path(shutil.copytree(captured, folder / "store"))
    one_pass(job(store, catalogue(folder, SELECTED), batch=5))
    return scores(store)


def start(store: Path, point: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(store), str(store.parent), str(store.parent / "events.jsonl"), point],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def check(store: Path, undisturbed: list[tuple[Any, ...]]) -> None:
    """One more pass, and all is as if nothing had happened; every score was sent, as it stands."""
    process = start(store, "none")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert scores(store) == undisturbed
    assert query(
        store, "select count(*) from (select kind, subject_id from scored_subjects group by all having count(*) > 1)"
    ) == [(0,)]
    assert query(store, "select count(*) from score_outbox") == [(0,)]
    sent = {
        next(
            pair["value"]["stringValue"] for pair in record["attributes"] if pair["key"] == "spanscore.evaluation.id"
        ): json.dumps(record)
        for line in (store.parent / "events.jsonl").read_text(encoding="utf-8").splitlines()
        for record in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    }
    assert len(sent) == len(undisturbed)
    assert not (store / "scoring").exists()


def kill_at(store: Path, point: str) -> None:
    process = start(store, point)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, errors


def test_killed_again_and_again_it_ends_as_one_pass(store: Path, undisturbed: list[tuple[Any, ...]]) -> None:
    # Inside of the second transaction, and before what was sent is crossed off.
    for point in ("2:write", "forget"):
        kill_at(store, point)

    check(store, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("point", [*map(str, range(1, 10)), "1:write", "2:write", "forget"])
def test_killed_at_any_step(store: Path, undisturbed: list[tuple[Any, ...]], point: str) -> None:
    kill_at(store, point)

    check(store, undisturbed)


@pytest.mark.slow
def test_killed_at_any_moment(store: Path, undisturbed: list[tuple[Any, ...]]) -> None:
    chance = random.Random(11)
    kills = 0
    for _ in range(25):
        process = start(store, "none")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 1.5))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if chance.random() < 0.3:
            # Something to do for the next one.
            from spanscore.store import Store

            with Store.open(store) as opened:
                opened.connection.execute("delete from scored_subjects where hash(subject_id) % 2 = 0")

    assert kills > 0
    check(store, undisturbed)
