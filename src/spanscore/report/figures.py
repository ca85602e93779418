"""Numbers and times as a person reads them. None is unknown and shown as a dash, never as 0."""

UNKNOWN = "-"
_SHORT_ID = 8


def count(value: int | None) -> str:
    """A whole number with thousands separated."""
    return UNKNOWN if value is None else f"{value:,}"


def duration(seconds: float | None) -> str:
    """A duration [s] with the unit that suits its size."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def usd(value: float | None, unpriced: int | None = None) -> str:
    """An amount [USD]; `unpriced` calls have no known price and stand beside it: the amount is then a lower bound."""
    if value is None:
        amount = UNKNOWN
    elif value == 0:
        amount = "$0"
    elif abs(value) < 0.01:
        amount = f"${value:.6f}"
    elif abs(value) < 1:
        amount = f"${value:.4f}"
    else:
        amount = f"${value:,.2f}"
    return f"{amount} +{unpriced}?" if unpriced else amount


def ratio(value: float | None) -> str:
    """A share [0..1] as a percentage."""
    return UNKNOWN if value is None else f"{100 * value:.0f}%"


def size(n_bytes: int | None) -> str:
    """A size in bytes with a decimal unit."""
    if n_bytes is None:
        return UNKNOWN
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def when(moment: str | None) -> str:
    """A moment (ISO 8601, UTC) to the second."""
    return UNKNOWN if moment is None else moment[:19].replace("T", " ")


def short_id(identifier: str | None) -> str:
    """The first characters of an id: enough for `spanscore trace`, which takes any unambiguous beginning."""
    return UNKNOWN if identifier is None else identifier[:_SHORT_ID]
