"""The journal of an experiment: what has been tried and how it ended, on disk before anything else relies on it.

One JSON object a line: `experiment` (what is run), then for every attempt `begun`, `ended` and `sent`, each synced. An
attempt that has begun and not ended was cut off by a kill, and is taken back; one that has ended and was not sent is
sent again. So however often an experiment is killed, every trial ends up with one run.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self
from urllib.parse import quote, unquote

from spanscore.bench.trial import Ending
from spanscore.errors import BenchError, UsageError
from spanscore.store.directory import make_directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

FOLDER = "bench"
_SUFFIX = ".jsonl"
_LONGEST_NAME = 240
# What may not change between the parts of one experiment; anything else, such as the repeats, may.
_FIXED = ("suite_name", "suite_version", "suite_sha256", "agent", "variant", "steps", "cost_usd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at one trial. `ending` None = it has begun and, as far as is known, not ended."""

    case_id: str
    trial: int
    attempt: int
    trace_id: str
    span_id: str
    started_ns: int
    ended_ns: int = 0
    ending: Ending | None = None
    answer: str | None = None
    error_type: str | None = None
    message: str | None = None


def journal_path(store: Path, experiment_id: str) -> Path:
    """Where the journal of an experiment is.

    Raises:
        UsageError: the id is too long for the name of a file.
    """
    name = quote(experiment_id, safe=" ") + _SUFFIX
    if len(name) > _LONGEST_NAME:
        raise UsageError(
            f"The experiment id is too long: `{experiment_id[:60]}…`. Give a shorter one with --experiment."
        )
    return store / FOLDER / name


class Journal:
    """The journal of one experiment, held by one process at a time; a context manager."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Opens the journal, or begins it.

        Args:
            path: of the file; made when missing.
            header: what is run.

        Raises:
            UsageError: the experiment was begun with another suite or agent, or is being run right now.
            BenchError: the file is damaged.
            StoreError: its directory cannot be made.
        """
        make_directory(path.parent)
        self.path = path
        self.attempts: dict[str, Attempt] = {}
        """By trace id, in the order in which they began."""
        self.unsent: set[str] = set()
        """Trace ids of attempts that have ended and whose span may not have arrived."""
        self._mutex = threading.Lock()
        self._file = path.open("a+b")
        try:
            self._lock()
            self._read(header)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    @property
    def trials(self) -> dict[tuple[str, int], Attempt]:
        """The attempt that counts, of every trial that has one."""
        return {
            (attempt.case_id, attempt.trial): attempt
            for attempt in self.attempts.values()
            if attempt.ending is not None and attempt.ending.is_trial
        }

    @property
    def unfinished(self) -> list[Attempt]:
        """Attempts that have begun and not ended."""
        return [attempt for attempt in self.attempts.values() if attempt.ending is None]

    def begun(self, attempt: Attempt) -> None:
        """Notes that an attempt begins."""
        self._write({"kind": "begun", **asdict(attempt)})
        self.attempts[attempt.trace_id] = attempt

    def ended(self, attempt: Attempt) -> None:
        """Notes how an attempt ended."""
        self._write({"kind": "ended", **asdict(attempt)})
        self.attempts[attempt.trace_id] = attempt
        self.unsent.add(attempt.trace_id)

    def sent(self, attempt: Attempt) -> None:
        """Notes that the span of an attempt has arrived."""
        self._write({"kind": "sent", "trace_id": attempt.trace_id})
        self.unsent.discard(attempt.trace_id)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"The experiment of `{self.path}` is being run by another process.\n"
                "  Wait for it, or give another --experiment."
            ) from error

    def _read(self, header: Mapping[str, Any]) -> None:
        lines, whole = _lines(self._file)
        if whole != self._file.seek(0, os.SEEK_END):
            # A kill in the middle of a line: nothing relied on it yet.
            self._file.truncate(whole)
        if not lines:
            self._write({"kind": "experiment", **header})
            return
        for number, line in enumerate(lines, 1):
            try:
                self._take(json.loads(line), header)
            except (ValueError, KeyError, TypeError) as error:
                raise BenchError(
                    f"{self.path}:{number}: this is no line of a journal ({error}).\n"
                    "  The experiment cannot be continued: give another --experiment."
                ) from error

    def _take(self, line: dict[str, Any], header: Mapping[str, Any]) -> None:
        kind = line.pop("kind")
        if kind == "experiment":
            _check_same(line, header, self.path)
        elif kind == "begun":
            self.attempts[line["trace_id"]] = Attempt(**line)
        elif kind == "ended":
            attempt = replace(Attempt(**line), ending=Ending(line["ending"]))
            self.attempts[attempt.trace_id] = attempt
            self.unsent.add(attempt.trace_id)
        elif kind == "sent":
            self.unsent.discard(line["trace_id"])
        else:
            raise ValueError(f"kind `{kind}`")

    def _write(self, line: Mapping[str, Any]) -> None:
        content = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        with self._mutex:
            self._file.write(content)
            self._file.flush()
            os.fsync(self._file.fileno())


def _lines(file: IO[bytes]) -> tuple[list[bytes], int]:
    """The whole lines of a journal, and where the last of them ends [bytes]."""
    file.seek(0)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    return content[:whole].splitlines(), whole


def _check_same(found: Mapping[str, Any], header: Mapping[str, Any], path: Path) -> None:
    different = [name for name in _FIXED if found.get(name) != header.get(name)]
    if not different:
        return
    told = ", ".join(
        f"{name.replace('_', ' ')} `{found.get(name)}` then, `{header.get(name)}` now" for name in different
    )
    raise UsageError(
        f"The experiment `{found.get('experiment_id')}` was begun with something else: {told}.\n"
        f"  Give another --experiment, or, to begin this one anew, take away `{path}`."
    )


@dataclass(frozen=True, slots=True)
class Recorded:
    """An experiment as its journal tells it."""

    experiment_id: str
    header: Mapping[str, Any]
    finished: int
    """Trials that have an attempt which counts [count]."""
    planned: int


def recorded(store: Path) -> Iterator[Recorded]:
    """The experiments that have a journal in the store, the one begun first first; damaged journals are left out."""
    found = []
    for path in sorted((store / FOLDER).glob(f"*{_SUFFIX}")):
        with path.open("rb") as file:
            lines, _ = _lines(file)
        try:
            header, *rest = [json.loads(line) for line in lines]
            done = {
                (line["case_id"], line["trial"])
                for line in rest
                if line["kind"] == "ended" and Ending(line["ending"]).is_trial
            }
            planned = max(len(done), int(header["cases"]) * int(header["repeats"]))
        except (ValueError, KeyError, TypeError):
            continue
        found.append(Recorded(unquote(path.name.removesuffix(_SUFFIX)), header, len(done), planned))
    yield from sorted(found, key=lambda one: str(one.header.get("begun_at")))
