"""Who may send, and over what: the settings, and which of them go together."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from spanscore.errors import UsageError

TOKENS_VARIABLE = "SPANSCORE_COLLECT_TOKENS"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """Authentication and encryption of one collector.

    Attributes:
        token_file: file with one bearer token a line; read again when it changes.
        tokens: more bearer tokens, as `$SPANSCORE_COLLECT_TOKENS` has them.
        tls_cert, tls_key: PEM files with the certificate chain and its private key; read again when they change.
        tls_client_ca: PEM file with the authorities whose client certificates are accepted; None asks for none.
        insecure_no_auth: let anyone send, also from other machines.
        insecure_plaintext: take tokens without encryption, also from other machines.
    """

    token_file: Path | None = None
    tokens: tuple[str, ...] = field(default=(), repr=False)
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    insecure_no_auth: bool = False
    insecure_plaintext: bool = False

    @property
    def has_tokens(self) -> bool:
        """Whether a request must carry a bearer token."""
        return self.token_file is not None or bool(self.tokens)

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.tls_cert is not None

    @property
    def is_authenticated(self) -> bool:
        """Whether clients must say who they are."""
        return self.has_tokens or self.tls_client_ca is not None

    def check(self) -> None:
        """Raises `UsageError` for settings that do not go together."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise UsageError("TLS needs a certificate and its key. Give both --tls-cert and --tls-key.")
        if self.tls_client_ca is not None and not self.has_tls:
            raise UsageError("--tls-client-ca asks clients for certificates, which needs --tls-cert and --tls-key.")

    def check_address(self, option: str, address: str, host: str, port: int) -> None:
        """Raises `UsageError` where anyone on the network could write to the store, or read a token on the way."""
        if is_loopback(host, port):
            return
        if not self.is_authenticated and not self.insecure_no_auth:
            raise UsageError(
                f"{option} {address} can be reached from other machines, and anyone there could write to the store.\n"
                f"  Ask for tokens (--token-file FILE, or ${TOKENS_VARIABLE}) or client certificates (--tls-client-ca "
                "FILE),\n  listen on 127.0.0.1, or add --insecure-no-auth if the network itself is trusted."
            )
        if self.has_tokens and not self.has_tls and not self.insecure_plaintext:
            raise UsageError(
                f"{option} {address} can be reached from other machines, and tokens would go over the network in plain "
                "text.\n  Give --tls-cert and --tls-key, or add --insecure-plaintext if a proxy in front does the "
                "encryption."
            )

    def warn(self, addresses: list[str]) -> None:
        """Says at every start what the settings leave open; `addresses` are those that other machines reach."""
        if not addresses:
            return
        places = " and ".join(addresses)
        if not self.is_authenticated:
            log.warning("Anyone who reaches %s can write to this store: there is no authentication.", places)
        elif self.has_tokens and not self.has_tls:
            log.warning("Tokens come to %s in plain text: only a proxy that encrypts should stand before it.", places)
        if not self.is_authenticated and not self.has_tls:
            log.warning("What is sent to %s is not encrypted.", places)


def tokens_from_environment() -> tuple[str, ...]:
    """The tokens of `$SPANSCORE_COLLECT_TOKENS`, separated by white space or commas."""
    return tuple(os.environ.get(TOKENS_VARIABLE, "").replace(",", " ").split())


def is_loopback(host: str, port: int) -> bool:
    """Whether only this machine reaches an address.

    Raises:
        UsageError: the host is not known.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"The host `{host}` cannot be found: {error}.") from error
    return all(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_loopback for entry in found)
