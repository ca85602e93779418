"""The shell of `spanscore sql` on a real pseudo-terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanscore.store import Store

pytest.importorskip("pexpect")

import pexpect
from pseudo_terminal import Terminal


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="whether the query runs is read from /proc")
def test_a_conversation(terminal: Terminal, store: Path, tmp_path: Path) -> None:
    # A query over two lines; the store is free between queries.
    terminal.type("select 40 +")
    terminal.expect(r"\.\.\.>")
    shown = terminal.ask("2 as answer;")
    assert "1 row" in shown
    Store.open(store, wait_s=0).close()

    # A mistake is told, and the shell goes on.
    assert "Binder Error" in terminal.ask("select nothing from runs;")
    assert "Only SELECT is allowed" in terminal.ask("drop table runs;")

    # Ctrl-C ends the query, not the shell.
    terminal.type("select count(*) from range(100000000000) as a, range(100000) as b where a.range % 7 = b.range;")
    terminal.interrupt()
    assert "Cancelled" in terminal.listen()

    # Completion: the only column of runs that begins so.
    terminal.child.send("select orphan_s\t")
    terminal.expect("pans")
    assert "2 rows" in terminal.ask(" from runs;")

    assert "final_answer_source" in terminal.ask(".schema runs")
    assert "json" in terminal.ask(".format json")
    assert '{"status": "error"}' in terminal.ask("select status from runs order by status;")
    assert "Wrote out.csv" in terminal.ask(".save out.csv")
    assert "no command" in terminal.ask(".nonsense")
    terminal.type(".quit")
    terminal.child.expect(pexpect.EOF)
    terminal.child.wait()

    assert terminal.child.exitstatus == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "status\nerror\nok\n"
    history = tmp_path / "spanscore" / "sql_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+2 as answer;" in history.read_text(encoding="utf-8")


def test_a_missing_store_is_told_at_once(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "nowhere", tmp_path)
    terminal.expect("There is no store")
    terminal.child.expect(pexpect.EOF)
    terminal.child.wait()

    assert terminal.child.exitstatus == 2
