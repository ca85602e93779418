"""What a suite says that cannot be, although each field by itself is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.bench.suites.checks import Contains, Exact, Excludes, MaxSteps, Regex, ToolCalled, ToolNotCalled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.bench.suites.checks import Check
    from spanscore.bench.suites.model import Case, Suite, Threshold

    Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement that cannot be, and the place of it in the suite."""

    place: Place
    text: str


class Contradictions(ValueError):
    """All that a suite says and cannot be."""

    def __init__(self, found: Sequence[Contradiction]) -> None:
        super().__init__("; ".join(one.text for one in found))
        self.found = tuple(found)


def contradictions(suite: Suite) -> Iterator[Contradiction]:
    """Everything in `suite` that contradicts something else in it."""
    for name, threshold in suite.thresholds.items():
        yield from _in_threshold(("thresholds", name), threshold)
    yield from _in_patterns(suite)
    yield from repeated_ids([case.id for case in suite.cases])
    for index, case in enumerate(suite.cases):
        place: Place = ("cases", index)
        yield from _in_tools(place, case)
        yield from _in_agents(place, suite, case)
        yield from _in_steps(place, suite, case)
        yield from _among_checks(place, suite, case)


def repeated_ids(ids: Sequence[object]) -> Iterator[Contradiction]:
    """Every case whose id an earlier one has; what is no text has no id."""
    seen: set[str] = set()
    for index, case_id in enumerate(ids):
        if not isinstance(case_id, str):
            continue
        if case_id in seen:
            text = "a case before it has this id.\n  Give every case an id of its own."
            yield Contradiction(("cases", index, "id"), text)
        seen.add(case_id)


def _in_threshold(place: Place, threshold: Threshold) -> Iterator[Contradiction]:
    if threshold.min is None and threshold.max is None:
        yield Contradiction(place, "it has neither `min` nor `max`.\n  Give one of them, or take it out.")
    elif threshold.min is not None and threshold.max is not None and threshold.min > threshold.max:
        yield Contradiction(place, f"`min` {threshold.min:g} is above `max` {threshold.max:g}: nothing passes.")


def _in_tools(place: Place, case: Case) -> Iterator[Contradiction]:
    tools = case.expected_tools
    for index, call in enumerate(case.expected_calls or ()):
        if tools is not None and call.tool not in tools:
            none = "`expected_tools` is empty: no tool should be called" if not tools else "`expected_tools` lacks it"
            yield Contradiction(
                (*place, "expected_calls", index, "tool"),
                f"a call of `{call.tool}` is expected, and {none}.\n  Add it there, or leave `expected_tools` out.",
            )
    seen: set[tuple[str, int]] = set()
    for index, fault in enumerate(case.faults):
        if (fault.tool, fault.call) in seen:
            yield Contradiction(
                (*place, "faults", index), f"call {fault.call} of `{fault.tool}` has a fault already: keep one of them."
            )
        seen.add((fault.tool, fault.call))


def _in_agents(place: Place, suite: Suite, case: Case) -> Iterator[Contradiction]:
    agent, acceptable = case.expected_agent, case.acceptable_agents
    if agent is None:
        if acceptable is not None:
            yield Contradiction(
                (*place, "acceptable_agents"), "there are acceptable agents and no `expected_agent`.\n  Name it."
            )
        return
    if acceptable is not None and agent in acceptable:
        yield Contradiction(
            (*place, "acceptable_agents"),
            f"`{agent}` is expected, and acceptable at half the score.\n  Take it out of one of them.",
        )
    if acceptable is None and suite.defaults.tiers is not None and agent not in suite.defaults.tiers:
        yield Contradiction(
            (*place, "expected_agent"),
            f"`{agent}` is none of `defaults.tiers`.\n  Add it there, or give the case `acceptable_agents`.",
        )


def _in_steps(place: Place, suite: Suite, case: Case) -> Iterator[Contradiction]:
    cap = suite.step_cap_of(case)
    if case.optimal_steps is not None and cap is not None and case.optimal_steps > cap:
        yield Contradiction(
            (*place, "optimal_steps"),
            f"the task takes {case.optimal_steps} steps at best, and `step_cap` allows {cap}.\n  Raise the cap.",
        )


def _in_patterns(suite: Suite) -> Iterator[Contradiction]:
    """Patterns that are no regular expressions to what will read them."""
    places = [
        ((*place, "checks", index, "value"), pattern)
        for place, checks in (
            (("defaults",), suite.defaults.checks),
            *((("cases", number), case.checks) for number, case in enumerate(suite.cases)),
        )
        for index, check in enumerate(checks)
        if isinstance(check, Regex)
        for pattern in check.value
    ]
    if not places:
        return
    from spanscore.store.cases import regex_problems

    problems = regex_problems({pattern for _, pattern in places})
    for place, pattern in places:
        if pattern in problems:
            text = f"`{pattern}` is no regular expression: {problems[pattern]}."
            yield Contradiction(place, f"{text}\n  RE2 knows no lookaround and no references.")


def _among_checks(place: Place, suite: Suite, case: Case) -> Iterator[Contradiction]:
    checks = suite.checks_of(case)
    for index, check in enumerate(checks):
        # A check of the defaults is not among those of the case: the case as a whole contradicts it.
        where = (*place, "checks", index) if index < len(case.checks) else place
        text = _against_expectations(case, check) or _against_other_checks(check, checks)
        if text is not None:
            yield Contradiction(where, text)


def _against_expectations(case: Case, check: Check) -> str | None:
    """What the case expects and the check rules out, or the other way round."""
    tools = case.expected_tools
    if isinstance(check, ToolCalled) and tools is not None:
        missing = [name for name in check.value if name not in tools]
        if missing and (check.match == "all" or len(missing) == len(check.value)):
            return f"a call of `{missing[0]}` is checked for, and `expected_tools` lacks it.\n  Add it there."
    if isinstance(check, ToolNotCalled):
        wanted = {*(tools or ()), *(call.tool for call in case.expected_calls or ())}
        name = next((name for name in check.value if name in wanted), None)
        if name is not None:
            return f"`{name}` should not be called, and a call of it is expected.\n  Take it out of one of them."
    if isinstance(check, MaxSteps) and case.optimal_steps is not None and check.value < case.optimal_steps:
        return f"the task takes {case.optimal_steps} steps at best, and {check.value} are allowed.\n  Allow more."
    return None


def _against_other_checks(check: Check, checks: Sequence[Check]) -> str | None:
    """What the check wants and another one rules out."""
    if isinstance(check, ToolCalled):
        barred = {name for other in checks if isinstance(other, ToolNotCalled) for name in other.value}
        out = [name for name in check.value if name in barred]
        if out and (check.match == "all" or len(out) == len(check.value)):
            return f"`{out[0]}` should be called, and should not be called.\n  Take it out of one of them."
    if isinstance(check, Contains | Exact):
        for other in (other for other in checks if isinstance(other, Excludes)):
            for wanted in check.value:
                clash = _excluded_phrase(check, wanted, other)
                if clash is not None:
                    return (
                        f"the answer should contain `{wanted}`, and should not contain `{clash}`.\n"
                        "  Take it out of one of them."
                    )
    return None


def _excluded_phrase(check: Contains | Exact, wanted: str, excludes: Excludes) -> str | None:
    """The excluded phrase that makes `wanted` impossible. With alternatives to it, only the same phrase is a slip."""
    if excludes.case_sensitive and not check.case_sensitive:
        return None
    has_way_out = len(check.value) > 1 and not (isinstance(check, Contains) and check.match == "all")
    key = _folded(wanted, excludes)
    for phrase in excludes.value:
        excluded = _folded(phrase, excludes)
        if excludes.whole_words:
            clashes = excluded == key and (isinstance(check, Exact) or check.whole_words)
        else:
            clashes = excluded == key if has_way_out else excluded in key
        if excluded and clashes:
            return phrase
    return None


def _folded(phrase: str, excludes: Excludes) -> str:
    """What of a phrase counts when an answer is searched for it."""
    text = " ".join(phrase.replace(",", "").split())
    return text if excludes.case_sensitive else text.lower()
