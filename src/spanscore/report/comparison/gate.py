"""A gate's report as a page, as JUnit XML and as GitHub annotations; and a baseline as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from spanscore.experiments.baseline import BaselineFile, as_document
from spanscore.experiments.gate import Check, GateReport, false_alarm_rate
from spanscore.report import figures
from spanscore.report.comparison.page import Page, Sheet, commit_text, name_of, with_interval
from spanscore.report.evaluation import score
from spanscore.report.terminal import safe_text, shorten
from spanscore.statistics import Baseline, Better
from spanscore.statistics.gates import BASELINE_DEVIATIONS

_TEXT_LIMIT = 1_000
# What XML 1.0 has no place for and the terminal does not mind.
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_COLUMNS = (
    "check",
    "metric",
    "rule",
    "verdict",
    "value",
    "low",
    "high",
    "n",
    "threshold",
    "unit",
    "better",
    "baseline_mean",
    "baseline_std",
    "baseline_experiments",
    "is_within_noise",
    "false_alarm",
    "reason",
)


def page_of(report: GateReport) -> Page:
    """The page."""
    one = report.candidate
    return Page(
        verdict=report.verdict,
        heading=f"{name_of(one.name)}: {figures.counted(one.runs, 'run')} of "
        f"{figures.counted(one.cases, 'case')}, {one.errors} ended in an error",
        subtitle=_subtitle(report),
        findings=report.findings,
        sheets=[
            Sheet(
                title="Checks",
                headings=["check", "value", "passes", "baseline", "verdict", "reason"],
                rows=[_row(check) for check in report.checks],
                right=frozenset({1, 2, 3}),
            ),
            Sheet(
                title="Beside them",
                headings=["figure", ""],
                rows=[
                    ["cost per attempt", figures.usd(one.cost_usd.per_attempt.value, one.cost_usd.unpriced_llm_calls)],
                    ["cost per success", figures.usd(one.cost_usd.per_success, one.cost_usd.unpriced_llm_calls)],
                    ["time, p50", figures.duration(one.latency_s.p50)],
                    ["time, p95", figures.duration(one.latency_s.p95.value)],
                    ["tool calls per attempt", _number(one.tool_calls_per_attempt)],
                    ["step budget", ", ".join(map(str, one.step_caps)) or "none known"],
                ],
                right=frozenset({1}),
            ),
        ],
        flat_columns=_COLUMNS,
        flat_rows=[
            [
                check.name,
                check.metric,
                check.rule,
                check.verdict,
                check.value,
                *(check.interval or (None, None)),
                check.n,
                check.threshold,
                check.unit,
                check.better,
                check.baseline_mean,
                check.baseline_std,
                check.baseline_experiments,
                check.is_within_noise,
                check.false_alarm,
                check.reason,
            ]
            for check in report.checks
        ],
        document=report.as_json(),
    )


def _number(value: float | None) -> str:
    return figures.UNKNOWN if value is None else f"{value:.2f}"


def _subtitle(report: GateReport) -> str:
    version = "" if report.suite_version is None else f" {report.suite_version}"
    return (
        f"suite {report.suite_name or '(none)'}{version}; commit {commit_text(report.candidate.git_commit)}, "
        f"baseline at {commit_text(report.baseline_git_commit)}; {figures.when(report.generated_at)} UTC"
    )


def _row(check: Check) -> list[str]:
    least = "at least" if check.better == Better.HIGHER else "at most"
    return [
        name_of(check.name),
        with_interval(check.value, check.interval, check.unit),
        figures.UNKNOWN if check.threshold is None else f"{least} {score(check.threshold, check.unit)}",
        _spread(check.baseline_mean, check.baseline_std, check.baseline_experiments, check.unit),
        check.verdict,
        check.reason,
    ]


def _spread(mean: float | None, std: float | None, n: int | None, unit: str) -> str:
    if mean is None or std is None:
        return figures.UNKNOWN
    return f"{score(mean, unit)} std {score(std, unit)} (n {n})"


def junit(report: GateReport) -> str:
    """JUnit XML: a test case per check; a failed one is a failure, an undecidable one an error."""
    failures, errors = (sum(one.verdict == verdict for one in report.checks) for verdict in ("fail", "undecidable"))
    counts = {"tests": str(len(report.checks)), "failures": str(failures), "errors": str(errors)}
    root = ElementTree.Element("testsuites", {"name": "spanscore gate", **counts})
    name = _xml(f"spanscore gate {report.suite_name or ''}".strip())
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, "timestamp": report.generated_at[:19]})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (
        ("verdict", report.verdict),
        ("candidate", report.candidate.name),
        ("suite_version", report.suite_version),
        ("git_commit", report.candidate.git_commit),
    ):
        if value is not None:
            ElementTree.SubElement(properties, "property", {"name": key, "value": _xml(value)})
    for check in report.checks:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": f"spanscore.gate.{check.rule}", "name": _xml(check.metric), "time": "0"}
        )
        if check.verdict != "pass":
            kind = "failure" if check.verdict == "fail" else "error"
            reason = _xml(check.reason)
            found = ElementTree.SubElement(case, kind, {"message": reason, "type": check.verdict})
            found.text = reason
    if report.findings:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(_xml(finding) for finding in report.findings)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", safe_text(shorten(text, _TEXT_LIMIT)))


def github(report: GateReport) -> str:
    """GitHub workflow commands: an error for each check that did not pass, then a line with the verdict."""
    return "\n".join(_annotations(report)) + "\n"


def _annotations(report: GateReport) -> Iterator[str]:
    for check in report.checks:
        if check.verdict != "pass":
            yield _command("error", f"{check.name}: {check.verdict}", check.reason)
    for finding in report.findings:
        yield _command("warning", "spanscore gate", finding)
    passed = sum(check.verdict == "pass" for check in report.checks)
    said = f"{report.verdict}: {passed} of {figures.counted(len(report.checks), 'check')} passed"
    yield _command("notice", f"spanscore gate {report.candidate.name}", said)


def _command(kind: str, title: str, message: str) -> str:
    # https://docs.github.com/actions/reference/workflow-commands-for-github-actions; as its toolkit encodes them.
    text = _percent(message)
    return f"::{kind} title={_percent(title).replace(':', '%3A').replace(',', '%2C')}::{text}"


def _percent(text: str) -> str:
    return safe_text(shorten(text, _TEXT_LIMIT)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def baseline_page(made: BaselineFile) -> Page:
    """The baseline: its experiments, and what a gate lets pass."""
    n = len(made.experiments)
    findings = []
    if n < 3:
        findings.append(
            f"{figures.counted(n, 'experiment')} {figures.agreeing(n, 'is', 'are')} too few: the gate is "
            "undecidable until there are 3."
        )
    else:
        alarm = false_alarm_rate(n, BASELINE_DEVIATIONS)
        findings.append(
            f"With {figures.counted(n, 'experiment')} a metric that has not changed fails in about {100 * alarm:.0f}%."
        )
    rows = []
    for name, metric in sorted(made.metrics.items(), key=lambda item: (item[0] not in made.gated, item[0])):
        spread = made.reference(name)
        if not made.values(name) and name not in made.gated:
            continue
        rows.append(
            [
                name_of(name),
                "yes" if name in made.gated else "",
                _spread(*_parts(spread), metric.unit),
                _passing(spread, metric.better, metric.unit),
                " ".join(score(value, metric.unit) for value in made.values(name)[:10]),
            ]
        )
    version = "" if made.suite_version is None else f" {made.suite_version}"
    return Page(
        heading=f"Baseline of suite {made.suite_name or '(none)'}{version}: {figures.counted(n, 'experiment')}",
        subtitle=f"made {figures.when(made.created_at)} UTC at commit {commit_text(made.git_commit)}",
        findings=findings,
        sheets=[
            Sheet(
                title="Experiments",
                headings=["experiment", "began", "commit", "cases", "runs"],
                rows=[
                    [
                        name_of(one.name),
                        figures.when(one.started_at),
                        commit_text(one.git_commit),
                        str(len(one.cases)),
                        str(len(one.attempts)),
                    ]
                    for one in made.experiments
                ],
                right=frozenset({3, 4}),
            ),
            Sheet(
                title="Metrics",
                headings=["metric", "gated", "mean and std", "passes", "values"],
                rows=rows,
                right=frozenset({2, 3}),
            ),
        ],
        flat_columns=("metric", "is_gated", "mean", "std", "experiments", "unit", "better"),
        flat_rows=[
            [name, name in made.gated, *_parts(made.reference(name)), metric.unit, metric.better]
            for name, metric in made.metrics.items()
        ],
        document=as_document(made),
    )


def _parts(spread: Baseline | None) -> tuple[float | None, float | None, int | None]:
    return (None, None, None) if spread is None else (spread.mean, spread.deviation, spread.experiments)


def _passing(spread: Baseline | None, better: str, unit: str) -> str:
    if spread is None or better not in (Better.HIGHER, Better.LOWER):
        return figures.UNKNOWN
    sign = -1 if better == Better.HIGHER else 1
    threshold = spread.mean + sign * BASELINE_DEVIATIONS * spread.deviation
    return f"{'at least' if sign < 0 else 'at most'} {score(threshold, unit)}"
