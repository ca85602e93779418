"""Figures: unknown is a dash, zero is zero."""

import pytest

from spanscore.report import figures


@pytest.mark.parametrize(
    "render",
    [figures.count, figures.duration, figures.usd, figures.ratio, figures.size, figures.when],
)
def test_unknown_is_a_dash(render):
    assert render(None) == "-"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0.0 ms"),
        (0.0124, "12.4 ms"),
        (0.0996, "100 ms"),
        (0.25, "250 ms"),
        (1.234, "1.23 s"),
        (59.99, "59.99 s"),
        (60, "1 min 00 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_a_duration_has_the_unit_that_suits_it(seconds, shown):
    assert figures.duration(seconds) == shown


@pytest.mark.parametrize(
    ("value", "unpriced", "shown"),
    [
        (0.0, 0, "$0"),
        (0.000042, 0, "$0.000042"),
        (0.0123, None, "$0.0123"),
        (12.345, 0, "$12.35"),
        (1234.5, 0, "$1,234.50"),
        (0.02, 1, "$0.0200 +1?"),
        (None, 3, "- +3?"),
    ],
)
def test_calls_without_a_price_stand_beside_the_cost(value, unpriced, shown):
    assert figures.usd(value, unpriced) == shown


def test_large_counts_and_sizes_can_be_read():
    assert figures.count(1234567) == "1,234,567"
    assert figures.count(0) == "0"
    assert figures.size(999) == "999 B"
    assert figures.size(16_777_216) == "16.8 MB"
    assert figures.ratio(0.254) == "25%"


def test_a_moment_is_shown_to_the_second():
    assert figures.when("2026-11-29T20:27:16.059827200Z") == "2026-11-29 20:27:16"


@pytest.mark.parametrize(
    ("identifiers", "shown"),
    [
        ([], []),
        (["0123456789abcdef"], ["01234567"]),
        (["0123456789abcdef", "fedcba9876543210"], ["01234567", "fedcba98"]),
        # Ids of AWS X-Ray begin with the second.
        (["5759e988bd862e3f" + "0" * 16, "5759e988bd872e3f" + "0" * 16], ["5759e988bd86", "5759e988bd87"]),
        # All are cut alike.
        (["aaaaaaaaa1" + "0" * 22, "aaaaaaaaa2" + "0" * 22, "b" * 32], ["aaaaaaaaa1", "aaaaaaaaa2", "b" * 10]),
        # But for runs of one trace.
        (["a" * 32 + ":1234", "a" * 32 + ":1534", "b" * 32], ["a" * 32 + ":12", "a" * 32 + ":15", "b" * 8]),
        (["a" * 32, "a" * 32 + ":15"], ["a" * 32, "a" * 32 + ":"]),
    ],
)
def test_short_ids_tell_all_apart(identifiers: list[str], shown: list[str]) -> None:
    assert [figures.short_ids(identifiers)[one] for one in identifiers] == shown


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 traces"), (1, "1 trace"), (2, "2 traces"), (1234, "1,234 traces"), (None, "- traces")]
)
def test_one_is_singular(value: int | None, text: str) -> None:
    assert figures.counted(value, "trace") == text
