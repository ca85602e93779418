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
# A prompt that listens begins with switching bracketed paste on, and ends with switching it off. The prompt alone says
# little: it is drawn again when a line is done.
_LISTENING = r"\x1b\[\?2004h[^\n]*?sql>"
_ACCEPTED = r"\x1b\[\?2004l"
_RUNNING_CPU_S = 1.5
"""What a worker that is started anew does not use before the query runs, or hardly."""


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
            timeout=60,
            dimensions=(40, 200),
            cwd=home,
        )

    def expect(self, text: str) -> str:
        """Waits for a text, and returns what came before it."""
        self.child.expect(text)
        return _CONTROL.sub("", self.child.before or "")

    def listen(self) -> str:
        """Waits until the shell takes keys for the next query, and returns what was shown until then."""
        return self.expect(_LISTENING)

    def type(self, text: str) -> None:
        """Types a line and Enter."""
        self.child.send(text + "\r")

    def ask(self, text: str) -> str:
        """Types a line, waits for the next prompt, and returns what was shown until then."""
        self.type(text)
        return self.listen()

    def interrupt(self) -> None:
        """Presses Ctrl-C once the query runs that was typed last."""
        self.expect(_ACCEPTED)
        before = self._worker_cpu_s()
        deadline = time.monotonic() + 60
        while self._worker_cpu_s() < before + _RUNNING_CPU_S:
            assert time.monotonic() < deadline, "the query did not begin"
            time.sleep(0.1)
        self.child.sendintr()

    def _worker_cpu_s(self) -> float:
        """Processor time of the processes that the shell has started [s]."""
        ticks = 0
        for task in Path(f"/proc/{self.child.pid}/task").iterdir():
            for pid in (task / "children").read_text(encoding="ascii").split():
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                except (FileNotFoundError, ProcessLookupError):
                    continue
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("shell") / "store"
    with Store.open(directory) as opened:
        opened.connection.execute("insert into runs (run_id, status) values ('r1', 'ok'), ('r2', 'error')")
    return directory


@pytest.fixture
def terminal(store: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(store, tmp_path)
    opened.listen()
    yield opened
    opened.child.close(force=True)


@pytest.mark.exhaustive
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
