"""Secrets that are told by the name they stand under: `password`, `api_key`, `Authorization`.

A name decides together with its value: `password` holds a secret whatever it is, under `token` only something that
looks random is one (a page token, a token count and the word *token* are not).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import Enum
from functools import lru_cache
from itertools import pairwise


class Name(Enum):
    """What a name says about the value under it."""

    PASSWORD = "password"  # noqa: S105
    HEADER = "authorization"
    COOKIE = "cookie"
    RANDOM = "secret"


_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_PASSWORD = re.compile(r"(?:password|passwd|passphrase|passcode|(?:^|_)(?:pwd|pw|pass))$")
_HEADER = re.compile(r"(?:^|_)(?:proxy_)?authorization$")
_COOKIE = re.compile(r"(?:^|_)(?:set_)?cookies?2?$")
_RANDOM = re.compile(
    r"(?:api_?key|(?:^|_)secret(?:_?key)?|client_?secret"
    r"|(?:access|account|private|signing|encryption|shared|master|service|subscription|auth|function|host|app|deploy|license"
    r"|webhook|storage|session|hmac|jwt)_?(?:access_?)?(?:key|secret|token)"
    r"|(?:^|_)secret_access_key|(?:^|_)token|(?:auth|access|refresh|bearer|id|csrf|xsrf|oauth|bot|user|sas|personal)_?token"
    r"|(?:^|_)(?:connection_?string|credentials?|dsn|auth))(?:_(?:value|header|env))?$"
)
_HARMLESS = re.compile(r"(?:page|next|continuation|sync|delta|resume|progress|cursor|public|cache)_?(?:key|token)$")

# The words above as they stand in text, with what may come before them in one name left out.
WORDS = (
    r"passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|cookies?|connection[_.\- ]?string|dsn"
    r"|(?:api|access|account|private|signing|encryption|shared|master|service|subscription|auth|function|host|app|deploy"
    r"|license|webhook|storage|session|hmac|jwt)[_.\- ]?key|token|pass|pw|auth"
)

NAME_HINT = (
    r"(?i:passw(?:or)?d|passphrase|passcode|pwd|secret|credential|authorization|cookie|connection[_.\- ]?string"
    r"|(?:api|access|account|private|signing|encryption|shared|master|service|subscription|auth|function|host|app|deploy"
    r"|license|webhook|storage|session|hmac|jwt)[_.\- ]?key"
    r"|(?:token(?:_(?:value|header|env))?|dsn|auth|[^a-z]pass|[^a-z]pw)(?:[^A-Za-z0-9_ ,.]|$))"
)
"""Matches wherever a name of a secret stands; for RE2, on text or on protobuf bytes."""

_NOT_A_VALUE = re.compile(
    r"[<$*{%#]|\[?redacted|\[|x{4,}|\.{3,}|your|env[:.]|os\.|process\.env|example|placeholder|changeme|todo|[a-z][a-z0-9+.-]*://",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?[\d.,_ %]+(?:e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?")
_PATH = re.compile(r"(?:~|\.{0,2})(?:/[A-Za-z0-9._-]{1,40}){2,}/?")
# `get.password(`, `Optional[str`, `grpc.Credentials`: what a program says of a secret.
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]*[_.][\w.]*[(\[]|[A-Za-z_][\w.]*\[|[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")
_PAIR = re.compile(r"[\w!#$%&*+.^|~-]{1,128}=[^\s=]")
_CONSTANTS = frozenset({"none", "null", "true", "false", "string", "undefined", "str", "required", "optional"})


@lru_cache(maxsize=8192)
def name_of(key: str) -> Name | None:
    """What a key says about its value; None for a key like any other."""
    if len(key) > 256:
        key = key[-256:]
    name = "_".join(part for part in _WORD_BREAK.split(key) if part).lower()
    if _HARMLESS.search(name):
        return None
    for pattern, kind in ((_PASSWORD, Name.PASSWORD), (_HEADER, Name.HEADER), (_COOKIE, Name.COOKIE)):
        if pattern.search(name):
            return kind
    return Name.RANDOM if _RANDOM.search(name) else None


def is_secret(name: Name, value: str, *, is_field: bool) -> bool:
    """Whether a value under a name is a secret.

    Args:
        is_field: the name is a key of a structure (an attribute, an object), not a word in running text.
    """
    value = value.strip()
    if len(value) < 4 or _NOT_A_VALUE.match(value) or is_constant(value):
        return False
    if name is Name.COOKIE:
        return is_field or _PAIR.match(value) is not None
    if name is Name.HEADER:
        return is_field or any(is_random(word) for word in value.split())
    if name is Name.PASSWORD and is_field:
        return True
    if _PLAIN.fullmatch(value) or _DATE.fullmatch(value) or _is_path(value):
        return False
    if not is_field and is_code(value):
        return False
    if name is Name.PASSWORD:
        return (
            " " not in value
            and len(value) >= 6
            and _kinds_of_characters(value) >= 2
            and (_has_digit(value) or (len(value) >= 8 and _has_mixed_case(value)))
        )
    return is_random(value)


def is_constant(value: str) -> bool:
    """Whether a value is a word of a program for no value, or for its type."""
    return value.lower() in _CONSTANTS


def is_code(value: str) -> bool:
    """Whether a value is what a program says of a secret, such as `getpass.getpass(`."""
    return _CODE.match(value) is not None


def is_random(value: str) -> bool:
    """Whether a value looks made by a generator: no word, no number, no date, no path, many different characters."""
    if not 12 <= len(value) <= 8192 or any(c.isspace() for c in value):
        return False
    if _PLAIN.fullmatch(value) or _DATE.fullmatch(value) or _is_path(value):
        return False
    if not _has_digit(value) and not (len(value) >= 20 and _has_mixed_case(value)):
        return False
    return _kinds_of_characters(value) >= 2 and _entropy_bits(value[:512]) >= 2.9


def _is_path(value: str) -> bool:
    """Whether a value is a path of a file; base64 has slashes too, but no path mixes characters as it does."""
    return _PATH.fullmatch(value) is not None and not (_kinds_of_characters(value) == 4 and len(value) >= 24)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _has_mixed_case(value: str) -> bool:
    """Whether capitals and small letters alternate as drawn by lot: in half of all places; CamelCase in a quarter."""
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(value))
    return changes >= 0.3 * (len(value) - 1)


def _kinds_of_characters(value: str) -> int:
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + _has_digit(value)
        + any(not c.isalnum() for c in value)
    )


def _entropy_bits(value: str) -> float:
    """Shannon entropy of the characters [bits a character]."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())
