"""A collector for all rows, and the table of what was seen."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Test modules are imported by path; this lets them import the modules beside them.
for _folder in (Path(__file__).parent, Path(__file__).parents[1]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

from conformance_rows import COLLECTED, ELSEWHERE, NOT_APPLICABLE, ROWS, TITLES  # noqa: E402
from otlp_clients import ENCODINGS  # noqa: E402

from spanscore.collector import Collector, CollectorLimits  # noqa: E402

LIMIT = 1 << 20
SEEN: dict[tuple[str, str], str] = {}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "conformance(row, *encodings): a row of the OTLP table, in these encodings")


def covered(item: pytest.Item) -> list[tuple[str, str]]:
    """The cells of the table that a test is about."""
    return [(mark.args[0], encoding) for mark in item.iter_markers("conformance") for encoding in mark.args[1:]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    COLLECTED.update(cell for item in items for cell in covered(item))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    cells = covered(item)
    if cells and (report.when == "call" or report.outcome != "passed"):
        report.user_properties.append(("conformance", cells))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, cells in report.user_properties:
        for row, encoding in cells if name == "conformance" else ():
            if SEEN.get((row, encoding)) != "FAILED":
                SEEN[row, encoding] = {"failed": "FAILED"}.get(report.outcome, report.outcome)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not any("conformance" in argument for argument in config.args):
        return
    terminalreporter.section("OTLP conformance")
    terminalreporter.write_line("| row | what | " + " | ".join(TITLES.values()) + " |")
    terminalreporter.write_line("|---|---|" + "---|" * len(TITLES))
    for row, title in ROWS.items():
        cells = [_cell(row, encoding) for encoding in ENCODINGS]
        terminalreporter.write_line(f"| {row} | {title} | " + " | ".join(cells) + " |")


def _cell(row: str, encoding: str) -> str:
    if (row, encoding) in SEEN:
        return SEEN[row, encoding]
    if (row, encoding) in NOT_APPLICABLE:
        return f"not applicable: {NOT_APPLICABLE[row, encoding]}"
    if (row, encoding) in ELSEWHERE:
        return f"see {ELSEWHERE[row, encoding]}"
    return "not run"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector that takes requests of up to 1 MiB."""
    store = tmp_path_factory.mktemp("conformance") / "store"
    with Collector(store, limits=CollectorLimits(max_request_bytes=LIMIT)) as opened:
        yield opened
