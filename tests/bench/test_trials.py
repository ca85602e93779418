"""What travels with a trial, and how experiments are planned."""

import pytest
from opentelemetry.baggage import get_all
from opentelemetry.baggage.propagation import W3CBaggagePropagator

from spanscore.bench.run import Settings, plan
from spanscore.bench.suites import Case, Fault, Suite
from spanscore.bench.trial import Arm, Budget, TrialContext, check_baggage, read_budgets
from spanscore.errors import UsageError

NAMES = "a, b; c=d é + %41 日本"
SUITE = Suite(
    name=NAMES,
    version="1",
    cases=[Case(id=NAMES, input="?", faults=[Fault(tool="x", call=1, kind="error", message='say "no", é')])],
)


def test_baggage_arrives_as_it_was_sent() -> None:
    """What any OpenTelemetry propagator reads is what was put in, whatever the names hold."""
    arm = Arm(experiment_id=NAMES, suite=SUITE, variant=NAMES, budget=Budget(steps=3, cost_usd=0.05))
    context = TrialContext.begin(arm, NAMES, 2)
    received = get_all(W3CBaggagePropagator().extract(context.headers))

    assert dict(received) == context.entries
    assert received["spanscore.variant"] == f"{NAMES} steps=3 cost_usd=0.05"
    assert received["spanscore.variant.asked"] == NAMES
    assert received["spanscore.faults"] == '[["x",1,"error","say \\"no\\", é"]]'


def test_faults_that_baggage_would_drop_are_refused() -> None:
    long = Case(id="c", input="?", faults=[Fault(tool="x", call=1, kind="error", message="é" * 700)])

    with pytest.raises(UsageError, match="bytes of baggage"):
        check_baggage(Suite(name="s", cases=[long]))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [Budget()]),
        (["steps=3,6,3"], [Budget(steps=3), Budget(steps=6)]),
        (["steps=3", "cost=0.5"], [Budget(steps=3, cost_usd=0.5)]),
        (["cost_usd=0.1,0.2"], [Budget(cost_usd=0.1), Budget(cost_usd=0.2)]),
    ],
)
def test_budgets_are_read(words: list[str], expected: list[Budget]) -> None:
    assert read_budgets(words) == expected


@pytest.mark.parametrize(
    "word", ["steps", "steps=", "steps=0", "steps=1.5", "tokens=5", "cost=-1", "cost=nan", "cost=inf"]
)
def test_what_is_no_budget_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        read_budgets([word])


def test_every_variant_and_budget_is_an_experiment() -> None:
    budgets = (Budget(steps=3), Budget(steps=6))
    arms = plan(SUITE, Settings(experiment="e", variants=("a", "b"), budgets=budgets))

    assert [arm.experiment_id for arm in arms] == ["e-a-steps3", "e-a-steps6", "e-b-steps3", "e-b-steps6"]
    assert [arm.label for arm in arms] == ["a steps=3", "a steps=6", "b steps=3", "b steps=6"]
    assert [arm.experiment_id for arm in plan(SUITE, Settings(experiment="e", variants=("a",)))] == ["e"]
    with pytest.raises(UsageError, match="called `e-a`"):
        plan(SUITE, Settings(experiment="e", variants=("a", "a ".strip())))
