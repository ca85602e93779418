"""Replaces secrets in texts, and says in the text what stood there.

RE2 marks where something may be, in one pass over all texts; Python's `re` only ever looks at those places, so the work
stays linear in the texts and a long conversation costs little more than a short one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spanscore.collector.redaction import personal
from spanscore.collector.redaction.commands import (
    end_of_password,
    is_typed_password,
    password_after,
    passwords_of_commands,
)
from spanscore.collector.redaction.names import WORDS, Name, is_random, is_secret, name_of
from spanscore.collector.redaction.scan import Scan
from spanscore.collector.redaction.tokens import PEM, PEM_BODY, START, TOKEN, is_mixed, shape_of

LONGEST_VALUE = 8192
"""Most characters after a name that are taken for its value [count]."""

_CREDENTIALS = re.compile(
    START + r"(?P<scheme>bearer|basic|negotiate)(?:\s|%20|\+|\\+[tn]){1,4}(?P<value>[A-Za-z0-9._~+/=-]{8,8192})",
    re.IGNORECASE,
)
_SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z")
_USERINFO = re.compile(r":\\?/\\?/(?P<userinfo>[^\s/?#\"'<>\\|`]{1,512})@(?=[^\s@])")
_NO_PASSWORD = re.compile(r"[*x]+|\$?\{.*\}|\$\w+|\[.*")
_NAMED = re.compile(
    rf"(?:{WORDS})(?P<close>\\{{0,16}}[\"']|%22)?"
    r"(?P<sep>\s{0,8}(?:=>|:=|[:=>]|%3[ADad]|\s|(?<=[\"'])\s{0,4},)\s{0,8})(?P<open>\\{0,16}[\"'])?",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.\-]{0,64}\Z")
_UNQUOTED = re.compile(r"(?:[^\s\"'\\;&<>|`]|\\/){1,1024}")
_LINE = re.compile(r"(?:=\"[^\"\\\s,;]{1,4096}\"|[^\r\n\"'\\<>`]){1,4096}")
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_MARK = "[REDACTED:"
_DONE = re.compile(r"\[REDACTED:[a-z_]{1,40}:[0-9a-f]{8}\]")
_WHOLE = frozenset({"cookie", "password", "url_userinfo"})


@dataclass(frozen=True, slots=True)
class _Found:
    """A secret in a text: from, to [characters], and what kind it is."""

    start: int
    stop: int
    kind: str


class TextRedactor:
    """Finds and replaces secrets (and, where wanted, personal data) in texts.

    Equal secrets get equal replacements within one store, so that they can still be joined, and nobody without the
    store's key can tell which secret it was.
    """

    def __init__(self, scan: Scan, key: bytes, *, with_personal: bool, count: Callable[[str], None]) -> None:
        """`key` is the store's; `count` is told the kind of every replacement."""
        self._scan = scan
        self._key = key
        self._count = count
        self._with_personal = with_personal

    def mark(self, kind: str, secret: str) -> str:
        """What stands in a text instead of a secret."""
        self._count(kind)
        digest = hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return f"{_MARK}{kind}:{digest[:8]}]"

    def value(self, name: Name, text: str) -> str:
        """A text that is the whole value under a name."""
        bare = text.strip()
        if _MARK in bare or "://" in bare:
            return self.text(text)
        if name is Name.HEADER:
            scheme, _, rest = bare.partition(" ")
            if rest and not is_random(scheme):
                kind = scheme.lower() if scheme.lower() in ("basic", "bearer") else name.value
                return f"{scheme} {self.mark(kind, rest)}" if is_secret(name, rest, is_field=True) else text
        return self.mark(name.value, bare) if is_secret(name, bare, is_field=True) else self.text(text)

    def text(self, text: str) -> str:
        """A text with every secret in it replaced."""
        return self.texts([text]).get(0, text)

    def texts(self, texts: Sequence[str]) -> dict[int, str]:
        """The texts that had to be changed: place in `texts` -> what it becomes."""
        changed = {}
        for place, marked in self._scan.marks(texts):
            before = texts[place]
            after = self._replace(before, marked)
            if self._with_personal:
                for kind, pattern in personal.PATTERNS.items():
                    after = pattern.sub(lambda found, kind=kind: self._personal(kind, found), after)  # type: ignore[misc]
            if after != before:
                changed[place] = after
        return changed

    def _replace(self, text: str, marked: Sequence[tuple[int, int]]) -> str:
        found: list[_Found] = []
        done = [one.span() for one in _DONE.finditer(text)] if _MARK in text else []
        # What has a shape of its own is told first; a name then says nothing new about it.
        for find in (_pem_blocks, _tokens, _credentials, _userinfo, _clauses, _named):
            for start, end in marked:
                for one in find(text, start, end):
                    if not any(start <= one.start and one.stop <= stop for start, stop in done):
                        _add(found, one)
        if self._scan.has_command(text):
            for first, last in passwords_of_commands(text):
                if _MARK not in text[first:last]:
                    _add(found, _Found(first, last, "password"))
        pieces = []
        at = 0
        for one in found:
            pieces += [text[at : one.start], self.mark(one.kind, text[one.start : one.stop])]
            at = one.stop
        return "".join([*pieces, text[at:]])

    def _personal(self, kind: str, found: re.Match[str]) -> str:
        return self.mark(kind, found.group()) if personal.is_real(kind, found.group()) else found.group()


def _add(found: list[_Found], one: _Found) -> None:
    """Adds to secrets that are in order and do not overlap."""
    first = bisect_right(found, one.start, key=lambda other: other.stop)
    last = bisect_left(found, one.stop, first, key=lambda other: other.start)
    # A whole cookie or password goes where only a part of it has a shape; else the first to be found stays.
    is_wider = all(one.start <= other.start and other.stop <= one.stop for other in found[first:last])
    if first == last or (one.kind in _WHOLE and is_wider):
        found[first:last] = [one]


def _pem_blocks(text: str, start: int, end: int) -> Iterator[_Found]:
    begin = text.rfind("-----BEGIN ", max(0, start - 64), end)
    opened = PEM.match(text, begin) if begin >= 0 else None
    if opened is None:
        return
    end_mark = opened.group().replace("BEGIN", "END")
    closed = text.find(end_mark, opened.end())
    body = PEM_BODY.match(text, opened.end())
    assert body is not None
    yield _Found(begin, body.end() if closed < 0 else closed + len(end_mark), "private_key")


def _tokens(text: str, start: int, end: int) -> Iterator[_Found]:
    # A telegram token's mark stands behind its number.
    found = _first_match(TOKEN, text, max(0, start - 10), end)
    if found is None or found.lastgroup is None:
        return
    shape = shape_of(int(found.lastgroup[1:]))
    if shape.is_mixed and not _is_drawn(found.group()):
        return
    secret = found.group().find("=") + 1 if shape.keeps_name else 0
    yield _Found(found.start() + secret, found.end(), shape.kind)


def _is_drawn(token: str) -> bool:
    """Whether a token with a short prefix looks drawn by lot; words joined by hyphens do not."""
    hyphens = token.count("-")
    return hyphens <= 3 and (is_mixed(token) or (hyphens <= 1 and is_random(token)))


def _credentials(text: str, start: int, end: int) -> Iterator[_Found]:
    found = _first_match(_CREDENTIALS, text, start, end)
    if found is None:
        return
    scheme, value = found["scheme"].lower(), found["value"]
    if _is_user_and_password(value) if scheme == "basic" else len(value) >= 20 and is_random(value):
        yield _Found(found.start("value"), found.end("value"), scheme)


def _userinfo(text: str, start: int, end: int) -> Iterator[_Found]:
    found = _first_match(_USERINFO, text, start, end)
    if found is None or _SCHEME_BEFORE.search(text, max(0, found.start() - 31), found.start()) is None:
        return
    user, colon, password = found["userinfo"].partition(":")
    # `{user}:{password}`, `***:***` and what was replaced before are no secrets, and a name alone is none either.
    if user.startswith(_MARK):
        return
    is_real = bool(password) and _NO_PASSWORD.fullmatch(password) is None if colon else is_random(user)
    if is_real:
        yield _Found(found.start("userinfo"), found.end("userinfo"), "url_userinfo")


def _clauses(text: str, start: int, _: int) -> Iterator[_Found]:
    password = password_after(text, start)
    if password is not None and _MARK not in text[slice(*password)]:
        yield _Found(*password, "password")


def _named(text: str, start: int, end: int) -> Iterator[_Found]:
    found = _first_match(_NAMED, text, start, end)
    if found is None:
        return
    before = _NAME_BEFORE.search(text, max(0, found.start() - 64), found.start())
    prefix = "" if before is None else before.group()
    if prefix[:1] in ("n", "r", "t") and text.endswith("\\", 0, found.start() - len(prefix)):
        # The end of an escape, such as the end of a line in JSON.
        prefix = prefix[1:]
    is_option = prefix.startswith("-")
    if not is_option and (found["sep"].isspace() or "," in found["sep"]):
        return
    key = prefix + text[found.start() : found.start("close" if found["close"] else "sep")]
    name = name_of(key)
    if name is None:
        return
    # What a command line or the environment of one says is a password is one, however it looks.
    if name is Name.PASSWORD and (is_option or (found["sep"] == "=" and _ENVIRONMENT.match(key))):
        stop = end_of_password(text, found.end(), found["open"])
        value = text[found.end() : stop]
        is_real = is_typed_password(value, is_quoted=found["open"] is not None) and not _is_name(value)
    else:
        # In `"password": "…"` and `<password>…` the signs around the name say that this is a structure and no sentence.
        is_element = found["sep"] == ">" and text.endswith("<", 0, found.start() - len(prefix))
        is_field = is_element or (found["close"] is not None and found["open"] is not None)
        stop = _end_of_value(text, found.end(), found["open"], name)
        value = text[found.end() : stop]
        is_real = is_secret(name, value, is_field=is_field)
    if _MARK not in value and is_real:
        yield _Found(found.end(), stop, name.value)


def _is_name(value: str) -> bool:
    """Whether a value is the name of a variable that holds a password, as in `PASSWORD=DB_PASSWORD`."""
    return _ENVIRONMENT.fullmatch(value) is not None and name_of(value) is not None


def _first_match(pattern: re.Pattern[str], text: str, start: int, end: int) -> re.Match[str] | None:
    """The first match that begins at one of the characters from `start` to `end`."""
    for at in range(start, end):
        found = pattern.match(text, at)
        if found is not None:
            return found
    return None


def _end_of_value(text: str, start: int, opened: str | None, name: Name) -> int:
    if opened is None:
        pattern = _LINE if name in (Name.COOKIE, Name.HEADER) else _UNQUOTED
        found = pattern.match(text, start)
        return start if found is None else start + len(found.group().rstrip(" ,.)]}"))
    quote, depth = opened[-1], len(opened) - 1
    limit = min(len(text), start + LONGEST_VALUE)
    at = text.find(quote, start, limit)
    while at != -1:
        slashes = at
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        # A quote of the value itself is escaped once more than the one that opened it.
        if at - slashes <= depth:
            return slashes
        at = text.find(quote, at + 1, limit)
    found = _UNQUOTED.match(text, start)
    return start if found is None else found.end()


def _is_user_and_password(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and all(32 <= byte < 127 for byte in decoded)
