"""One measured figure, and how a table of them is printed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and what it is held against.

    Attributes:
        what: what was measured.
        value: the figure.
        unit: of the figure.
        target: what it should be, in words; None where nothing is promised.
        met: whether it is; None where nothing is promised.
    """

    what: str
    value: float
    unit: str
    target: str | None = None
    met: bool | None = None


def seconds(work: Callable[[], object], *, rounds: int) -> float:
    """The shortest of `rounds` times that `work` took [s]: the one that other programs disturbed least."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def table(figures: Iterable[Figure]) -> str:
    """The figures as aligned lines of text."""
    lines = []
    for figure in figures:
        verdict = "" if figure.target is None else f"{'ok  ' if figure.met else 'MISS'} target {figure.target}"
        lines.append(f"{figure.what:<58} {figure.value:>12,.2f} {figure.unit:<12} {verdict}".rstrip())
    return "\n".join(lines)
