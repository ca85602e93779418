"""`spanscore sql` on a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pexpect

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")
# A prompt that listens begins with switching bracketed paste on, and ends with switching it off. The prompt alone says
# little: it is drawn again when a line is done.
LISTENING = r"\x1b\[\?2004h[^\n]*?sql>"
ACCEPTED = r"\x1b\[\?2004l"
_RUNNING_CPU_S = 1.5
"""What a worker that is started anew does not use before the query runs, or hardly."""


class Terminal:
    """`spanscore sql` in a terminal of its own."""

    def __init__(self, store: Path, home: Path, *, before: str = "", timeout_s: int = 60) -> None:
        """`before`: what the program does first, in Python; `timeout_s`: how long a query may run [s]."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "XDG_STATE_HOME": str(home),
            "TERM": "xterm",
            # The question where the cursor is would go unanswered here.
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        program = f"{before}\nfrom spanscore.cli import main; main()"
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-c", program, "sql", "--store", str(store), "--timeout", str(timeout_s)],
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 200),
            cwd=home,
        )
        # Keys come when the test says, not a moment later.
        self.child.delaybeforesend = None

    def expect(self, text: str) -> str:
        """Waits for a text, and returns what came before it."""
        self.child.expect(text)
        return _CONTROL.sub("", self.child.before or "")

    def listen(self) -> str:
        """Waits until the shell takes keys for the next query, and returns what was shown until then."""
        return self.expect(LISTENING)

    def type(self, text: str) -> None:
        """Types a line and Enter."""
        self.child.send(text + "\r")

    def ask(self, text: str) -> str:
        """Types a line, waits for the next prompt, and returns what was shown until then."""
        self.type(text)
        return self.listen()

    def interrupt(self) -> None:
        """Presses Ctrl-C once the query runs that was typed last."""
        self.expect(ACCEPTED)
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
