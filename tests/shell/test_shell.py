"""The shell of `spanscore sql` on a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanscore.store import Store

pexpect = pytest.importorskip("pexpect")

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")


class Terminal:
    """`spanscore sql` in a terminal of its own."""

    def __init__(self, store: Path, home: Path) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "XDG_STATE_HOME": str(home),
            "TERM": "xterm",
            # The question where the cursor is would go unanswered here.
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        program = "from spanscore.cli import main; main()"
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-c", program, "sql", "--store", str(store), "--timeout", "60"],
            env=environment,
            encoding="utf-8",
            timeout=25,
            dimensions=(40, 200),
            cwd=home,
        )

    def expect(self, text: str) -> str:
        """Waits for a text, and returns what came before it."""
        self.child.expect(text)
        return _CONTROL.sub("", self.child.before or "")

    def type(self, text: str) -> None:
        """Types a line and Enter."""
        self.child.send(text + "\r")

    def ask(self, text: str, answer: str) -> None:
        """Types a line, and waits for the answer and for the next prompt."""
        self.type(text)
        self.expect(answer)
        self.expect("sql>")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("shell") / "store"
    with Store.open(directory) as opened:
        opened.connection.execute("insert into runs (run_id, status) values ('r1', 'ok'), ('r2', 'error')")
    return directory


@pytest.fixture
def terminal(store: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(store, tmp_path)
    opened.expect("sql>")
    yield opened
    opened.child.close(force=True)


# Exhaustive: on a busy machine a key may come before the shell listens for it.
@pytest.mark.exhaustive
def test_a_conversation(terminal: Terminal, store: Path, tmp_path: Path) -> None:
    # A query over two lines; the store is free between queries.
    terminal.type("select 40 +")
    terminal.expect(r"\.\.\.>")
    terminal.type("2 as answer;")
    terminal.expect("1 row")
    terminal.expect("sql>")
    Store.open(store, wait_s=0).close()

    # A mistake is told, and the shell goes on.
    terminal.ask("select nothing from runs;", "Binder Error")
    terminal.ask("drop table runs;", "Only SELECT is allowed")

    # Ctrl-C ends the query, not the shell.
    terminal.type("select count(*) from range(100000000000) as a, range(100000) as b where a.range % 7 = b.range;")
    for _ in range(10):
        # As a person would: again, where the query had not begun yet and the key came to nothing.
        time.sleep(2)
        terminal.child.sendintr()
        if terminal.child.expect(["Cancelled", pexpect.TIMEOUT], timeout=2) == 0:
            break
    terminal.expect("sql>")

    # Completion: the only column of runs that begins so.
    terminal.child.send("select orphan_s\t")
    terminal.ask(" from runs;", "2 rows")

    terminal.ask(".schema runs", "final_answer_source")
    terminal.ask(".format json", "")
    terminal.ask("select status from runs order by status;", r'\{"status": "error"\}')
    terminal.ask(".save out.csv", "Wrote out.csv")
    terminal.ask(".nonsense", "no command")
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
