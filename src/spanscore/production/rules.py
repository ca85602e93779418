"""Alert rules: the tables [[alerts]] and [alerting] of `spanscore.toml`, read strictly."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.addresses import read_address
from spanscore.errors import UsageError
from spanscore.production.durations import seconds
from spanscore.settings import Settings, likely, read_settings
from spanscore.statistics import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.evaluate import Catalogue

MIN_N = 20
FACTS = {
    "cost": ("usd", "mean"),
    "error_rate": ("ratio", "mean"),
    "latency_p50": ("s", "p50"),
    "latency_p95": ("s", "p95"),
    "latency_p99": ("s", "p99"),
}
"""Metrics that need no evaluator: unit, and what is made of the values of the runs."""

SERIES = ("service", "agent")
SEVERITIES = ("info", "warning", "critical")
_SHARES = ("ratio", "boolean")


@dataclass(frozen=True, slots=True)
class Change:
    """How far a metric may move from the window before: absolute in its unit, or a share of what it was."""

    size: float
    is_relative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One alert.

    Attributes:
        metric: an evaluator, or a name of `FACTS`.
        unit: of the metric.
        figure: mean, p50, p95 or p99 of the values.
        window_s: the runs that began within this are judged [s].
        below, above: it fires when the whole interval is beyond.
        max_rise, max_drop: it fires when the whole interval of the change is beyond.
        min_n: values without which nothing is said [count].
        by: service or agent, each judged by itself; None = all together.
        service: only runs of this one.
        repeat_s: how often it is told again while it fires [s]; None = once.
        place: file and line.
    """

    name: str
    metric: str
    unit: str
    figure: str
    window_s: float
    below: float | None
    above: float | None
    max_rise: Change | None
    max_drop: Change | None
    min_n: int
    by: str | None
    severity: str
    service: str | None
    repeat_s: float | None
    place: str
    confidence: float = CONFIDENCE

    @property
    def compares(self) -> bool:
        """Whether it needs the window before."""
        return self.max_rise is not None or self.max_drop is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where messages about alerts go; secrets are names of environment variables."""

    url: str | None = None
    url_env: str | None = None
    token_env: str | None = None
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Alerting:
    """All that the settings say about alerts."""

    rules: tuple[Rule, ...] = ()
    webhook: Webhook | None = None


def read_alerting(path: Path, catalogue: Catalogue) -> Alerting:
    """The alerts of the settings file; none when there is no file.

    Args:
        path: of `spanscore.toml`.
        catalogue: all evaluators there are.

    Raises:
        UsageError: something is wrong; every problem is named with its line.
    """
    settings = read_settings(path)
    if settings is None:
        return Alerting()
    problems: list[str] = []
    tables = settings.tables.get("alerts", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{settings.place('alerts')}: write each alert as a table [[alerts]].")
    rules: list[Rule] = []
    for number, table in enumerate(tables):
        found = _Reader(table, lambda key, n=number: settings.place("alerts", key, number=n), problems)
        rule = _rule(found, catalogue)
        if rule is not None:
            if any(rule.name == other.name for other in rules):
                found.wrong("name", f"two alerts are called `{rule.name}`; their states could not be told apart.")
            rules.append(rule)
    webhook = _webhook(settings, problems)
    if problems:
        raise UsageError("\n".join(problems))
    return Alerting(tuple(rules), webhook)


class _Reader:
    """One table; what is wrong with it is gathered."""

    def __init__(self, table: Mapping[str, Any], place: Any, problems: list[str]) -> None:
        self.table = table
        self.place = place
        self._problems = problems
        self.is_good = True

    def wrong(self, key: str | None, text: str) -> None:
        self._problems.append(f"{self.place(key)}: {text}")
        self.is_good = False

    def text(self, key: str, *, choices: Sequence[str] = (), needed: bool = False) -> str | None:
        value = self.table.get(key)
        if value is None:
            if needed:
                self.wrong(None, f"`{key}` is missing.")
            return None
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, f"`{key}` must be a text.")
            return None
        if choices and value not in choices:
            self.wrong(key, f"`{key}` is `{value}`, and must be one of {', '.join(choices)}.")
            return None
        return value

    def length(self, key: str, *, needed: bool = False) -> float | None:
        value = self.text(key, needed=needed)
        length = None if value is None else seconds(value)
        if value is not None and length is None:
            self.wrong(key, f'`{key}` is `{value}`, which is no length of time.\n  Write it as "15m", "1h" or "7d".')
        return length

    def number(self, key: str) -> float | None:
        value = self.table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            self.wrong(key, f"`{key}` must be a finite number, and is {value!r}.")
            return None
        return float(value)

    def count(self, key: str, default: int) -> int:
        value = self.table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            self.wrong(key, f"`{key}` must be a whole number of 2 or more, and is {value!r}.")
            return default
        return value

    def change(self, key: str) -> Change | None:
        value = self.table.get(key)
        if isinstance(value, str):
            share = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value)
            if share is None:
                self.wrong(key, f'`{key}` is `{value}`; write a number in the unit of the metric, or a share as "20%".')
                return None
            return Change(float(share[1]) / 100, is_relative=True)
        size = self.number(key)
        if size is not None and size < 0:
            self.wrong(key, f"`{key}` must be 0 or more: it is how far the metric may move that way.")
            return None
        return None if size is None else Change(size, is_relative=False)


def _rule(found: _Reader, catalogue: Catalogue) -> Rule | None:
    name, metric = found.text("name", needed=True), found.text("metric", needed=True)
    unit = None if metric is None else _unit(found, metric, catalogue)
    window = found.length("window", needed=True)
    below, above = found.number("below"), found.number("above")
    rise, drop = found.change("max_rise"), found.change("max_drop")
    min_n, by = found.count("min_n", MIN_N), found.text("by", choices=SERIES)
    severity = found.text("severity", choices=SEVERITIES) or "warning"
    service, repeat = found.text("service"), found.length("repeat")
    if not {"below", "above", "max_rise", "max_drop"} & found.table.keys():
        found.wrong(None, "nothing to compare with: give `below`, `above`, `max_rise` or `max_drop`.")
    if below is not None and above is not None and below >= above:
        found.wrong("above", f"`below` ({below:g}) must be less than `above` ({above:g}): every value is beyond one.")
    if unit in _SHARES:
        for key, bound, end in (("below", below, 0), ("above", above, 1)):
            if bound is not None and not 0 <= bound <= 1:
                found.wrong(key, f"`{metric}` lies between 0 and 1, and `{key}` is {bound:g}.")
            elif bound == end:
                found.wrong(key, f"`{metric}` is never {key} {end}: the alert could not fire.")
    if not found.is_good or name is None or metric is None or unit is None or window is None:
        return None
    return Rule(
        name=name,
        metric=metric,
        unit=unit,
        figure=FACTS[metric][1] if metric in FACTS else "mean",
        window_s=window,
        below=below,
        above=above,
        max_rise=rise,
        max_drop=drop,
        min_n=min_n,
        by=by,
        severity=severity,
        service=service,
        repeat_s=repeat,
        place=found.place(None),
    )


def _unit(found: _Reader, metric: str, catalogue: Catalogue) -> str | None:
    if metric in FACTS:
        return FACTS[metric][0]
    for evaluator in catalogue.evaluators:
        if evaluator.id == metric:
            return evaluator.unit
    if metric in {broken.id for broken in catalogue.broken}:
        found.wrong(
            "metric", f"the file of the evaluator `{metric}` is broken.\n  `spanscore evaluators check` says why."
        )
    else:
        names = [*FACTS, *(evaluator.id for evaluator in catalogue.evaluators)]
        everything = f"Known are {', '.join(FACTS)}, and the evaluators of `spanscore evaluators list`."
        found.wrong("metric", f"there is no metric `{metric}`.\n  {likely(metric, names, otherwise=everything)}")
    return None


def _webhook(settings: Settings, problems: list[str]) -> Webhook | None:
    table = settings.tables.get("alerting")
    if table is None:
        return None
    if not isinstance(table, dict):
        problems.append(f"{settings.place('alerting')}: `alerting` must be a table: [alerting].")
        return None
    found = _Reader(table, lambda key: settings.place("alerting", key), problems)
    url, url_env = found.text("webhook"), found.text("webhook_env")
    if url is not None:
        try:
            read_address(url, called="`webhook`")
        except UsageError as error:
            found.wrong("webhook", str(error))
    if (url is None) == (url_env is None):
        found.wrong(None, "give `webhook` (an address), or `webhook_env` (the variable that holds it), and not both.")
    timeout = found.length("timeout")
    token_env = found.text("token_env")
    if not found.is_good:
        return None
    return Webhook(url=url, url_env=url_env, token_env=token_env, timeout_s=10.0 if timeout is None else timeout)


def require_variables(alerting: Alerting, environ: Mapping[str, str]) -> None:
    """Checks that the environment variables are set that the settings name, and that they go together.

    Raises:
        UsageError: one is not set, is no address, or there are two authorizations.
    """
    webhook = alerting.webhook
    names = () if webhook is None else (webhook.url_env, webhook.token_env)
    missing = [name for name in names if name is not None and not environ.get(name)]
    if missing:
        raise UsageError(f"The environment variable `{missing[0]}`, which [alerting] names, is not set.\n  Set it.")
    if webhook is None:
        return
    url = (webhook.url if webhook.url_env is None else environ[webhook.url_env]) or ""
    address = read_address(url, called="`webhook`" if webhook.url_env is None else f"${webhook.url_env}")
    if address.authorization is not None and webhook.token_env is not None:
        raise UsageError(
            "The address of the webhook names a user, and `token_env` of [alerting] a token.\n"
            "  Only one of them can be sent: take the other out."
        )
