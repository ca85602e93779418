"""Runs invented for one question: an answer, what stood behind it, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attempt:
    """One run: what was answered, and from what."""

    answer: str
    sources: Sequence[str] = ()
    """Results of tools."""
    question: str = "What is it?"
    system: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What the evaluator says of an attempt."""

    score: float | None
    reason: str | None
    claims: int = 0
    unsupported: Sequence[dict[str, Any]] = ()
    derived: Sequence[dict[str, str]] = ()

    @property
    def texts(self) -> list[str]:
        """The unsupported claims as they stand in the answer."""
        return [claim["text"] for claim in self.unsupported]


Judge = Callable[..., list[Verdict]]
