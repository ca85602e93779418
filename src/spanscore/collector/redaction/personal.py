"""Personal data in text: e-mail addresses, telephone numbers, payment cards and bank accounts.

Off by default: agents work with such data, and an answer without them cannot be judged. Cards and accounts carry check
digits; telephone numbers are taken only where they are written as such (`+49 30 …`, `(030) …`, `030-1234-567`).
"""

from __future__ import annotations

import re

PATTERNS = {
    "email": re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"),
    "iban": re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])"),
    "card": re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-]|\.\d)"),
    "phone": re.compile(
        r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d{1,5}(?:[ .-]?\d{2,5}){1,5}"
        r"|\(\d{2,5}\) ?\d{2,5}(?:[ -]\d{2,5}){1,3}|\d{3,4}-\d{3,4}-\d{4})(?![\w-]|\.\d)"
    ),
}

HINT = (
    r"[A-Za-z0-9%+_]@[A-Za-z0-9]|[A-Z]{2}[0-9]{2}[ -]?[A-Z0-9]{4}|[0-9](?:[ -]?[0-9]){12}"
    r"|\+[0-9]|\([0-9]{2,5}\) ?[0-9]|[0-9]{3}-[0-9]{3}"
)
"""Matches wherever one of the patterns does; for RE2."""


def is_real(kind: str, text: str) -> bool:
    """Whether what looks like a number of a kind has the check digits and the length that such numbers have."""
    if kind == "iban":
        return _is_iban(re.sub(r"[ -]", "", text))
    digits = re.sub(r"\D", "", text)
    if kind == "card":
        return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and digits[0] in "23456" and _has_luhn(digits)
    if kind == "phone":
        return 8 <= len(digits) <= 15
    return True


def _has_luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    if not 15 <= len(text) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1
