"""Where the spans of an experiment go: a collector of this process, or one that runs already."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from spanscore.addresses import read_address
from spanscore.errors import StoreError, StoreMissing, UsageError
from spanscore.store import read_session
from spanscore.store.experiments import TrialTrace, trial_traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

GRPC_PORT = 4317
_POLL_S = 0.5
_ENDPOINT_SETTLE_S = 15.0


@dataclass(frozen=True, slots=True)
class Capture:
    """Where spans are sent, and how to wait until they are in the store."""

    endpoint: str
    is_remote: bool
    """Whether the collector is another process's."""
    drain: Callable[[], None]
    """Returns once what has been acknowledged is in the store, as far as that can be known."""

    @property
    def shown(self) -> str:
        """The endpoint as it may be printed and stored: without user and password."""
        return read_address(self.endpoint, called="--endpoint").url


@contextmanager
def captured(store: Path, *, endpoint: str | None, listen: str, listen_grpc: str | None) -> Iterator[Capture]:
    """A receiver for spans, for as long as the block lasts.

    Args:
        store: directory of the store that a collector of this process fills.
        endpoint: of an OTLP/HTTP receiver that runs already; None = a collector is started.
        listen: `HOST:PORT` for OTLP/HTTP of that collector.
        listen_grpc: the same for gRPC; None = no gRPC.

    Raises:
        UsageError: the endpoint, or an address, cannot be used.
        CollectorRunning: another collector uses the store.
    """
    if endpoint is not None:
        yield Capture(_checked(endpoint), is_remote=True, drain=lambda: None)
        return
    from spanscore.collector import Collector

    with Collector(store, http=listen, grpc=listen_grpc) as collector:
        yield Capture(f"http://{collector.http_address}", is_remote=False, drain=collector.drain)


def arrivals(
    capture: Capture,
    store: Path,
    experiment_id: str,
    trials: Sequence[tuple[str, int, str]],
    *,
    settle_s: float,
) -> dict[tuple[str, int], TrialTrace] | None:
    """What has arrived of each trial, waited for as long as it may take; None = there is no store here to look at.

    Args:
        capture: where the spans go.
        store: directory of the store.
        experiment_id: of the trials.
        trials: case id, trial and trace id of those whose agent answered.
        settle_s: how long to wait for spans that are missing [s].
    """
    if capture.is_remote:
        settle_s = max(settle_s, _ENDPOINT_SETTLE_S)
    deadline = time.monotonic() + settle_s
    while True:
        capture.drain()
        try:
            with read_session(store) as session:
                found = trial_traces(session, experiment_id, trials)
        except StoreMissing:
            return None
        except StoreError:
            # A collector elsewhere holds it just now.
            if not capture.is_remote or time.monotonic() > deadline:
                raise
            found = {}
        if time.monotonic() > deadline or (found and all(one.runs for one in found.values())):
            return found
        time.sleep(_POLL_S)


def _checked(endpoint: str) -> str:
    address = read_address(endpoint, called="--endpoint")
    if urlsplit(address.url).port == GRPC_PORT:
        raise UsageError(f"--endpoint {address.shown} is a port for gRPC. Give that of OTLP over HTTP, usually 4318.")
    return endpoint.rstrip("/").removesuffix("/v1/traces")
