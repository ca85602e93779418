"""Certificates for tests: an authority of one's own, and what it signs."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM files."""

    cert: Path
    key: Path


class Authority:
    """Signs certificates for this machine."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._cert = _build(self._name, self._name, self._key.public_key(), is_authority=True).sign(
            self._key, hashes.SHA256()
        )
        self.cert = folder / f"{name}.pem"
        self.cert.write_bytes(self._cert.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *, valid_days: int = 1, to: Pair | None = None) -> Pair:
        """A certificate for 127.0.0.1 and localhost; with negative days, one that has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        cert = _build(
            subject, self._name, key.public_key(), issuer_key=self._key.public_key(), valid_days=valid_days
        ).sign(self._key, hashes.SHA256())
        return _write(to or Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key"), cert, key)


def self_signed(folder: Path, name: str) -> Pair:
    """A certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    cert = _build(subject, subject, key.public_key()).sign(key, hashes.SHA256())
    return _write(Pair(folder / f"{name}.pem", folder / f"{name}.key"), cert, key)


def _build(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    *,
    issuer_key: ec.EllipticCurvePublicKey | None = None,
    valid_days: int = 1,
    is_authority: bool = False,
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    end = now + dt.timedelta(days=valid_days)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, end) - dt.timedelta(days=1))
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key or public_key), critical=False)
    )


def _write(pair: Pair, cert: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pair.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    pair.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    return pair
