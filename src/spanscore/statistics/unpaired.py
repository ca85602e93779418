"""How much two independent groups of runs differ, such as this hour's and the last one's."""

from __future__ import annotations

import math

from spanscore.statistics.estimates import Estimate, Interval


def unpaired_interval(before: Estimate, after: Estimate) -> Interval | None:
    """The interval of `after` minus `before`, made from the intervals of both, in their unit.

    With values x and intervals (l, u): d = x2 - x1, from d - sqrt((x2 - l2)^2 + (u1 - x1)^2) to
    d + sqrt((u2 - x2)^2 + (x1 - l1)^2). Its level is that of the two intervals. It takes any kind of estimate, with
    clusters or without; for two shares it is Newcombe's interval 10. An open end of a side leaves the end open that
    rests on it.

    Args:
        before, after: estimates of the same figure from groups that have no run in common.

    Returns:
        None where a side has no interval: there is nothing to tell chance from change by.

    Source: Newcombe 1998, Statistics in Medicine 17:873; Zou and Donner 2008, Statistics in Medicine 27:1693.
    """
    if before.interval is None or after.interval is None or before.value is None or after.value is None:
        return None
    difference = after.value - before.value
    down = _root(_distance(after.interval.low, after.value), _distance(before.interval.high, before.value))
    up = _root(_distance(after.interval.high, after.value), _distance(before.interval.low, before.value))
    return Interval(None if down is None else difference - down, None if up is None else difference + up)


def _distance(end: float | None, value: float) -> float | None:
    return None if end is None else end - value


def _root(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else math.hypot(first, second)
