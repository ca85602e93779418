"""What the collector has done, for `doctor`: counters in memory, and a small JSON file beside the store."""

import datetime as dt
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanscore import __version__
from spanscore.collector.metrics import Latencies
from spanscore.collector.records import Signal
from spanscore.collector.wire import Accepted, Refused

STATUS_FILE = "collector.json"
KEPT_MESSAGES = 20

_NOUN = {Signal.TRACES: "spans", Signal.LOGS: "log_records"}


class CollectorStatus:
    """Counters of one collector; safe to use from many threads.

    The file is advisory: the truth about what is stored is in the store, and about what waits in the spool.
    """

    def __init__(self, store: Path, *, write_every_s: float = 1.0) -> None:
        self.acknowledgements = Latencies()
        self._path = store / STATUS_FILE
        self._write_every_s = write_every_s
        self._next_write = 0.0
        self._mutex = threading.Lock()
        self._writing = threading.Lock()
        self._accepted: Counter[str] = Counter({"requests": 0, "spans": 0, "log_records": 0})
        self._rejected: dict[str, Counter[str]] = {noun: Counter() for noun in _NOUN.values()}
        self._refused: Counter[str] = Counter()
        self._redactions: Counter[str] = Counter()
        self._redacted_requests = 0
        self._damage: list[dict[str, Any]] = []
        self._facts: dict[str, Any] = {
            "pid": os.getpid(),
            "process_started": _process_start(os.getpid()),
            "version": __version__,
            "started_at": now(),
            "grpc": None,
            "http": None,
            "is_accepting": False,
            "waiting_bytes": 0,
            "waiting_spans": 0,
            "kept_bytes": 0,
            "last_load_at": None,
            "last_load_s": None,
            "held_s_max": None,
            "lag_s": None,
            "lag_s_max": None,
            "loads": 0,
            "stored_spans": 0,
            "last_error": None,
            "last_error_at": None,
            "torn_tails": 0,
        }

    def count(self, answer: Accepted | Refused) -> None:
        """Counts one answered request."""
        with self._mutex:
            if isinstance(answer, Refused):
                self._refused[answer.refusal.name.lower()] += 1
                return
            noun = _NOUN[answer.signal]
            self._accepted["requests"] += 1
            self._accepted[noun] += answer.received - sum(answer.rejected.values())
            self._rejected[noun].update(answer.rejected)

    def count_redactions(self, kinds: Mapping[str, int]) -> None:
        """Counts what was replaced in one request: kind -> replacements."""
        with self._mutex:
            self._redactions.update(kinds)
            self._redacted_requests += 1

    def set(self, **facts: Any) -> None:
        """Replaces facts, named as in the file."""
        with self._mutex:
            self._facts.update(facts)

    def add(self, **amounts: int) -> None:
        """Adds to facts that are counts."""
        with self._mutex:
            for name, amount in amounts.items():
                self._facts[name] += amount

    def fail(self, message: str) -> None:
        """Keeps the message of the last thing that went wrong."""
        self.set(last_error=message, last_error_at=now())

    def report_damage(self, segment: str, start: int, end: int, reason: str, copy: Path) -> None:
        """Notes bytes of the spool that could not be read."""
        found = {"segment": segment, "start": start, "end": end, "reason": reason, "copy": str(copy), "at": now()}
        with self._mutex:
            self._damage = [*self._damage[-KEPT_MESSAGES + 1 :], found]

    def document(self) -> dict[str, Any]:
        """Everything, as it goes into the file."""
        with self._mutex:
            return {
                **self._facts,
                "updated_at": now(),
                "accepted": dict(self._accepted),
                "rejected": {noun: dict(reasons) for noun, reasons in self._rejected.items()},
                "refused_requests": dict(self._refused),
                "redactions": dict(self._redactions),
                "redacted_requests": self._redacted_requests,
                "damage": list(self._damage),
            }

    def write(self, *, at_once: bool = False) -> None:
        """Replaces the file, at most once a second unless `at_once`. A full disk must not stop the collector here."""
        # One thread at a time, the document included: the last one to write has the last word, and none takes away or
        # puts into place the half-written file of another.
        with self._writing:
            if not at_once and time.monotonic() < self._next_write:
                return
            self._next_write = time.monotonic() + self._write_every_s
            temporary = self._path.with_suffix(".json.tmp")
            try:
                temporary.touch(mode=0o600)
                temporary.write_text(json.dumps(self.document(), indent=1), encoding="utf-8")
                temporary.replace(self._path)
            except OSError as error:
                self.fail(f"The status file `{self._path}` cannot be written: {error}")


def read_status(store: Path) -> dict[str, Any] | None:
    """What the collector of this store last wrote, and `is_running`; None where no collector has run.

    `is_running` asks for the process, as the file outlives a collector that was killed.
    """
    try:
        document: dict[str, Any] = json.loads((store / STATUS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    pid = int(document["pid"])
    # Process ids come again: another process with the id of a collector that was killed began at another time.
    is_same = _process_start(pid) == document.get("process_started", _process_start(pid))
    document["is_running"] = bool(document.get("is_accepting")) and _is_alive(pid) and is_same
    return document


def now() -> str:
    """The present time, UTC, ISO 8601."""
    return moment(time.time_ns())


def moment(ns: int) -> str:
    """A time [ns since 1970] as UTC, ISO 8601."""
    return dt.datetime.fromtimestamp(ns // 1_000_000 / 1000, dt.UTC).isoformat(timespec="milliseconds")


def _process_start(pid: int) -> int | None:
    """When a process began [clock ticks since the machine did]; None where there is no such process, or no telling."""
    try:
        # The name of the program stands in parentheses, and may hold any character.
        return int(
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
    except (OSError, ValueError, IndexError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
