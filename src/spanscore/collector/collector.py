"""A collector in this process: receivers, spool and loader put together, and the order in which they stop."""

import contextlib
import logging
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from spanscore.collector.admission import Admission
from spanscore.collector.auth import Authenticator
from spanscore.collector.config import CollectorConfig, CollectorLimits
from spanscore.collector.grpc_receiver import GrpcReceiver
from spanscore.collector.http_receiver import HttpReceiver
from spanscore.collector.intake import Intake
from spanscore.collector.loader import Loader
from spanscore.collector.redaction.redactor import Redactor
from spanscore.collector.redaction.settings import Privacy
from spanscore.collector.security import Security
from spanscore.collector.spool import Spool
from spanscore.collector.status import CollectorStatus
from spanscore.collector.tls import Certificates
from spanscore.errors import DrainTimeout
from spanscore.store.directory import make_directory

SPOOL_FOLDER = "spool"
DRAIN_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 5.0

log = logging.getLogger(__name__)


class Collector:
    """Receives OTLP and stores it, as a context manager.

    Attributes:
        grpc_address, http_address: `HOST:PORT` it listens on while it is open; None for a receiver that is off.
    """

    def __init__(
        self,
        store: Path | str,
        *,
        grpc: str | None = "127.0.0.1:0",
        http: str | None = "127.0.0.1:0",
        limits: CollectorLimits | None = None,
        security: Security | None = None,
        privacy: Privacy | None = None,
        open_spool: Callable[[Path], Spool] = Spool,
    ) -> None:
        """Settles what to listen on and where to store; nothing happens before it is opened.

        Args:
            store: the store directory, created when missing.
            grpc, http: `HOST:PORT` to listen on, port 0 for any free one; None switches the receiver off.
            limits, security, privacy: None = the defaults.
            open_spool: makes the spool in its directory.
        """
        self.config = CollectorConfig(
            store=Path(store),
            grpc=grpc,
            http=http,
            limits=limits or CollectorLimits(),
            security=security or Security(),
            privacy=privacy or Privacy(),
        )
        self.grpc_address: str | None = None
        self.http_address: str | None = None
        self._open_spool = open_spool

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> None:
        """Takes the store directory, loads what an earlier collector left in the spool, and listens.

        Raises:
            UsageError: an address cannot be used.
            CollectorRunning: another collector uses the store.
            StoreError: the store cannot be used.
        """
        config = self.config
        config.check()
        authenticator = Authenticator(config.security)
        certificates = Certificates(config.security) if config.security.has_tls else None
        config.security.warn(config.public_addresses())
        # By itself, or it would be made in passing, for everybody to read, with the folder of the spool.
        make_directory(config.store)
        self._spool = self._open_spool(config.store / SPOOL_FOLDER)
        self._status = CollectorStatus(config.store)
        self._loader = Loader(config, self._spool, self._status)
        self._admission = Admission(config, waiting_bytes=self._loader.waiting_bytes)
        self._receivers: list[GrpcReceiver | HttpReceiver] = []
        try:
            redactor = Redactor(config.privacy, config.store, on_redact=self._status.count_redactions)
            intake = Intake(
                self._spool, self._status, self._admission, redactor, config.limits, on_accept=self._loader.notify
            )
            if config.grpc is not None:
                grpc = GrpcReceiver(config, intake, self._admission, self._status, authenticator, certificates)
                self._receivers.append(grpc)
                self.grpc_address = grpc.address
            if config.http is not None:
                http = HttpReceiver(config, intake, self._admission, self._status, authenticator, certificates)
                self._receivers.append(http)
                self.http_address = http.address
            self._loader.start()
        except BaseException:
            for receiver in self._receivers:
                receiver.discard()
            self._spool.close()
            raise
        for receiver in self._receivers:
            receiver.start()
        self._status.set(grpc=self.grpc_address, http=self.http_address, is_accepting=True)
        with contextlib.suppress(OSError):
            self._status.set(waiting_bytes=self._loader.waiting_bytes())
        self._status.write(at_once=True)

    def drain(self, timeout_s: float = DRAIN_TIMEOUT_S) -> None:
        """Returns once every span acknowledged before the call is in the store and part of the trajectory.

        Raises:
            DrainTimeout: it could not be loaded in time [s]; it is safe in the spool.
        """
        self._loader.drain(timeout_s)

    def status(self) -> dict[str, Any]:
        """What the collector has done so far, as in its status file."""
        return self._status.document()

    def close(self) -> None:
        """Takes nothing new, lets requests finish, loads what was acknowledged, and gives the directory back.

        What cannot be loaded, because something else holds the store, stays in the spool for the next start.
        """
        self._admission.stop()
        stopping = [threading.Thread(target=receiver.stop) for receiver in self._receivers]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()
        self._loader.stop()
        try:
            self._loader.drain(CLOSE_TIMEOUT_S)
        except DrainTimeout as error:
            log.warning("%s", error)
            self._status.fail(str(error))
        self._spool.close()
        self._status.set(is_accepting=False)
        with contextlib.suppress(OSError):
            self._status.set(waiting_bytes=self._loader.waiting_bytes())
        self._status.write(at_once=True)


def serve(
    config: CollectorConfig,
    *,
    on_ready: Callable[[Collector], None] | None = None,
    open_spool: Callable[[Path], Spool] = Spool,
) -> None:
    """Collects until SIGTERM or SIGINT, then stops in good order and returns. To be called on the main thread.

    Args:
        on_ready: told once the collector listens.
        open_spool: makes the spool in its directory.

    Raises:
        UsageError, CollectorRunning, StoreError: it could not start.
    """
    stop = threading.Event()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        del frame
        log.info("Stopping on %s", signal.Signals(number).name)
        stop.set()

    before = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with Collector(
            config.store,
            grpc=config.grpc,
            http=config.http,
            limits=config.limits,
            security=config.security,
            privacy=config.privacy,
            open_spool=open_spool,
        ) as collector:
            if on_ready is not None:
                on_ready(collector)
            stop.wait()
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
