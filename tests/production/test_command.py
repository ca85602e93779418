"""`spanscore score` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from passes import query
from typer.testing import CliRunner


def run(*words: object, folder: Path) -> Any:
    """Run `spanscore score` in `folder`, in this process."""
    from spanscore.cli import app

    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(app, ["score", *map(str, words)], env={"SPANSCORE_STORE": None})
    finally:
        os.chdir(before)


def start(*words: object, folder: Path, environ: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from spanscore.cli import main; main()", "score", *map(str, words)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(environ or {})},
    )


ALL_FAILED = """
update runs set status = 'error', fingerprint = 'x' || run_id, started_at = now()::timestamp - interval 1 hour
"""
ALERT = '[[alerts]]\nname = "errors"\nmetric = "run_error"\nwindow = "52w"\nabove = 0.01\nmin_n = 2\n'


def test_it_says_what_it_did(store: Path, tmp_path: Path) -> None:
    first = run("--store", store, "--evaluators", "run_error,steps", folder=tmp_path)
    second = run("--store", store, "--evaluators", "run_error,steps", "--format", "json", folder=tmp_path)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "scored, 0 scored again" in first.stdout
    document = json.loads(second.stdout)
    assert document["runs"]["unchanged"] == document["runs"]["considered"] > 0
    assert document["runs"] | {"considered": 0, "unchanged": 0} == dict.fromkeys(document["runs"], 0)
    assert (document["lag_s"], document["failed_evaluators"], document["exit_code"]) == (None, [], 0)


def test_an_alert_is_shown_and_is_the_exit_code(store: Path, tmp_path: Path) -> None:
    from spanscore.store import Store

    with Store.open(store) as opened:
        opened.connection.execute(ALL_FAILED)
    (tmp_path / "spanscore.toml").write_text(ALERT, encoding="utf-8")
    shown = run("--store", store, "--evaluators", "run_error", folder=tmp_path)

    assert shown.exit_code == 1, shown.stderr
    assert "firing" in shown.stdout
    assert "\nerrors: the whole interval is above 0.01." in shown.stdout


def test_an_alert_that_fires_hides_no_evaluator_that_failed(store: Path, tmp_path: Path) -> None:
    """The exit code can say one thing only: the alert. The output says both."""
    from spanscore.store import Store

    with Store.open(store) as opened:
        opened.connection.execute(ALL_FAILED)
    (tmp_path / "spanscore.toml").write_text(ALERT, encoding="utf-8")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "cut_short.sql").write_text("-- no header\nselect 1\n", encoding="utf-8")
    words = ("--store", store, "--evaluators", "run_error,cut_short")
    shown, document = run(*words, folder=tmp_path), run(*words, "--format", "json", folder=tmp_path)

    assert (shown.exit_code, document.exit_code) == (1, 1), shown.stderr
    last_line = shown.stderr.splitlines()[-1]
    assert last_line == "! Exit code 1: 1 alert firing; it hides 3: 1 evaluator failed: cut_short."
    assert json.loads(document.stdout)["exit_reasons"] == [
        {"exit_code": 1, "reason": "1 alert firing"},
        {"exit_code": 3, "reason": "1 evaluator failed: cut_short"},
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--every", "soon"], "no time of a second or more"),
        (["--every", "0.1s"], "no time of a second or more"),
        (["--every", "5m", "--once"], "contradict"),
        (["--evaluators", "nonesuch"], "no evaluator `nonesuch`"),
        (["--since", "whenever"], "neither an age nor a date"),
        (["--emit", "ftp://x"], "must begin with http"),
        (["--sample", "2"], "sample"),
        (["--batch", "0"], "batch"),
        (["--source", "other"], "source"),
    ],
)
def test_a_mistake_is_a_usage_error(words: list[str], said: str, captured: Path, tmp_path: Path) -> None:
    shown = run("--store", captured, *words, folder=tmp_path)

    assert shown.exit_code == 2
    assert said in shown.stderr


def test_a_wrong_rule_stops_it_before_anything_is_scored(store: Path, tmp_path: Path) -> None:
    (tmp_path / "spanscore.toml").write_text(ALERT.replace("0.01", "nan"), encoding="utf-8")
    shown = run("--store", store, folder=tmp_path)

    assert (shown.exit_code, "spanscore.toml:5: `above` must be a finite number" in shown.stderr) == (2, True)
    assert query(store, "select count(*) from scores") == [(0,)]


def test_without_a_store_there_is_nothing_to_score(tmp_path: Path) -> None:
    shown = run("--store", tmp_path / "none", folder=tmp_path)

    assert (shown.exit_code, "no store" in shown.stderr) == (2, True)


def test_it_goes_on_until_asked_to_stop(store: Path, tmp_path: Path) -> None:
    process = start("--store", store, "--every", "1s", "--evaluators", "run_error", "--format", "json", folder=tmp_path)
    assert process.stdout is not None
    passes = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGTERM)
    rest, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    assert [one["runs"]["scored"] > 0 for one in passes] == [True, False]
    assert all(json.loads(line)["schema_version"] for line in rest.splitlines())


def test_a_second_one_is_told_whom_to_wait_for(store: Path, tmp_path: Path) -> None:
    from spanscore.production.lease import lease

    with lease(store, wait_s=0):
        process = start("--store", store, folder=tmp_path)
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 3
    assert f"is being scored by process {os.getpid()}" in errors


def test_no_secret_is_ever_printed(store: Path, tmp_path: Path) -> None:
    from spanscore.store import Store

    with Store.open(store) as opened:
        opened.connection.execute(ALL_FAILED)
    hook = '[alerting]\nwebhook_env = "HOOK"\ntoken_env = "TOKEN"\ntimeout = "1s"\n'
    (tmp_path / "spanscore.toml").write_text(ALERT + hook, encoding="utf-8")
    process = start(
        "--store", store, "--evaluators", "run_error", "--format", "json", "--emit", "http://u:hush1@127.0.0.1:9/hush2?k=hush3",
        folder=tmp_path,
        environ={"HOOK": "http://127.0.0.1:9/hush4", "TOKEN": "hush5", "OTEL_EXPORTER_OTLP_HEADERS": "a=hush6"},
    )  # fmt: skip
    out, errors = process.communicate(timeout=120)

    assert process.returncode == 1, errors
    assert len(json.loads(out)["delivery_failures"]) == 2
    assert [word for word in ("hush1", "hush3", "hush4", "hush5", "hush6") if word in out + errors] == []
    assert query(store, "select count(*) from alert_outbox where last_error like '%hush%'") == [(0,)]
