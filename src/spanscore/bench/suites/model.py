"""A suite: a versioned set of cases, each a task and what is expected of it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, JsonValue, model_validator

from spanscore.bench.suites.checks import MODEL, Check, Mode, Name, Prose
from spanscore.bench.suites.contradictions import Contradictions, contradictions

Count = Annotated[int, Field(ge=1, le=1_000_000)]
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def _unique(names: list[str]) -> list[str]:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"names {', '.join(f'`{name}`' for name in repeated)} twice")
    return names


Names = Annotated[list[Name], AfterValidator(_unique)]


class ExpectedCall(BaseModel):
    """A tool call that should be made."""

    model_config = MODEL

    tool: Name
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    mode: Mode | None = None
    """`exact`: these arguments and no others; `subset`: others may be there too. Without it, that of the defaults."""


class Fault(BaseModel):
    """A failure that the harness puts into a tool at one of its calls."""

    model_config = MODEL

    tool: Name
    call: Count
    """Which call of the tool in the run fails: 1, 2, …"""
    kind: Literal["error", "timeout", "empty", "malformed"]
    message: Prose | None = None
    """What the agent is told."""


class Threshold(BaseModel):
    """Bounds that the mean of an evaluator must keep, in its unit. A value at a bound passes."""

    model_config = MODEL

    min: float | None = None
    max: float | None = None


class Defaults(BaseModel):
    """What applies to every case."""

    model_config = MODEL

    category: Name | None = None
    """Category of cases that have none."""
    tags: Names = Field(default_factory=list)
    """Tags that every case has beside its own."""
    arguments_mode: Mode = "exact"
    """How arguments of expected calls are compared where the call does not say."""
    sequence_mode: Literal["exact", "in_order", "any_order"] | None = None
    """How the order of tool calls is compared with `expected_steps`."""
    completion_threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of checks, by weight, that must pass for a task to be completed [ratio]."""
    tiers: Names | None = None
    """Agents from the cheapest to the most able: a neighbour of the expected one is half right."""
    checks: list[Check] = Field(default_factory=list)
    """Checks that every case has beside its own."""


class Case(BaseModel):
    """A task and what is expected of it. What is left out is not expected."""

    model_config = MODEL

    id: Name
    """Unique in the suite; `spanscore.case.id` of the runs."""
    input: Prose
    """What the agent is asked."""
    category: Name | None = None
    """Reports group by it."""
    tags: Names = Field(default_factory=list)
    expected_tools: Names | None = None
    """Tools that should be called, in any order; an empty list: none should be."""
    expected_calls: list[ExpectedCall] | None = None
    """Calls that should be made."""
    expected_steps: list[Name] | None = None
    """Steps that should be taken, in this order."""
    expected_agent: Name | None = None
    """Agent that should take the task."""
    acceptable_agents: Names | None = None
    """Agents that may take it, at half the score. Without it, the neighbours in `defaults.tiers`."""
    expected_sources: Annotated[list[Prose], AfterValidator(_unique)] | None = None
    """Sources (URLs or document ids) that the answer should rest on."""
    checks: list[Check] = Field(default_factory=list)
    """Checks of the answer."""
    reference: Prose | None = None
    """A right answer, for people and judges to read; no check compares with it."""
    optimal_steps: Count | None = None
    """Fewest steps that solve the task [steps]."""
    step_cap: Count | None = None
    """Most steps that are allowed [steps]; without it, that of the suite."""
    unanswerable: bool = False
    """The right answer is that there is none."""
    faults: list[Fault] = Field(default_factory=list)
    """Failures to put into tools; captured runs are scored without a look at them."""


class Suite(BaseModel):
    """A versioned set of cases, consistent in itself."""

    model_config = MODEL

    name: Name
    """`spanscore.suite.name` of the runs."""
    version: Name | None = None
    """`spanscore.suite.version` of the runs. Change it whenever what is expected changes."""
    description: Prose | None = None
    step_cap: Count | None = None
    """Most steps that a run may take [steps]."""
    defaults: Defaults = Field(default_factory=Defaults)
    thresholds: dict[Name, Threshold] = Field(default_factory=dict)
    """Bounds by evaluator."""
    cases: Annotated[list[Case], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        found = list(contradictions(self))
        if found:
            raise Contradictions(found)
        return self

    def mode_of(self, call: ExpectedCall) -> Mode:
        """How the arguments of an expected call are compared."""
        return self.defaults.arguments_mode if call.mode is None else call.mode

    def step_cap_of(self, case: Case) -> int | None:
        """Most steps that a run of the case may take [steps]; None = any number."""
        return self.step_cap if case.step_cap is None else case.step_cap

    def checks_of(self, case: Case) -> list[Check]:
        """Checks of the case, then those of every case."""
        return [*case.checks, *self.defaults.checks]

    def acceptable_agents_of(self, case: Case) -> list[str] | None:
        """Agents that may take the case at half the score; None = nothing is said about agents."""
        tiers = self.defaults.tiers
        if case.acceptable_agents is not None or case.expected_agent is None or tiers is None:
            return case.acceptable_agents
        place = tiers.index(case.expected_agent)
        return [*tiers[max(0, place - 1) : place], *tiers[place + 1 : place + 2]]

    def case_rows(self) -> list[dict[str, Any]]:
        """A row for the table `cases` per case, with what applies to all of them. JSON columns are text."""
        shown = self.defaults.model_dump(mode="json", exclude_defaults=True, exclude={"category", "tags", "checks"})
        if self.step_cap is not None:
            shown["step_cap"] = self.step_cap
        defaults = _json(shown) if shown else None
        return [{**self._row(case), "defaults": defaults} for case in self.cases]

    def _row(self, case: Case) -> dict[str, Any]:
        calls = case.expected_calls
        checks = [check.as_value() for check in self.checks_of(case)]
        return {
            "case_id": case.id,
            "category": self.defaults.category if case.category is None else case.category,
            "tags": list(dict.fromkeys([*case.tags, *self.defaults.tags])),
            "input": case.input,
            "expected_tools": case.expected_tools,
            "expected_calls": None
            if calls is None
            else _json(
                [{"tool": call.tool, "arguments": call.arguments, "mode": self.mode_of(call)} for call in calls]
            ),
            "expected_steps": case.expected_steps,
            "expected_agent": case.expected_agent,
            "acceptable_agents": self.acceptable_agents_of(case),
            "expected_sources": case.expected_sources,
            "checks": _json(checks) if checks else None,
            "optimal_steps": case.optimal_steps,
            "step_cap": self.step_cap_of(case),
            "unanswerable": case.unanswerable,
        }


def suite_schema() -> dict[str, Any]:
    """The JSON Schema of suite files, for editors and other programs."""
    return {"$schema": SCHEMA_ID, **Suite.model_json_schema(mode="validation")}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
