"""Tables at every width: what may be cut, and what never is."""

from io import StringIO

import pytest

from spanscore.report.tables import Column, counted, grid, named, timed
from spanscore.report.terminal import console, plain

ROWS = [
    {"id": "29c19748", "agent": "an_agent_with_a_long_name", "status": "truncated", "calls": 12_345, "took": 0.0836},
    {"id": "64eb5b9a", "agent": "weather_agent", "status": "ok", "calls": 1, "took": 61.0},
]
COLUMNS = [
    Column("run", lambda row: row["id"], whole=True),
    named("agent"),
    named("status"),
    counted("calls"),
    timed("took", "time"),
    counted("calls", "again", from_width=60),
]


def lines(width, columns=COLUMNS, *, folds=False):
    stream = StringIO()
    out = console(stream)
    out.width = width
    out.print(grid(ROWS, columns, width=width, folds=folds))
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", range(49, 100))
def test_figures_and_ids_are_never_cut_while_words_can_be(width):
    shown = lines(width)

    assert all(len(line) <= width for line in shown)
    assert all(figure in shown[2] for figure in ("29c19748", "12,345", "83.6 ms"))
    assert all(figure in shown[3] for figure in ("64eb5b9a", "1 min 01 s"))


def test_the_longest_words_make_way_first():
    shown = lines(52)

    assert "truncated" in shown[2]
    assert "an_agent_with_a_long_name" not in shown[2]
    assert "…" in shown[2]


@pytest.mark.parametrize(("width", "is_there"), [(59, False), (60, True)])
def test_a_column_stands_from_its_width_on(width, is_there):
    assert ("again" in lines(width)[0]) == is_there


def test_a_flexible_column_makes_way_before_others():
    flexible = [*COLUMNS[:3], Column("why", lambda row: "reason " * 9, flexible=True), *COLUMNS[3:5]]
    shown = lines(100, flexible)

    assert "an_agent_with_a_long_name" in shown[2]
    assert "…" in shown[2]


@pytest.mark.parametrize("width", range(20, 100))
def test_nothing_is_cut_where_words_are_folded(width):
    flexible = [*COLUMNS[:3], Column("why", lambda row: "reason " * 9, flexible=True), *COLUMNS[3:5]]
    shown = "\n".join(lines(width, flexible, folds=True))

    assert "…" not in shown
    assert shown.count("reason") == 18
    for whole in ("29c19748", "an_agent_with_a_long_name", "truncated", "12,345", "83.6 ms", "1 min 01 s"):
        assert whole in shown


@pytest.mark.parametrize("is_flexible", [False, True])
@pytest.mark.parametrize("width", [20, 40, 100])
def test_no_name_comes_to_begin_a_line(width, is_flexible):
    """A service that runs checks would obey it."""
    name = "a name of some length ::error::x " * 4
    shown = lines(width, [Column("name", lambda row: name, flexible=is_flexible), *COLUMNS[:3]], folds=True)

    assert sum(line.startswith("a name of some length ::error::x") for line in shown) == len(ROWS)
    assert not [line for line in shown if line.startswith("::")]


def test_a_line_of_text_stays_whole_in_a_pipe():
    stream = StringIO()
    console(stream).print(plain("spanscore doctor " * 30))

    assert stream.getvalue().splitlines() == ["spanscore doctor " * 30]
