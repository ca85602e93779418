"""A collector as a process of its own, for tests that kill it. Prints its addresses as one JSON line.

`ack-before-write` is the control: a spool that acknowledges a record while it is still in memory.
"""

import json
import sys
import threading
import time
from pathlib import Path

from spanscore.collector import Collector, CollectorConfig, CollectorLimits
from spanscore.collector.collector import serve
from spanscore.collector.records import SpoolRecord
from spanscore.collector.spool import Spool


class AckBeforeWrite(Spool):
    """Writes four times a second what it acknowledged long ago."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._early: list[SpoolRecord] = []
        threading.Thread(target=self._write_late, daemon=True).start()

    def append(self, record: SpoolRecord) -> None:
        self._early.append(record)

    def _write_late(self) -> None:
        while True:
            time.sleep(0.25)
            early, self._early = self._early, []
            for record in early:
                super().append(record)


def main() -> None:
    store, policy, grpc, http = sys.argv[1:]
    spool = {"ack-after-sync": Spool, "ack-before-write": AckBeforeWrite}[policy]
    config = CollectorConfig(store=Path(store), grpc=grpc, http=http, limits=CollectorLimits(load_interval_s=0.3))

    def ready(collector: Collector) -> None:
        sys.stdout.write(json.dumps({"grpc": collector.grpc_address, "http": collector.http_address}) + "\n")
        sys.stdout.flush()

    serve(config, on_ready=ready, open_spool=spool)


main()
