"""How often intervals hold the truth: a few cells by default, the published tables when there is time."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("p", "correlation"), [(0.5, 0.8), (0.93, 0.3)])
def test_the_clustered_interval_covers(coverage, p, correlation):
    cell = coverage.clustered_cell(p, 27, correlation, replications=400)

    assert 0.90 <= cell.coverage <= 0.99


def test_ignoring_clusters_does_not_cover(coverage):
    """The check can fail: the plain interval of the same data is far too narrow."""
    import random

    draw = random.Random(5)
    held = 0
    for _ in range(400):
        groups = coverage.yes_or_no_clusters(draw, p=0.5, correlation=0.8, clusters=33, size=3)
        interval = coverage.independent_share(int(sum(map(sum, groups))), 99).interval
        held += interval.contains(0.5)

    assert held / 400 < 0.87


@pytest.mark.slow
def test_every_method_covers_over_shares_and_no_cell_is_bad(coverage):
    for n in (27, 99):
        rows = [[coverage.independent_cell(p, n, replications=2_000) for p in coverage.SHARES]]
        rows += [
            [coverage.clustered_cell(p, n, correlation, replications=2_000) for p in coverage.SHARES]
            for correlation in coverage.CORRELATIONS
        ]
        for cells in rows:
            assert 0.93 <= sum(cell.coverage for cell in cells) / len(cells) <= 0.97
            assert min(cell.coverage for cell in cells) > 0.88
