"""Collectors to be killed, each a process of its own that is forked from this one once all libraries are loaded.

Reads a JSON object a line: `{"start": [store, policy, grpc, http], "errors": path}` starts a collector, and is answered
with its process id and, by the collector itself, with its addresses; `{"wait": pid}` is answered with its exit code.

Two policies are controls, which show that the check sees what it looks for: `ack-before-write` acknowledges a record
while it is still in memory, `no-deduplication` stores what comes twice twice. (Kill -9 keeps the page cache, so
acknowledging between the write and the sync would lose nothing here.)
"""

import faulthandler
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path

from spanscore.collector import Collector, CollectorConfig, CollectorLimits
from spanscore.collector.collector import serve
from spanscore.collector.records import SpoolRecord
from spanscore.collector.spool import Spool
from spanscore.store import Store, load

STUCK_S = 25.0
# Small, so that segments are retired all the time.
LIMITS = CollectorLimits(load_interval_s=0.3, keep_s=0.0, keep_bytes=0)
_NO_REPEATS = """
create or replace temp table repeated_ids (trace_id varchar, span_id varchar);
create or replace temp table set_aside (span_index bigint, verdict varchar);
"""


class AckBeforeWrite(Spool):
    """Writes four times a second what it acknowledged long ago."""

    def __init__(self, directory: Path) -> None:
        """As the spool itself."""
        super().__init__(directory)
        self._early: list[SpoolRecord] = []
        threading.Thread(target=self._write_late, daemon=True).start()

    def append(self, record: SpoolRecord) -> None:
        """Returns at once."""
        self._early.append(record)

    def _write_late(self) -> None:
        while True:
            time.sleep(0.25)
            early, self._early = self._early, []
            for record in early:
                super().append(record)


def _store_twice_what_comes_twice() -> None:
    """Loads without looking for what is there, and derives nothing.

    Every step of the derivation joins by the id of a span: one that is there twice is multiplied from step to step.
    """
    read = load._sql
    load._sql = lambda name: _NO_REPEATS if name == "repeats" else read(name)  # type: ignore[assignment]
    Store.derive = lambda *_, **__: 0  # type: ignore[method-assign]
    Store.pending_traces = lambda _: 0  # type: ignore[method-assign]


def serve_one(store: str, policy: str, grpc: str, http: str) -> None:
    """Serves until it is stopped or killed."""
    spool = AckBeforeWrite if policy == "ack-before-write" else Spool
    if policy == "no-deduplication":
        _store_twice_what_comes_twice()
    config = CollectorConfig(store=Path(store), grpc=grpc, http=http, limits=LIMITS)

    # Where it stands, should it not get to listen.
    faulthandler.dump_traceback_later(STUCK_S)

    def ready(collector: Collector) -> None:
        faulthandler.cancel_dump_traceback_later()
        _answer(grpc=collector.grpc_address, http=collector.http_address)

    serve(config, on_ready=ready, open_spool=spool)


def main() -> None:
    """Starts collectors until the input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            _answer(code=os.waitstatus_to_exitcode(status))
            continue
        pid = os.fork()
        if pid:
            _answer(pid=pid)
            continue
        errors = os.open(order["errors"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(errors, 2)
        os.close(0)
        code = 1
        try:
            serve_one(*order["start"])
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            os._exit(code)


def _answer(**answer: object) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
