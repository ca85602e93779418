"""The worker as its caller sees it: started once, asked many things, killed when it is late."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from spanscore import errors
from spanscore.errors import QueryError, QueryTimeout, SpanscoreError
from spanscore.store.contained import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

GRACE_S = 2.0
"""How long a query may go on after its time limit before its process is killed [s]: DuckDB's own limit comes first."""

START_S = 60.0
"""How long a worker may take to start on a busy machine [s]."""

# Our own settings, which DuckDB is started with; nothing else of the environment goes along.
_SETTINGS = ("SPANSCORE_MEMORY_LIMIT", "SPANSCORE_THREADS")
_LIBRARIES = ("spanscore", "duckdb", "_duckdb", "pyarrow")
_PROGRAM = """
import json, sys
requests, replies, paths = json.loads(sys.argv[1])
sys.path.extend(paths)
from spanscore.store.contained.serve import serve
serve(requests, replies)
"""
# How long a signal may go unnoticed [s].
_PIECE_S = 0.2
# What a pipe holds [bytes]; the rest of what a process says before it ends is lost.
_LAST_WORDS = 1 << 16


class Worker:
    """A process that runs SQL of users; see the room's docstring for what it may do.

    It starts with the first question, or before it with `start`, and again after it was killed.
    """

    def __init__(self, *, grace_s: float | None = None) -> None:
        self.grace_s = GRACE_S if grace_s is None else grace_s
        self.generation = 0
        """How often it was started: what an earlier process kept is gone."""
        self.is_answering = False
        """Whether something that was asked is not answered to its end: the next question then costs the process."""
        self._process: subprocess.Popen[bytes] | None = None
        self._requests = self._replies = -1
        self._is_ready = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Starts the process, when there is none, and does not wait until it is ready.

        One that still owes an answer, which nobody waits for any more, is ended first.
        """
        if self.is_answering:
            self.kill()
        if self._process is not None:
            return
        theirs_in, self._requests = os.pipe()
        self._replies, theirs_out = os.pipe()
        try:
            arguments = json.dumps([theirs_in, theirs_out, _paths()])
            self._process = subprocess.Popen(  # noqa: S603 our own program, started by this interpreter
                # Isolated, without the hooks of site-packages: only what it needs is on its path.
                [sys.executable, "-I", "-S", "-c", _PROGRAM, arguments],
                env={name: os.environ[name] for name in _SETTINGS if name in os.environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs_in, theirs_out),
                # Ctrl-C is for the caller, who decides what becomes of the query.
                start_new_session=True,
            )
        except BaseException:
            # Whatever has been started by then ends with these pipes.
            os.close(self._requests)
            os.close(self._replies)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._is_ready = False
        self.generation += 1

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        process, self._process = self._process, None
        self.is_answering = False
        if process is None:
            return
        try:
            process.kill()
            process.wait()
        finally:
            if process.stderr is not None:
                process.stderr.close()
            os.close(self._requests)
            os.close(self._replies)

    def ask(self, document: dict[str, Any], tables: Sequence[pa.Table] = ()) -> None:
        """Sends a question, once the worker is ready.

        Raises:
            QueryError: the worker ended.
            UsageError: a setting of the environment is wrong.
        """
        self.start()
        if not self._is_ready:
            try:
                self.document(Patience(START_S, "starting"))
            except SpanscoreError:
                self.kill()
                raise
            self._is_ready = True
        # Beforehand: whoever is interrupted from here on leaves a process that would answer the next question with what
        # this one asks.
        self.is_answering = True
        try:
            wire.write_all(
                self._requests,
                [wire.json_frame({**document, "tables": len(tables)}), *(wire.arrow_frame(table) for table in tables)],
            )
        except (BrokenPipeError, wire.FrameTooLarge) as error:
            raise self._ended() from error

    def reply(self, patience: Patience) -> dict[str, Any] | pa.Table:
        """The next thing that the worker says.

        Raises:
            QueryTimeout: it took too long; the worker is killed.
            SpanscoreError: what it could not do.
        """
        frame = self._frame(patience)
        if isinstance(frame, dict) and "error" in frame:
            self.is_answering = False
            if frame["is_breach"]:
                # What a query that broke a limit leaves behind is not worth finding out.
                self.kill()
            raise _as_error(frame)
        return frame

    def document(self, patience: Patience) -> dict[str, Any]:
        """As `reply`, where only a document can come."""
        frame = self.reply(patience)
        if not isinstance(frame, dict):
            raise self._ended()
        return frame

    def table(self, patience: Patience) -> pa.Table:
        """As `reply`, where only rows can come."""
        frame = self.reply(patience)
        if isinstance(frame, dict):
            raise self._ended()
        return frame

    def _frame(self, patience: Patience) -> dict[str, Any] | pa.Table:
        try:
            return wire.read_frame(lambda size: self._read(size, patience))
        except (EOFError, wire.FrameTooLarge, ValueError) as error:
            raise self._ended() from error
        except BaseException:
            # Late, or the user has had enough: half a frame cannot be taken up again.
            self.kill()
            raise

    def _read(self, size: int, patience: Patience) -> bytes:
        pieces = bytearray()
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        while len(pieces) < size:
            patience.wait(poll)
            piece = os.read(self._replies, min(size - len(pieces), 1 << 20))
            if not piece:
                raise EOFError
            pieces += piece
        return bytes(pieces)

    def _ended(self) -> QueryError:
        """What to say of a worker that ended by itself, or talks nonsense."""
        process = self._process
        code, words = None, b""
        if process is not None and process.stderr is not None:
            try:
                code = process.wait(1)
                os.set_blocking(process.stderr.fileno(), False)
                words = process.stderr.read(_LAST_WORDS) or b""
            except subprocess.TimeoutExpired:
                pass
        self.kill()
        if code == -signal.SIGXCPU:
            return QueryTimeout(
                "The query was stopped: it used more processor time than it was allowed.\n"
                "  Narrow it down, or allow more with --timeout."
            )
        how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
        last = words.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        return QueryError(
            f"The query ended the process that it ran in ({how}): {last[0]}\n"
            "  It may want more memory than it may use: narrow it down, or allow more with SPANSCORE_MEMORY_LIMIT."
        )


class Patience:
    """How much longer to wait for a worker, all in all; time that the caller spends elsewhere does not count."""

    def __init__(self, seconds: float | None, doing: str, *, limit_s: float | None = None) -> None:
        """`seconds` None = for ever; `limit_s` is what the user was promised [s]."""
        self.left_s = seconds
        self.doing = doing
        self.limit_s = limit_s

    def wait(self, poll: select.poll) -> None:
        """Waits until there is something to read.

        Raises:
            QueryTimeout: for too long.
        """
        while True:
            began = time.monotonic()
            # In pieces: a signal that came just before the system call, or to another thread, does not end it.
            piece_s = _PIECE_S if self.left_s is None else min(max(0.0, self.left_s), _PIECE_S)
            if poll.poll(math.ceil(piece_s * 1000)):
                break
            if self.left_s is None:
                continue
            self.left_s -= time.monotonic() - began
            if self.left_s <= 0:
                raise self._late()
        if self.left_s is not None:
            self.left_s -= time.monotonic() - began

    def _late(self) -> QueryTimeout:
        if self.limit_s is None:
            return QueryTimeout(f"The process for queries did not answer while {self.doing}.\n  Try again.")
        return QueryTimeout(
            f"The query was stopped: it ran longer than the {self.limit_s:g} s it was allowed.\n"
            "  Narrow it down, or allow more with --timeout."
        )


def _paths() -> list[str]:
    """Where the worker finds what it imports, wherever this process found it."""
    found = []
    for library in _LIBRARIES:
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            place = Path(spec.origin).absolute()
            found.append(str(place.parents[1] if place.stem == "__init__" else place.parent))
    return list(dict.fromkeys(found))


def _as_error(frame: dict[str, Any]) -> Exception:
    kind = getattr(errors, frame["error"], None)
    if isinstance(kind, type) and issubclass(kind, SpanscoreError):
        return kind(frame["message"])
    return RuntimeError(f"in the process for queries:\n{frame['message']}")
