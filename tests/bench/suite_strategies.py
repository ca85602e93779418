"""Suites of every shape, for properties."""

from hypothesis import strategies as st

from spanscore.bench.suites import Suite

# What YAML readers stumble over, beside whatever Hypothesis thinks of.
_TRAPS = (
    "no",
    "1_000",
    "12:30:45",
    "1e3",
    "007",
    "0x1F",
    "2026-01-01",
    "~",
    "null",
    "true",
    "- x",
    "# a",
    "a #b",
    "a: b",
    "? x",
    "*x",
    "&x",
    "!x",
    "%TAG",
    "---",
    "...",
    "<<",
    "=",
    "[x",
    "{x",
    "'x",
    '"x',
    "723,000",
)
_PARAGRAPHS = (
    "a\nb",
    "a\n\n b\n",
    "a\n---\nb\n",
    "\n a",
    "a \nb",
    "a\n\n\n",
    "x\ty",
    "a\r\nb",
    "a\u2028b",
    "a\x85b",
    "\ufeffx",
)

names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20) | st.sampled_from(
    [trap for trap in _TRAPS if trap.isprintable()]
)
prose = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip) | st.sampled_from(
    [*_TRAPS, *_PARAGRAPHS, "word " * 60 + "end", "x" * 300]
)
name_lists = st.lists(names, unique=True, max_size=3)
numbers = st.floats(allow_nan=False, allow_infinity=False)
tolerances = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
counts = st.integers(1, 1_000_000)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | numbers | st.just("") | prose,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("") | prose, inner, max_size=3),
    max_leaves=6,
)


def some(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    """Mappings that have any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def check(kind: str, needed: dict[str, st.SearchStrategy[object]], **fields: st.SearchStrategy[object]):
    """Checks of one kind."""
    weight = st.floats(min_value=0.001, max_value=1000)
    return st.fixed_dictionaries({"kind": st.just(kind), **needed}, optional={"weight": weight, **fields})


def checks(*, may_exclude: bool) -> st.SearchStrategy[dict[str, object]]:
    """Checks that contradict neither each other nor what a case may expect beside them."""
    texts = prose | st.lists(prose, min_size=1, max_size=3)
    phrases = {"case_sensitive": st.booleans(), "whole_words": st.booleans()}
    wanted = [
        check("contains", {"value": texts}, match=st.sampled_from(["any", "all"]), **phrases),
        check("exact", {"value": texts}, case_sensitive=st.booleans()),
    ]
    if may_exclude:
        wanted = [check("excludes", {"value": texts}, **phrases)]
    return st.one_of(
        *wanted,
        check("abstains", {}, value=texts, **phrases),
        check("regex", {"value": st.sampled_from(["a+", ["\\d{3}", "(?i)x"]])}, case_sensitive=st.booleans()),
        check("numeric", {"value": numbers}, tolerance=tolerances, relative_tolerance=tolerances),
        check("json", {"value": json_values}, match=st.sampled_from(["exact", "subset"])),
    )


calls = st.fixed_dictionaries(
    {"tool": names},
    optional={
        "arguments": st.dictionaries(prose, json_values, max_size=3),
        "mode": st.sampled_from(["exact", "subset"]),
    },
)


@st.composite
def cases(draw: st.DrawFn, case_id: str) -> dict[str, object]:
    """A case with any of its fields."""
    case = draw(
        some(
            category=names,
            tags=name_lists,
            expected_steps=st.lists(names, max_size=3),
            expected_sources=st.lists(prose, unique=True, max_size=2),
            checks=st.booleans().flatmap(lambda out: st.lists(checks(may_exclude=out), max_size=3)),
            reference=prose,
            unanswerable=st.booleans(),
            optimal_steps=st.integers(1, 5),
            step_cap=st.integers(5, 50),
        )
    )
    case |= draw(some(expected_tools=name_lists) | some(expected_calls=st.lists(calls, max_size=2)))
    case |= draw(some(expected_agent=names))
    if "expected_agent" in case:
        case |= draw(
            some(acceptable_agents=name_lists.map(lambda all_: [a for a in all_ if a != case["expected_agent"]]))
        )
    case["faults"] = [
        {"tool": tool, "call": call, "kind": draw(st.sampled_from(["error", "timeout", "empty", "malformed"]))}
        for tool, call in draw(st.lists(st.tuples(names, counts), unique=True, max_size=2))
    ]
    return {"id": case_id, "input": draw(prose), **case}


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    """A suite with any of its fields."""
    about = draw(
        some(
            version=names,
            description=prose,
            step_cap=st.integers(5, 100),
            defaults=some(
                category=names,
                tags=name_lists,
                arguments_mode=st.sampled_from(["exact", "subset"]),
                sequence_mode=st.sampled_from(["exact", "in_order", "any_order"]),
                completion_threshold=st.floats(0.001, 1),
            ),
            thresholds=st.dictionaries(
                names, some(min=numbers).filter(bool) | some(max=numbers).filter(bool), max_size=2
            ),
        )
    )
    ids = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    return Suite.model_validate({"name": draw(names), **about, "cases": [draw(cases(case_id)) for case_id in ids]})
