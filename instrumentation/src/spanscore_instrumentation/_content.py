"""Whether, and in what form, prompts, answers, tool arguments and results are recorded."""

import os
from collections.abc import Callable
from typing import Any, Literal

from spanscore_instrumentation._quiet import report_once

Redactor = Callable[[str, Any], Any]
"""Given the attribute's name and the value before it becomes text; returns what may be recorded, None for nothing."""

Content = Literal["on", "off"] | Redactor

_ENVIRONMENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def _from_environment() -> Content:
    """On, unless the variable that OpenTelemetry's own GenAI instrumentations read says otherwise."""
    return "off" if os.environ.get(_ENVIRONMENT, "").strip().lower() in {"false", "no_content"} else "on"


_content: Content = _from_environment()


def set_content(content: Content | None) -> None:
    """Choose for the whole process; None means what the environment says.

    Raises:
        ValueError: `content` is none of "on", "off", a callable, None. A privacy switch must not fail in silence.
    """
    global _content  # noqa: PLW0603 - one switch for the process, as there is one tracer provider
    if content is None:
        _content = _from_environment()
    elif content in ("on", "off") or callable(content):
        _content = content
    else:
        raise ValueError(
            f'`content` is {content!r}: give "on", "off" or a function (attribute, value) -> value or None'
        )


def records_content() -> bool:
    """Whether any content may be recorded, so that nobody prepares it in vain."""
    return _content != "off"


def admitted(attribute: str, value: object) -> Any:
    """What may be recorded of `value`: itself, what the redactor made of it, or None for nothing at all."""
    if value is None or _content == "off":
        return None
    if _content == "on":
        return value
    try:
        return _content(attribute, value)
    except Exception as error:  # noqa: BLE001 - a redactor that fails must neither leak the value nor reach the user
        message = f"the content redactor raised {type(error).__name__} on `{attribute}`, so the value is left out"
        report_once("redactor", message, exc_info=False)
        return None
