"""Checks of an outcome, as a case lists them. What they mean for a run is written in `queries/macros/checks.sql`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

MODEL = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

_LONGEST_NAME = 200


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds half a surrogate pair, which is no character; write the whole character") from None
    return text


def _one_line(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("must be one line of printable characters without space at either end")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


def is_name(text: str) -> bool:
    """Whether `text` can name something in a suite."""
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable() and text == text.strip()


Name = Annotated[
    str, AfterValidator(_encodable), AfterValidator(_one_line), Field(min_length=1, max_length=_LONGEST_NAME)
]
"""Text on one line that names something: a case, a tool, an agent."""

Prose = Annotated[str, AfterValidator(_encodable), AfterValidator(_not_blank)]
"""Any text that is not blank."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[
    list[Prose],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            ]
        }
    ),
]
"""A text or a list of texts."""

Mode = Literal["exact", "subset"]
Tolerance = Annotated[float, Field(ge=0)]


class AnyCheck(BaseModel):
    """What every check may say."""

    model_config = MODEL

    weight: Annotated[float, Field(gt=0)] = 1.0
    """What the check counts beside the others of the case."""

    def as_value(self) -> dict[str, Any]:
        """The check as plain values, its kind first, without what is not said."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        return {"kind": said["kind"], **said}


class TextCheck(AnyCheck):
    """A check that compares text. White space does not count."""

    case_sensitive: bool = False
    """Whether capitals count."""


class PhraseCheck(TextCheck):
    """A check that looks for phrases. Commas do not count: 723,000 is 723000."""

    value: Texts
    """A phrase or a list of phrases."""
    whole_words: bool = False
    """Whether a phrase must not begin or end inside a word."""


class Contains(PhraseCheck):
    """One of the phrases stands in the answer, or all of them do."""

    kind: Literal["contains"]
    match: Literal["any", "all"] = "any"


class Excludes(PhraseCheck):
    """None of the phrases stands in the answer."""

    kind: Literal["excludes"]


class Exact(TextCheck):
    """The answer is the text, or one of a list."""

    kind: Literal["exact"]
    value: Texts


class Regex(TextCheck):
    """The pattern, or one of a list, is found in the answer."""

    kind: Literal["regex"]
    value: Texts
    """Patterns of RE2: no lookaround, no references."""


class Numeric(AnyCheck):
    """A number in the answer is this one, within the wider of two tolerances."""

    kind: Literal["numeric"]
    value: float
    tolerance: Tolerance = 0.0
    """How far the number may be off, in its own unit."""
    relative_tolerance: Tolerance = 0.0
    """How far it may be off, as a share of `value`."""


class Json(AnyCheck):
    """The answer is JSON of this value."""

    kind: Literal["json"]
    value: JsonValue
    match: Mode = "exact"
    """`subset`: an object may have more keys than these."""


class Abstains(PhraseCheck):
    """The answer declines, in the words that are usual for it or in these."""

    kind: Literal["abstains"]
    value: Texts | None = None  # type: ignore[assignment]  # here, and only here, it may be left out


class ToolCalled(AnyCheck):
    """One of the tools was called, or all of them were."""

    kind: Literal["tool_called"]
    value: Texts
    match: Literal["any", "all"] = "any"


class ToolNotCalled(AnyCheck):
    """None of the tools was called."""

    kind: Literal["tool_not_called"]
    value: Texts


class MaxSteps(AnyCheck):
    """The run took no more steps."""

    kind: Literal["max_steps"]
    value: Annotated[int, Field(ge=0)]
    """LLM calls and tool calls that ran [steps]."""


Check = Annotated[
    Contains | Excludes | Exact | Regex | Numeric | Json | Abstains | ToolCalled | ToolNotCalled | MaxSteps,
    Field(discriminator="kind"),
]

KINDS: dict[str, type[AnyCheck]] = {
    "contains": Contains,
    "excludes": Excludes,
    "exact": Exact,
    "regex": Regex,
    "numeric": Numeric,
    "json": Json,
    "abstains": Abstains,
    "tool_called": ToolCalled,
    "tool_not_called": ToolNotCalled,
    "max_steps": MaxSteps,
}
"""Kind of check -> its model."""
