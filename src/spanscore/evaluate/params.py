"""Values for the parameters of evaluators, as a user writes them: `id.name=value`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.evaluate.catalogue import Catalogue

_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_params(words: Sequence[str], catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """The values in `words`, by evaluator and name, each of the type that the evaluator declares.

    Raises:
        UsageError: a word is no `id.name=value`, names what does not exist, or has a value of another type.
    """
    values: dict[str, dict[str, Any]] = {}
    for word in words:
        place, equals, text = word.partition("=")
        evaluator_id, dot, name = place.strip().partition(".")
        if not equals or not dot or not name:
            raise UsageError(
                f"--param `{word}` is no `id.name=value`.\n  Write it as tool_error_rate.min_tool_calls=3."
            )
        evaluator = catalogue.named(evaluator_id)
        parameter = evaluator.params.get(name)
        if parameter is None:
            known = ", ".join(f"`{known}`" for known in evaluator.params) or "none"
            raise UsageError(f"`{evaluator_id}` has no parameter `{name}`.\n  It has: {known}.")
        try:
            values.setdefault(evaluator_id, {})[name] = _value(text, parameter.type)
        except (ValueError, KeyError) as error:
            raise UsageError(f"--param `{word}`: `{text}` is no {parameter.type}.") from error
    return values


def _value(text: str, kind: str) -> bool | int | float | str:
    if kind == "BIGINT":
        return int(text)
    if kind == "DOUBLE":
        return float(text)
    if kind == "BOOLEAN":
        return _BOOLEANS[text.strip().lower()]
    return text
