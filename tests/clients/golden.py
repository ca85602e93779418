"""Golden telemetry: spans and log records written down once, as plain JSON, for every client and for the comparison.

The description is what was meant. It knows nothing of spanscore and nothing of any exporter: clients in several
languages read it and say it over OTLP, each in its own way, and what is stored is compared with the description.

A value is a pair of its OTLP type and its content: `["string", "x"]`, `["int", "-3"]`, `["double", "1e-07"]`,
`["bool", true]`, `["bytes", "AAE="]` (base64), `["array", [value, …]]`, `["kvlist", [[key, value], …]]`,
`["empty", null]`. Integers and times are decimal text, because JSON readers lose digits.
"""

from __future__ import annotations

import itertools
import json
import random
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_NS = 1_790_000_000_123_456_789
LAST_NS = 2**63 - 1
SPANS_PER_TRACE = 12
CANDIDATES = 24
HAS_IS_REMOTE, IS_REMOTE, SAMPLED = 0x100, 0x200, 0x01

Json = Any
Levels = Mapping[str, tuple[Any, ...]]


def text(content: str) -> Json:
    return ["string", content]


def integer(content: int) -> Json:
    return ["int", str(content)]


def double(content: float) -> Json:
    return ["double", repr(content)]


def octets(content: bytes) -> Json:
    return ["bytes", b64encode(content).decode()]


def array(*values: Json) -> Json:
    return ["array", list(values)]


def kvlist(**values: Json) -> Json:
    return ["kvlist", [[key, value] for key, value in values.items()]]


EMPTY = ["empty", None]
MESSAGE = kvlist(role=text("user"), parts=array(kvlist(type=text("text"), content=text("Wie heiß ist es?"))))

VALUES: Mapping[str, Json] = {
    "text": text("gpt-4o"),
    "empty text": text(""),
    "unicode": text("Grüße, 東京 👩‍👩‍👧 שלום e\u0301 \u202eabc"),
    "controls": text("a\u0000b\tc\r\nd\\e\"f'g\u2028h"),
    "long text": text("0123456789abcdef" * 400),
    "number in text": text("007"),
    "true": ["bool", True],
    "false": ["bool", False],
    "zero": integer(0),
    "negative": integer(-17),
    "safe integer": integer(2**53 - 1),
    "beyond double": integer(2**53 + 1),
    "greatest integer": integer(2**63 - 1),
    "least integer": integer(-(2**63)),
    "double": double(0.1),
    "integral double": double(3.0),
    "negative zero": double(-0.0),
    "smallest double": double(5e-324),
    "greatest double": double(1.7976931348623157e308),
    "nan": double(float("nan")),
    "infinity": double(float("inf")),
    "minus infinity": double(float("-inf")),
    "bytes": octets(bytes(range(256))),
    "empty bytes": octets(b""),
    "empty": EMPTY,
    "empty array": array(),
    "texts": array(text("a"), text(""), text("ü")),
    "integers": array(integer(1), integer(-2), integer(3)),
    "doubles": array(double(0.5), double(-1.25)),
    "booleans": array(["bool", True], ["bool", False]),
    "mixed array": array(text("1"), integer(1), double(1.5), ["bool", True], EMPTY, octets(b"\x00\xff")),
    "nested array": array(array(integer(1)), array(), array(array(text("deep")))),
    "empty kvlist": kvlist(),
    "kvlist": kvlist(a=integer(1), b=text("two"), c=["bool", False], d=EMPTY, e=double(2.5)),
    "message": MESSAGE,
    "nested kvlist": kvlist(a=kvlist(b=kvlist(c=array(kvlist(), kvlist(d=octets(b"d")))))),
    "wide integers in an array": array(integer(2**63 - 1), integer(-(2**63)), double(4.0)),
}

ODD = ("mixed array", "nested kvlist", "bytes", "empty", "unicode", "double")
"""Values in the attributes of a resource and a scope."""

FACTORS: Levels = {
    "name": ("chat", "", "invoke_agent Grüße 👋", "n" * 300),
    "kind": (0, 1, 2, 3, 4, 5),
    "status": ((0, ""), (1, ""), (2, ""), (2, "zu groß: 7 > 5\n"), (1, "fine"), (0, "odd")),
    "parent": ("none", "local", "remote"),
    "trace_flags": (0, SAMPLED, 0xA5),
    "trace_state": ("", "vendor=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
    "time": ("usual", "instant", "odd nanosecond", "last", "no start", "unfinished", "backwards"),
    "value": tuple(VALUES),
    "events": ("none", "one", "three", "bare"),
    "links": ("none", "one", "three", "bare"),
    "dropped": (0, 3),
    "resource": tuple(range(5)),
    "scope": tuple(range(5)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a client is able to say.

    Attributes:
        without: levels of `FACTORS` that its interface cannot express, by factor.
        without_values: names in `VALUES` that its interface cannot express.
        states_trace_flags: whether the flags of a span repeat the W3C trace flags.
        states_links_in_full: whether the trace state of a link is sent.
        drops_in_owners: whether resources and scopes may tell of dropped attributes.
    """

    name: str
    without: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    without_values: tuple[str, ...] = ()
    states_trace_flags: bool = True
    states_links_in_full: bool = True
    drops_in_owners: bool = False

    def factors(self) -> Levels:
        """The levels of every factor that the client can express."""
        without = {"value": self.without_values, **self.without}
        return {
            factor: tuple(level for level in levels if level not in without.get(factor, ()))
            for factor, levels in FACTORS.items()
        }


ANYTHING = Profile(name="anything", drops_in_owners=True)
"""All that OTLP has; said by whoever writes the messages field by field."""

PYTHON = Profile(
    name="python",
    without={"kind": (0,), "status": ((1, "fine"), (0, "odd"))},
    states_trace_flags=False,
    states_links_in_full=False,
)
"""The Python SDK keeps a message for errors alone, repeats no trace flags, and forgets the trace state of links."""

_NO_JAVASCRIPT_NUMBER = (
    "beyond double",
    "greatest integer",
    "least integer",
    "integral double",
    "negative zero",
    "wide integers in an array",
)
JAVASCRIPT = Profile(name="javascript", without_values=_NO_JAVASCRIPT_NUMBER)
"""JavaScript has one type of number: what is integral is sent as an integer."""

JAVASCRIPT_JSON = Profile(
    name="javascript-json",
    without_values=(*_NO_JAVASCRIPT_NUMBER, "greatest double", "nan", "infinity", "minus infinity"),
)
"""JSON.stringify makes null of what is not finite."""


def pairs(row: Mapping[str, Any]) -> set[tuple[str, Any, str, Any]]:
    """Every two levels that occur together in a row."""
    return {(a, row[a], b, row[b]) for a, b in itertools.combinations(row, 2)}


def all_pairs(factors: Levels) -> set[tuple[str, Any, str, Any]]:
    """Every two levels that can occur together."""
    return {
        (a, first, b, second)
        for a, b in itertools.combinations(factors, 2)
        for first in factors[a]
        for second in factors[b]
    }


def rows(factors: Levels, *, seed: int, at_least: int) -> list[dict[str, Any]]:
    """Rows of levels, `at_least` so many, in which every pair of levels of two factors occurs."""
    chance = random.Random(seed)
    missing = all_pairs(factors)
    chosen: list[dict[str, Any]] = []

    def add(fixed: Mapping[str, Any], candidates: int) -> None:
        drawn = [{f: chance.choice(levels) for f, levels in factors.items()} | fixed for _ in range(candidates)]
        best = max(drawn, key=lambda row: len(pairs(row) & missing))
        chosen.append(best)
        missing.difference_update(pairs(best))

    # the two factors with the most levels need that many rows anyway: the others fit into them
    for value, time in itertools.product(factors["value"], factors["time"]):
        add({"value": value, "time": time}, CANDIDATES)
    while missing:
        a, first, b, second = min(missing, key=repr)
        add({a: first, b: second}, CANDIDATES)
    while len(chosen) < at_least:
        add({}, 1)
    return chosen


def owners(profile: Profile) -> dict[str, list[Json]]:
    """Resources and scopes, all different in a way that tells them apart."""
    drops = [0, 0, 2, 0, 1] if profile.drops_in_owners else [0] * 5
    sayable = profile.factors()["value"]
    odd = {name: VALUES[name] for name in ODD if name in sayable}
    resources = [
        [["service.name", text("agent")], ["service.instance.id", text("1")]],
        [["service.name", text("Übersetzer")], ["replicas", integer(3)], ["spot", ["bool", True]]],
        [["service.name", text("agent")], *([key, value] for key, value in odd.items())],
        [],
        [["service.name", text("")], ["host.name", text("h")]],
    ]
    scopes = [
        ("tests.golden", "1.2.3", []),
        ("tests.other", "", [["short", text("x")], ["n", integer(2)]]),
        ("scope with attributes", "0", [[key, value] for key, value in odd.items()]),
        ("ünïcode", "v", []),
        ("", "", []),
    ]
    schemas = ["", "https://example.com/schemas/1.0", "", "https://example.com/schemas/2.0", ""]
    return {
        "resources": [
            {"attributes": attributes, "dropped_attributes_count": dropped, "schema_url": schema}
            for attributes, dropped, schema in zip(resources, drops, schemas, strict=True)
        ],
        "scopes": [
            {
                "name": name,
                "version": version,
                "attributes": attributes,
                "dropped_attributes_count": dropped if attributes else 0,
                "schema_url": schema,
            }
            for (name, version, attributes), dropped, schema in zip(scopes, drops, reversed(schemas), strict=True)
        ],
    }


def spans(profile: Profile, *, seed: int, at_least: int) -> Iterator[dict[str, Any]]:
    """Golden spans; see `rows` for how many."""
    chance = random.Random(seed)
    names = profile.factors()["value"]
    trace_id, siblings = "", []
    for number, row in enumerate(rows(profile.factors(), seed=seed, at_least=at_least)):
        if number % SPANS_PER_TRACE == 0:
            trace_id, siblings = f"{chance.getrandbits(128) | 1:032x}", []
        span_id = f"{chance.getrandbits(64) | 1:016x}"
        parent = row["parent"] if siblings or row["parent"] == "remote" else "none"
        parent_id = {
            "none": "",
            "local": chance.choice(siblings or [""]),
            "remote": f"{chance.getrandbits(64) | 1:016x}",
        }
        start, end = times(row["time"], number)
        other = VALUES[names[(names.index(row["value"]) + 1 + number % 5) % len(names)]]
        yield {
            "row": row,
            "trace_id": trace_id,
            "span_id": span_id,
            "parent_span_id": parent_id[parent],
            "parent_is_remote": parent == "remote",
            "trace_flags": row["trace_flags"],
            "flags": flags(profile, row["trace_flags"], is_remote=parent == "remote"),
            "trace_state": row["trace_state"],
            "name": row["name"],
            "kind": row["kind"],
            "start_time_unix_nano": str(start),
            "end_time_unix_nano": str(end),
            "status": {"code": row["status"][0], "message": row["status"][1]},
            "attributes": [["value", VALUES[row["value"]]], ["gen_ai.other", other]] if number % 9 else [],
            "dropped_attributes_count": row["dropped"],
            "events": list(events(row["events"], row, start)),
            "dropped_events_count": 2 * row["dropped"],
            "links": list(links(row["links"], row, other, profile, chance)),
            "dropped_links_count": 5 * row["dropped"],
            "resource": row["resource"],
            "scope": row["scope"],
        }
        siblings.append(span_id)


def times(level: str, number: int) -> tuple[int, int]:
    """Start and end [ns]."""
    start = START_NS + number * 1_000_003
    return {
        "usual": (start, start + 1_234_567_000),
        "instant": (start, start),
        "odd nanosecond": (start + 1, start + 1_000_000_002),
        "last": (LAST_NS - 1 - number, LAST_NS - 1),
        "no start": (0, start),
        "unfinished": (start, 0),
        "backwards": (start, start - 1),
    }[level]


def flags(profile: Profile, trace_flags: int, *, is_remote: bool) -> int:
    """Flags as OTLP has them: the trace flags, and above them whether a parent or linked span is remote."""
    return HAS_IS_REMOTE | (IS_REMOTE if is_remote else 0) | (trace_flags if profile.states_trace_flags else 0)


def events(level: str, row: Mapping[str, Any], start: int) -> Iterator[dict[str, Any]]:
    """Events of a span with the row's value in their attributes."""
    for place in range({"none": 0, "one": 1, "three": 3, "bare": 1}[level]):
        yield {
            "time_unix_nano": str(start + place),
            "name": "" if level == "bare" else f"gen_ai.event {place} ✓",
            "attributes": [] if level == "bare" else [["value", VALUES[row["value"]]], ["place", integer(place)]],
            "dropped_attributes_count": row["dropped"] * place,
        }


def links(
    level: str, row: Mapping[str, Any], other: Json, profile: Profile, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Links of a span with another value in their attributes."""
    for place in range({"none": 0, "one": 1, "three": 3, "bare": 1}[level]):
        is_remote = place != 1
        yield {
            "trace_id": f"{chance.getrandbits(128) | 1:032x}",
            "span_id": f"{chance.getrandbits(64) | 1:016x}",
            "is_remote": is_remote,
            "trace_flags": row["trace_flags"],
            "flags": flags(profile, row["trace_flags"], is_remote=is_remote),
            "trace_state": row["trace_state"] if profile.states_links_in_full else "",
            "attributes": [] if level == "bare" else [["value", other]],
            "dropped_attributes_count": row["dropped"] * place,
        }


def log_records(profile: Profile, *, seed: int, at_least: int) -> Iterator[dict[str, Any]]:
    """Golden log records, twice as many as there are values and not fewer than `at_least`; all are different."""
    chance = random.Random(seed)
    names = profile.factors()["value"]
    for number in range(max(at_least, 2 * len(names))):
        with_trace = number % 3 != 0
        time = START_NS + number
        yield {
            "time_unix_nano": str(chance.choice((time, 0, LAST_NS - 1))),
            "observed_time_unix_nano": str(time + 1),
            "severity_number": chance.choice((1, 9, 13, 17, 24)),
            "severity_text": chance.choice(("", "INFO", "schlimm: ü")),
            "event_name": chance.choice(("", "gen_ai.client.inference.operation.details")),
            "body": VALUES[names[number % len(names)]],
            "attributes": [["number", integer(number)], ["value", VALUES[chance.choice(names)]]],
            "dropped_attributes_count": chance.choice((0, 4)),
            "trace_id": f"{chance.getrandbits(128) | 1:032x}" if with_trace else "",
            "span_id": f"{chance.getrandbits(64) | 1:016x}" if with_trace else "",
            "flags": chance.choice((0, SAMPLED)) if with_trace else 0,
            "resource": chance.randrange(5),
            "scope": chance.randrange(5),
        }


def write(path: Path, profile: Profile, *, seed: int, at_least: int) -> dict[str, Any]:
    """Writes a description with `at_least` so many spans, and gives it back as read from the file."""
    description = {
        **owners(profile),
        "spans": list(spans(profile, seed=seed, at_least=at_least)),
        "log_records": list(log_records(profile, seed=seed, at_least=at_least // 10)),
    }
    path.write_text(json.dumps(description), encoding="utf-8")
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read
