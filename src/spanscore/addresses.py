"""Addresses of others: http and https URLs, whose user and password become a header and are never printed or stored."""

from __future__ import annotations

import base64
import hashlib
import re
import urllib.parse
from dataclasses import dataclass, field

from spanscore.errors import UsageError

SCHEMES = ("http", "https")
_NO_URL = "must begin with http:// or https:// and name a host"
# What the path of an endpoint is made of: words, versions, small numbers. Migration 0009 of the store has the same.
_PLAIN_PART = re.compile(r"|[A-Za-z]?[a-z]*([._-][a-z]+)*|v[0-9]{1,3}([a-z]+[0-9]{0,3})?|[0-9]{1,4}")
_LONGEST_PLAIN_PART = 20
_DIGEST = "sha256-"
_IS_DIGEST = re.compile(rf"{_DIGEST}[0-9a-f]{{12}}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send.

    Attributes:
        url: without user and password.
        authorization: the value of the header that says who sends, where the URL named a user; else None.
    """

    url: str
    authorization: str | None = field(default=None, repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The header that says who sends, where there is one."""
        return {} if self.authorization is None else {"Authorization": self.authorization}

    @property
    def shown(self) -> str:
        """What may be printed: scheme, host and port. A path or a query holds a token as often as not."""
        parts = urllib.parse.urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def name(self) -> str:
        """What may be stored and printed, and still tells two endpoints of a host apart.

        Scheme, host, port and path; the query is left out, and a part of the path that may be a token (one that is no
        word, version or small number) is named by the first 12 hexadecimal digits of its SHA-256.
        """
        parts = urllib.parse.urlsplit(self.url).path.split("/")
        return self.shown + "/".join(part if _is_plain(part) else digest_of(part) for part in parts)


def digest_of(text: str) -> str:
    """`sha256-` and the first 12 hexadecimal digits: names a text without telling it."""
    return f"{_DIGEST}{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _is_plain(part: str) -> bool:
    return _IS_DIGEST.fullmatch(part) is not None or (
        len(part) <= _LONGEST_PLAIN_PART and _PLAIN_PART.fullmatch(part) is not None
    )


def read_address(url: str, *, called: str) -> Address:
    """The address that `url` is.

    Args:
        url: http or https; `user:password@` before the host becomes Basic authorization (RFC 7617, UTF-8).
        called: how the error calls it, such as `--emit`.

    Raises:
        UsageError: it is no such URL. The message never holds more of it than scheme and host.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        # The reason quotes what stands where the port should be, and that may be a password.
        raise UsageError(
            f"{called} is no URL.\n  Write it as https://HOST:PORT/PATH; in a user or password write / as %2F, "
            "@ as %40 and # as %23."
        ) from None
    if parts.scheme not in SCHEMES or not host:
        raise UsageError(f"{called} {_NO_URL}, and {_begins(parts.scheme)}.")
    named = f"[{host}]" if ":" in host else host
    plain = parts._replace(netloc=named if port is None else f"{named}:{port}").geturl()
    if parts.username is None:
        return Address(plain)
    who = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
    return Address(plain, f"Basic {base64.b64encode(who.encode()).decode('ascii')}")


def _begins(scheme: str) -> str:
    if scheme in SCHEMES:
        return "names no host"
    return f"begins with {scheme}://" if scheme else "has no scheme"
