"""What one trial is: which case, for which experiment, under which budget, and how an attempt at it ended."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from spanscore.bench.suites import Fault, Suite

FAULTS = "spanscore.faults"
VARIANT_ASKED = "spanscore.variant.asked"
STEP_BUDGET = "spanscore.budget.steps"
COST_BUDGET = "spanscore.budget.cost_usd"

# What propagators pass on: more than 4,096 bytes in one entry are dropped without a word.
_LONGEST_ENTRY = 4096

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What the agent is told it may spend on one trial, and has to keep to itself. None = as much as it likes."""

    steps: int | None = None
    """LLM calls and tool calls [steps]."""
    cost_usd: float | None = None

    @property
    def label(self) -> str | None:
        """The budget in a few words; None = there is none."""
        parts = [f"steps={self.steps}"] if self.steps is not None else []
        parts += [f"cost_usd={self.cost_usd:g}"] if self.cost_usd is not None else []
        return " ".join(parts) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One experiment: a suite, run by one variant of the agent under one budget."""

    experiment_id: str
    suite: Suite
    variant: str | None
    """What the agent is told to be; None = it is told nothing."""
    budget: Budget = field(default_factory=Budget)

    @property
    def label(self) -> str | None:
        """`spanscore.variant` of the runs: the variant with its budget."""
        return " ".join(part for part in (self.variant, self.budget.label) if part is not None) or None


class Ending(StrEnum):
    """How an attempt ended."""

    OK = "ok"
    """The agent answered."""
    ERROR = "error"
    """The agent failed: it raised, left with an exit code, or answered with an HTTP error."""
    TIMEOUT = "timeout"
    """The agent took longer than it may; that is a failure of the agent."""
    INFRASTRUCTURE = "infrastructure"
    """The agent could not be reached, or said that it could not work: nothing is learned about it."""
    INTERRUPTED = "interrupted"
    """The harness was stopped while the agent worked."""

    @property
    def is_trial(self) -> bool:
        """Whether the attempt counts as the trial; otherwise another one has to be made."""
        return self not in (Ending.INFRASTRUCTURE, Ending.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attempt, as the harness saw it."""

    ending: Ending
    answer: str | None = None
    error_type: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialContext:
    """What an agent may know of the attempt it is asked to make. A callable that takes `context` is given it."""

    experiment_id: str
    suite_name: str
    suite_version: str | None
    case_id: str
    trial: int
    variant: str | None
    """The variant that was asked for; None = none was."""
    label: str | None
    """`spanscore.variant` of the run: the variant with its budget."""
    budget: Budget
    trace_id: str
    span_id: str
    faults: tuple[Fault, ...] = ()

    @classmethod
    def begin(cls, arm: Arm, case_id: str, trial: int) -> TrialContext:
        """A new attempt, with ids that nothing else has."""
        case = next(case for case in arm.suite.cases if case.id == case_id)
        return cls(
            experiment_id=arm.experiment_id,
            suite_name=arm.suite.name,
            suite_version=arm.suite.version,
            case_id=case_id,
            trial=trial,
            variant=arm.variant,
            label=arm.label,
            budget=arm.budget,
            trace_id=secrets.token_hex(16),
            span_id=secrets.token_hex(8),
            faults=tuple(case.faults),
        )

    @property
    def ids(self) -> dict[str, str | int]:
        """Which trial this is, as span attributes."""
        given = {
            "spanscore.experiment.id": self.experiment_id,
            "spanscore.suite.name": self.suite_name,
            "spanscore.suite.version": self.suite_version,
            "spanscore.case.id": self.case_id,
            "spanscore.trial": self.trial,
            "spanscore.variant": self.label,
        }
        return {key: value for key, value in given.items() if value is not None}

    @property
    def entries(self) -> dict[str, str]:
        """What travels with the attempt: its ids, its budget and the faults to put into tools."""
        entries = {key: str(value) for key, value in self.ids.items()}
        if self.budget.steps is not None:
            entries[STEP_BUDGET] = str(self.budget.steps)
        if self.budget.cost_usd is not None:
            entries[COST_BUDGET] = f"{self.budget.cost_usd:g}"
        if self.label != self.variant:
            entries[VARIANT_ASKED] = self.variant or ""
        if self.faults:
            entries[FAULTS] = fault_text(self.faults)
        return entries

    @property
    def traceparent(self) -> str:
        """W3C trace context: the agent's spans become children of the harness's."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    @property
    def baggage(self) -> str:
        """W3C baggage."""
        return ",".join(f"{key}={quote(value, safe='')}" for key, value in self.entries.items())

    @property
    def headers(self) -> dict[str, str]:
        """What a request to the agent carries."""
        return {"traceparent": self.traceparent, "baggage": self.baggage}


def fault_text(faults: tuple[Fault, ...]) -> str:
    """Faults as the instrumentation reads them: a JSON list of [tool, call, kind] or [tool, call, kind, message]."""
    listed = [[fault.tool, fault.call, fault.kind, *filter(None, [fault.message])] for fault in faults]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def check_baggage(suite: Suite) -> None:
    """Refuses faults that do not fit into baggage.

    Raises:
        UsageError: a case has too many faults, or too long messages.
    """
    for case in suite.cases:
        size = len(FAULTS) + 1 + len(quote(fault_text(tuple(case.faults)), safe=""))
        if case.faults and size > _LONGEST_ENTRY:
            raise UsageError(
                f"Case `{case.id}`: its faults take {size} bytes of baggage, and {_LONGEST_ENTRY} are passed on.\n"
                "  Shorten their messages, or make fewer."
            )


def read_budgets(words: list[str]) -> list[Budget]:
    """Budgets from words such as `steps=3,6,12`; of several, every combination. Without words, one without limits.

    Raises:
        UsageError: a word is none.
    """
    steps: list[int | None] = []
    costs: list[float | None] = []
    for word in words:
        name, equals, values = word.partition("=")
        try:
            if name == "steps" and equals:
                steps += [_positive(int(value)) for value in values.split(",")]
            elif name in ("cost", "cost_usd") and equals:
                costs += [_positive(float(value)) for value in values.split(",")]
            else:
                raise ValueError
        except ValueError:
            raise UsageError(
                f"--budget {word} is no budget. Write steps=3,6,12 (LLM calls and tool calls) or cost_usd=0.05."
            ) from None
    return [
        Budget(steps=step, cost_usd=cost)
        for step in dict.fromkeys(steps or [None])
        for cost in dict.fromkeys(costs or [None])
    ]


def _positive(value: Number) -> Number:
    if not 0 < value < float("inf"):
        raise ValueError
    return value
