"""Passwords that a command line or a statement of SQL names in its own way: `mysql -p…`, `IDENTIFIED BY '…'`.

The program, or the words of the statement, say that a password follows, so whatever follows is one: it need not look
random. Only what stands for a value (`?`, `$PW`, `<password>`) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spanscore.collector.redaction.names import is_code, is_constant

LONGEST_VALUE = 8192
# Characters between a program and its option, and between the beginning of a statement and its password.
_LONGEST_COMMAND = 1024
_LONGEST_STATEMENT = 300
_LONGEST_OPTION = 3
_MOST_WORDS = 16

# White space, also as JSON writes it inside of a string.
_S = r"(?:\s|\\{1,16}[nrt])"
_QUOTE = r"\\{0,16}[\"']"


class _Use:
    """A program, and how it is given a password."""

    def __init__(
        self,
        begins: Sequence[str],
        rest: str,
        options: str,
        *,
        is_apart: bool = True,
        is_next: bool = False,
        has_user: bool = False,
    ) -> None:
        """Patterns are in the syntax that RE2, Rust and Python share.

        Args:
            begins: what the name begins with.
            rest: regular expression of the rest of it.
            options: the same of the options before the password.
            is_apart: whether the password may be a word of its own, and not only the rest of the option.
            is_next: whether only options may stand between the program and this one: what follows is another command.
            has_user: whether it is `user:password`.
        """
        name = rf"(?:{'|'.join(begins)}){rest}"
        apart = r"=|\s{1,8}|\\{0,16}[\"']\s{0,4},\s{0,4}|" if is_apart else ""
        self.begins = begins
        self.name = re.compile(rf"{name}(?=[\s\"'\\]|\.exe)")
        self.hint = rf"{name}(?s:.*?)[^0-9A-Za-z_-](?:{options})"
        self.option = re.compile(rf"(?<![\w-])(?:{options})(?P<gap>{apart})(?P<open>{_QUOTE})?")
        self.is_next = is_next
        self.has_user = has_user


_MYSQL = r"(?:dump|admin|import|show|check|slap|binlog|pump|sh|-[a-z]{1,12})?"
_LDAP = r"(?:search|add|modify|delete|passwd|whoami|compare|modrdn)"
_USES = (
    _Use(("mysql", "mariadb"), _MYSQL, "-p", is_apart=False),
    _Use(("sshpass",), "", "-p", is_next=True),
    _Use(("mongo",), "(?:sh|dump|restore|export|import|stat|top)?", "-p"),
    _Use(("docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "az"), r"[ \t]{1,4}login", "-p"),
    _Use(("rabbitmqadmin",), "", "-p"),
    _Use(("redis-cli",), "", "-a"),
    _Use(("curl",), "", "-[a-zA-Z#]{0,12}[uU]|--user|--proxy-user", has_user=True),
    _Use(("sqlcmd", "bcp", "osql"), "", "-P"),
    _Use(("mosquitto_",), "(?:pub|sub|rr)", "-P"),
    _Use(("ldap",), _LDAP, "-w"),
    _Use(("plink", "pscp", "psftp"), "", "-pw"),
)
# A path of a program ends in `bin/…`; under `/var/lib/mysql` there is none.
_BEFORE_PROGRAM = re.compile(r"(?:[\s\"'`(=\\]|bin/|\\[nrt]|\A)\Z")
_END_OF_COMMAND = re.compile(r"&&|\|\||(?<=\s)\|(?=\s)|(?<!\\)\n")
_WORD = re.compile(r"[^\s\"',\\]+")
# The rest of options that begin with the same letter, after the name of a program in passing.
_OTHER_OPTIONS = frozenset(
    """
    arents assive assword ath erm ort ost re rint rint0 rivileged rofile roxy rune ublish ull urge ush
    """.split()  # noqa: SIM905
)
_QUOTE_ALONE = re.compile(_QUOTE)
_PORTS = re.compile(r"[\d.]*:?[\d.-]+:[\d-]+(?:/(?:tcp|udp))?|\d+:\d+")

_IDENTIFIED = re.compile(
    rf"identified{_S}{{1,8}}(?:with{_S}{{1,8}}[\w'\"`]{{1,64}}{_S}{{1,8}})?(?P<by>by|as){_S}{{1,8}}"
    rf"(?:(?:password|values){_S}{{1,8}})?(?:[NEne](?={_QUOTE}))?(?P<open>{_QUOTE})?",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    rf"passw(?:or)?d(?:{_S}{{1,8}}for{_S}{{1,8}}[^\s=]{{1,128}})?(?:{_S}{{0,8}}={_S}{{0,8}}|{_S}{{1,8}})"
    rf"(?:passw(?:or)?d{_S}{{0,4}}\({_S}{{0,4}})?[NEne]?(?P<open>\\{{0,16}}')",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    rf"(?:\b|(?<=\\[nrt]))(?:grant|(?:create|alter){_S}{{1,8}}(?:user|role|login|group))\b", re.IGNORECASE
)
_BEFORE_PASSWORD = re.compile(rf"(?:\b|(?<=\\[nrt]))(?:with|encrypted|unencrypted|set){_S}{{1,8}}\Z", re.IGNORECASE)

_PLACEHOLDER = re.compile(
    r"\$?\{.*\}|\$\w+|\$\(.*|<.*|%\(?\w*\)?s?|%\w+%|\?|:\w+|@\w+|\*+|x{3,}|\.{2,}|…|\[.*|#\{.*|your.*|example.*"
    r"|changeme|placeholder|redacted.*|`.*|-{1,2}[A-Za-z].*",
    re.IGNORECASE | re.DOTALL,
)
_UNQUOTED = re.compile(r"(?:[^\s\"'\\;&<>|`]|\\(?![\"'nrtu])[^\s]){1,1024}")
# What a quote begins with that ends a string of the text around it, and no password.
_NO_BEGINNING = tuple(" \t\r\n,+|&:])}\"'\\.")
# Words that follow the name of an option in a sentence about it.
_PROSE = frozenset(
    """
    a an and are argument arguments as at but by can cannot does etc flag flags for from has if in instead is it its may
    must not of on only option options or parameter prompt prompts rather should so switch that the then they this to
    unless use used using value values via was when where which while will with without you
    """.split()  # noqa: SIM905
)

NAMED_OPTION_HINT = "--(?:[a-z0-9]+-)*(?:token|auth|pass|pw) "
"""Matches names of options that `names` finds before other signs only; this and those below for RE2 and Rust."""

STATEMENT_HINT = r"(?i:identified(?:\s|\\+[nrt])+(?:by|with)(?:\s|\\+[nrt])+)"
"""Matches wherever SQL may say a password that no word of `names` announces."""

COMMAND_HINT = "|".join(use.hint for use in _USES)
"""Matches a text or request with a program and, somewhere after it, the option before its password."""


def passwords_of_commands(text: str) -> Iterator[tuple[int, int]]:
    """From and to [characters] of every password of a command line in a text that `COMMAND_HINT` matches."""
    for use in _USES:
        for begin in use.begins:
            at = text.find(begin)
            while at != -1:
                next_at = text.find(begin, at + 1)
                name = use.name.match(text, at)
                if name is not None and _BEFORE_PROGRAM.search(text, max(0, at - 4), at):
                    limit = min(name.end() + _LONGEST_COMMAND, len(text) if next_at == -1 else next_at)
                    yield from _passwords_of(use, text, name.end(), limit)
                at = next_at


def password_after(text: str, at: int) -> tuple[int, int] | None:
    """From and to of the password [characters] that a clause of SQL announces which begins at `at`."""
    return _after_clause(text, at) if text[at] in "iIpP" else None


def option_takes_password(words: Sequence[str]) -> bool:
    """Whether the last word of a command line is an option after which a password comes, as in `sshpass -p`."""
    if not words or not words[-1].startswith("-") or len(words[-1]) > _LONGEST_OPTION:
        return False
    line = f"{' '.join(words[-_MOST_WORDS:])} "
    return any(start == len(line) for start, _ in passwords_of_commands(f"{line}x"))


def is_typed_password(value: str, *, is_quoted: bool) -> bool:
    """Whether what stands where a password has to be is one, and not a sign for it or the rest of a sentence."""
    if not value or _PLACEHOLDER.fullmatch(value) or is_constant(value):
        return False
    if is_quoted:
        return not value.startswith(_NO_BEGINNING) and not value[-1].isspace()
    return not is_code(value) and value.lower() not in _PROSE


def end_of_password(text: str, start: int, opened: str | None) -> int:
    """Where a value ends [character] that begins at `start`, after the quote `opened` where there is one."""
    if opened is not None:
        limit = min(len(text), start + LONGEST_VALUE)
        at = text.find(opened, start, limit)
        while at != -1:
            # SQL doubles a quote of the value itself, and others escape it once more.
            if text.startswith(opened, at + len(opened)):
                at = text.find(opened, at + 2 * len(opened), limit)
            elif at > start and text[at - 1] == "\\":
                at = text.find(opened, at + 1, limit)
            else:
                return at
    found = _UNQUOTED.match(text, start)
    return start if found is None else start + len(found.group().rstrip(" ,.)]}"))


def _passwords_of(use: _Use, text: str, start: int, limit: int) -> Iterator[tuple[int, int]]:
    ended = _END_OF_COMMAND.search(text, start, limit)
    stop = limit if ended is None else ended.start()
    for option in use.option.finditer(text, start, stop):
        if use.is_next and not all(word.startswith("-") for word in _WORD.findall(text, start, option.start())):
            return
        found = _typed_after(use, text, option)
        if found is not None:
            yield found
        if use.is_next:
            return


def _typed_after(use: _Use, text: str, option: re.Match[str]) -> tuple[int, int] | None:
    start = option.end()
    stop = end_of_password(text, start, option["open"])
    if use.has_user:
        user, colon, _ = text[start:stop].partition(":")
        if not colon or _PORTS.fullmatch(text[start:stop]):
            return None
        start += len(user) + 1
        # Quoted by itself: `-u user:'…'`.
        quote = _QUOTE_ALONE.match(text, start) if option["open"] is None else None
        if quote is not None:
            start, stop = quote.end(), end_of_password(text, quote.end(), quote.group())
            return (start, stop) if is_typed_password(text[start:stop], is_quoted=True) else None
    value = text[start:stop]
    if not option["gap"] and (value in _OTHER_OPTIONS or _PORTS.fullmatch(value)):
        return None
    return (start, stop) if is_typed_password(value, is_quoted=option["open"] is not None) else None


def _after_clause(text: str, at: int) -> tuple[int, int] | None:
    found = _IDENTIFIED.match(text, at)
    if found is not None:
        # In a sentence something is identified by what follows: SQL is written large, or begins as a statement.
        is_sql = text.startswith("IDENTIFIED", at) and found["by"].isupper()
        if not is_sql and (found["open"] is None or not _is_in_statement(text, at)):
            return None
    else:
        found = _PASSWORD.match(text, at)
        if found is None or not (
            _BEFORE_PASSWORD.search(text, max(0, at - _LONGEST_STATEMENT), at) or _is_in_statement(text, at)
        ):
            return None
    stop = end_of_password(text, found.end(), found["open"])
    value = text[found.end() : stop]
    return (found.end(), stop) if is_typed_password(value, is_quoted=found["open"] is not None) else None


def _is_in_statement(text: str, at: int) -> bool:
    return _STATEMENT.search(text, max(0, at - _LONGEST_STATEMENT), at) is not None
