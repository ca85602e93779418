"""Numbers of things in sentences."""

UNKNOWN = "-"


def counted(value: int | None, noun: str, plural: str | None = None) -> str:
    """A whole number of things: `1 trace`, `2,000 traces`, `- traces`; `plural` where it is not the noun with an s."""
    number = UNKNOWN if value is None else f"{value:,}"
    return f"{number} {noun if value == 1 else plural or noun + 's'}"


def agreeing(value: int | None, one: str, many: str) -> str:
    """The word that goes with so many things: `has` or `have`."""
    return one if value == 1 else many
