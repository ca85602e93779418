"""Encryption of both ports, and certificates that change while the collector runs."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import grpc

from spanscore.collector.security import Security
from spanscore.collector.watch import stamp
from spanscore.errors import UsageError

HANDSHAKE_WITHIN_S = 10.0
_LOOK_EVERY_S = 1.0

log = logging.getLogger(__name__)


class Certificates:
    """The certificate, key and client authorities in use; read again when the files change.

    Files that cannot be used (a renewal that is half written) leave those read before in use.
    """

    def __init__(self, security: Security) -> None:
        """Reads the files.

        Raises:
            UsageError: they cannot be read, or do not belong together.
        """
        assert security.tls_cert is not None
        assert security.tls_key is not None
        self._cert, self._key, self._client_ca = security.tls_cert, security.tls_key, security.tls_client_ca
        self._files = [file for file in (self._cert, self._key, self._client_ca) if file is not None]
        self._mutex = threading.Lock()
        self._next_look = time.monotonic() + _LOOK_EVERY_S
        self._stamp = stamp(self._files)
        self._context = self._read()
        self._version = 0
        self._given_to_grpc = 0

    def http_context(self) -> ssl.SSLContext:
        """The context of an HTTP server; every handshake takes the newest files."""
        context = self._context

        def take_newest(connection: ssl.SSLObject, name: str | None, first: ssl.SSLContext) -> None:
            del name, first
            connection.context = self._newest()

        context.sni_callback = take_newest
        return context

    def grpc_credentials(self) -> Any:
        """Credentials of a gRPC server; every handshake takes the newest files."""

        def newest() -> Any:
            self._newest()
            with self._mutex:
                if self._given_to_grpc == self._version:
                    return None
                self._given_to_grpc = self._version
            return self._grpc_configuration()

        return grpc.dynamic_ssl_server_credentials(
            self._grpc_configuration(), newest, require_client_authentication=self._client_ca is not None
        )

    def _newest(self) -> ssl.SSLContext:
        with self._mutex:
            if time.monotonic() >= self._next_look:
                self._next_look = time.monotonic() + _LOOK_EVERY_S
                found = stamp(self._files)
                if found != self._stamp:
                    self._stamp = found
                    self._replace()
            return self._context

    def _replace(self) -> None:
        try:
            self._context = self._read()
        except UsageError as error:
            log.warning("%s Those read before stay in use.", error)
        else:
            self._version += 1
            log.info("Read the TLS certificate `%s` anew.", self._cert)

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # OpenSSL reads files, gRPC wants bytes: they are to be the same, which are known to belong together.
            pem = self._contents()
            context.load_cert_chain(self._cert, self._key, password=_no_password)
            if self._client_ca is not None:
                context.load_verify_locations(self._client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
            if self._contents() != pem:
                raise ValueError("they were replaced while they were read")
        except (OSError, ValueError) as error:
            names = ", ".join(f"`{file}`" for file in self._files)
            raise UsageError(f"The TLS files {names} cannot be used: {error}.") from error
        self._pem = pem
        return context

    def _contents(self) -> tuple[bytes, bytes, bytes | None]:
        return self._cert.read_bytes(), self._key.read_bytes(), _read_if_any(self._client_ca)

    def _grpc_configuration(self) -> Any:
        cert, key, client_ca = self._pem
        return grpc.ssl_server_certificate_configuration([(key, cert)], root_certificates=client_ca)


class HandshakeLoop(asyncio.SelectorEventLoop):
    """An event loop whose servers give a TLS handshake `HANDSHAKE_WITHIN_S`; asyncio itself gives it a minute."""

    async def create_server(self, *arguments: Any, **options: Any) -> asyncio.Server:
        """As asyncio's, with a shorter time for handshakes."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HANDSHAKE_WITHIN_S)
        return await super().create_server(*arguments, **options)


def _no_password() -> str:
    raise ValueError("the key is encrypted; write it without a passphrase, readable by its owner alone")


def _read_if_any(file: Path | None) -> bytes | None:
    return None if file is None else file.read_bytes()
