"""Judges alert rules: an alert fires when the whole interval is beyond what is allowed, and never on a guess."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from spanscore.production.rules import FACTS, Change, Rule
from spanscore.statistics import Estimate, Interval, percentile, share, t_mean, unpaired_interval
from spanscore.store.queries import read_query
from spanscore.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.store import ReadSession

_LEVELS = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
UNNAMED = "(none)"
ALL = "all"
"""The series of a rule that judges all runs together."""


class Verdict(StrEnum):
    """What a rule says of a series."""

    FIRING = "firing"
    OK = "ok"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A rule applied to one series.

    Attributes:
        series: service or agent; `ALL` = all together.
        value, interval: in the window, in the unit of the metric.
        n: values [count].
        n_total: runs, or what else could have had a value [count].
        previous, change: value in the window before, and the interval of the difference; None where not compared.
        reason: one factual sentence.
    """

    rule: Rule
    series: str
    verdict: Verdict
    value: float | None
    interval: Interval | None
    n: int
    n_total: int
    clusters: int | None
    previous: float | None
    change: Interval | None
    reason: str


def judge(session: ReadSession, rules: Sequence[Rule], *, source: str | None, now: dt.datetime) -> list[Judgement]:
    """What the rules say now.

    Args:
        session: on the store, for reading.
        rules: of the settings.
        source: of the runs that count; None = all.
        now: where the windows end [UTC].
    """
    return [judgement for rule in rules for judgement in _judge_rule(session, rule, source=source, now=now)]


def _judge_rule(session: ReadSession, rule: Rule, *, source: str | None, now: dt.datetime) -> Iterator[Judgement]:
    window = dt.timedelta(seconds=rule.window_s)
    latest = _values(session, rule, source=source, since=now - window, until=now)
    before = _values(session, rule, source=source, since=now - 2 * window, until=now - window) if rule.compares else {}
    for series in sorted(latest) if rule.by is not None else [ALL]:
        yield judge_series(rule, series, latest.get(series, []), before.get(series, []) if rule.compares else None)


def _values(
    session: ReadSession, rule: Rule, *, source: str | None, since: dt.datetime, until: dt.datetime
) -> dict[str, list[tuple[str, float | None]]]:
    rows = session.rows(
        read_query("production/alert_values.sql").rstrip().rstrip(";"),
        {
            "metric": rule.metric,
            "is_fact": rule.metric in FACTS,
            "by": rule.by,
            "source": source,
            "service": rule.service,
            "since": since,
            "until": until,
        },
    )
    series: dict[str, list[tuple[str, float | None]]] = {}
    for name, cluster, value in rows:
        series.setdefault(UNNAMED if name is None else name, []).append((cluster, value))
    return series


def judge_series(
    rule: Rule,
    series: str,
    latest: Sequence[tuple[str, float | None]],
    before: Sequence[tuple[str, float | None]] | None,
) -> Judgement:
    """What a rule says of values.

    Args:
        rule: what is allowed.
        series: whose values they are.
        latest: cluster and value of each run in the window; None = not measured.
        before: of the window before; None = not asked for.
    """
    now, then = estimate(rule, latest), None if before is None else estimate(rule, before)
    change = None if then is None else unpaired_interval(then, now)
    verdict, reason = _verdict(rule, now, then, change)
    return Judgement(
        rule=rule,
        series=series,
        verdict=verdict,
        value=now.value,
        interval=now.interval,
        n=now.n,
        n_total=len(latest),
        clusters=now.clusters,
        previous=None if then is None else then.value,
        change=change,
        reason=reason,
    )


def estimate(rule: Rule, values: Sequence[tuple[str, float | None]]) -> Estimate:
    """The figure that a rule is about, with the interval that clusters leave."""
    known = [(value, cluster) for cluster, value in values if value is not None and math.isfinite(value)]
    numbers, clusters = [value for value, _ in known], [cluster for _, cluster in known]
    if rule.figure in _LEVELS:
        return percentile(numbers, _LEVELS[rule.figure], clusters=clusters, confidence=rule.confidence)
    is_share = rule.unit in ("ratio", "boolean") and all(0 <= number <= 1 for number in numbers)
    return (share if is_share else t_mean)(numbers, clusters=clusters, confidence=rule.confidence)


def _verdict(rule: Rule, now: Estimate, then: Estimate | None, change: Interval | None) -> tuple[Verdict, str]:
    if now.n < rule.min_n:
        return Verdict.UNDECIDABLE, f"{counted(now.n, 'value')} in the window, and the rule needs {rule.min_n}"
    if now.interval is None:
        bounds = rule.below is not None or rule.above is not None
        if bounds:
            return Verdict.UNDECIDABLE, f"no interval: {now.note}"
    else:
        if rule.below is not None and now.interval.high is not None and now.interval.high < rule.below:
            return Verdict.FIRING, f"the whole interval is below {rule.below:g}"
        if rule.above is not None and now.interval.low is not None and now.interval.low > rule.above:
            return Verdict.FIRING, f"the whole interval is above {rule.above:g}"
    if then is None:
        return Verdict.OK, "the interval reaches what is allowed"
    if then.n < rule.min_n:
        return Verdict.UNDECIDABLE, f"{counted(then.n, 'value')} in the window before, and the rule needs {rule.min_n}"
    if change is None:
        side = now if now.interval is None else then
        return Verdict.UNDECIDABLE, f"no interval of the change: {side.note}"
    assert then.value is not None
    for allowed, nearest, sign, word in (
        (rule.max_rise, change.low, 1, "rose"),
        (rule.max_drop, change.high, -1, "fell"),
    ):
        if allowed is not None and nearest is not None and sign * nearest > _size(allowed, then.value):
            return (
                Verdict.FIRING,
                f"it {word} by more than {_words(allowed)}: the whole interval of the change is beyond",
            )
    return Verdict.OK, "the interval of the change reaches what is allowed"


def _size(allowed: Change, previous: float) -> float:
    return allowed.size * abs(previous) if allowed.is_relative else allowed.size


def _words(allowed: Change) -> str:
    return f"{100 * allowed.size:g}%" if allowed.is_relative else f"{allowed.size:g}"


def by_state(judgements: Sequence[Judgement]) -> Mapping[Verdict, int]:
    """How many of each verdict there are [count]."""
    return {verdict: sum(one.verdict is verdict for one in judgements) for verdict in Verdict}
