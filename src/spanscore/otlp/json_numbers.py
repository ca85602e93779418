"""Numbers of OTLP/JSON: which text or JSON number is which integer or double.

The rules are those of proto3: an integer is a JSON number without a fraction, in whatever notation (`5`, `5.0`, `5e0`),
or a text of such a number. One rule is added. JavaScript has no integers, so its exporters call every double without a
fraction one, up to 1.8e308: a JSON number that its field cannot hold costs that value alone, where proto3 would refuse
the whole request. A text out of range is refused: who writes integers as text knows their range.

Source: https://protobuf.dev/programming-guides/json/
"""

from __future__ import annotations

import re
from typing import Any

from spanscore.errors import DecodeError

OUT_OF_RANGE = "integer_out_of_range"
"""Notes a span or log record in which an integer does not fit its field."""

INT64 = range(-(2**63), 2**63)

_MAX_CHARACTERS = 1000
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
_DIGITS = re.compile(r"-?[0-9]{1,100}", re.ASCII)
_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def double(value: Any, name: str) -> float:
    """The double that a JSON number, a string of one, or one of the three words stands for.

    Raises:
        DecodeError: it stands for none.
    """
    if type(value) is float or type(value) is int:
        return float(value)
    if type(value) is str:
        if value in _WORDS:
            return _WORDS[value]
        if _is_number(value):
            return float(value)
    raise DecodeError("invalid_double", f"`{name}` must be a number")


def integer(value: Any, name: str, fitting: range = INT64) -> int | None:
    """The integer that a JSON number, or a string of one, stands for, exactly; None for a number that does not fit.

    Args:
        value: as the JSON parser gave it, which reads `5.0` and whatever 64 bits cannot hold as a double.
        name: the field, for errors.
        fitting: what the field can hold.

    Raises:
        DecodeError: it is no integer, or a text that does not fit.
    """
    found = _integer_of_text(value) if type(value) is str else _integer_of_number(value)
    if found is None:
        raise DecodeError("invalid_integer", f"`{name}` must be an integer or a string of digits")
    if found in fitting:
        return found
    if type(value) is str:
        raise DecodeError("invalid_integer", f"`{name}` must be from {fitting.start} to {fitting.stop - 1}")
    return None


def _integer_of_number(value: Any) -> int | None:
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def _integer_of_text(text: str) -> int | None:
    if _DIGITS.fullmatch(text):
        return int(text)
    if not _is_number(text):
        return None
    # By hand, as a double would round, and a decimal number take as long as the exponent of `1e-999999999` says.
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = int(whole + fraction)
    zeros = int(exponent or 0) - len(fraction)
    if digits == 0 or zeros >= 0:
        return digits * 10**zeros if digits else 0
    if -zeros >= len(mantissa):
        return None
    quotient, rest = divmod(digits, 10**-zeros)
    # `2000000000000000.1` is an integer as a double, and so to who reads numbers as doubles, quoted or not.
    return _integer_of_number(float(text)) if rest else quotient


def _is_number(text: str) -> bool:
    """Whether the text is a number of JSON that a double is not too small for."""
    return len(text) < _MAX_CHARACTERS and _NUMBER.fullmatch(text) is not None and abs(float(text)) != float("inf")
