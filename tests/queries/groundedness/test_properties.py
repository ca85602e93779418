"""Figures that are honest in whatever form are never flagged; figures with a changed digit always are."""

from __future__ import annotations

import json
import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from random import Random

import duckdb
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.queries.groundedness.attempts import Attempt, Judge

SENTENCES = (
    "The value is {}.",
    "We found {}, as you see",
    "({})",
    "**{}**\n",
    "Result: {}!",
    "Il y en a {} maintenant",
    "価格{}です",
)
# One figure per attempt, and many attempts per query: a query costs the same for one run as for a hundred.
FIGURES = st.lists(
    st.decimals(min_value=100, max_value=10**9, places=2).filter(lambda value: value % 1 != 0), min_size=10, max_size=25
)
TANGLES = st.lists(
    st.text(alphabet="0123456789.,-+$€%eEkM ()[]'\u2019\u00a0ab\n`#/:x\u00d7^é価\\\"\1\2", max_size=40),
    min_size=30,
    max_size=60,
)
SLOW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _grouped(value: Decimal, separator: str, point: str) -> str:
    return f"{value:,}".replace(",", "\0").replace(".", point).replace("\0", separator)


def _forms(value: Decimal) -> dict[str, str]:
    whole = value.quantize(Decimal(1), ROUND_HALF_EVEN)
    millions = value.scaleb(-6)
    return {
        "plain": f"{value}",
        "grouped": _grouped(value, ",", "."),
        "rounded up at the half": _grouped(value.quantize(Decimal("0.1"), ROUND_HALF_UP), ",", "."),
        "rounded as banks do": f"{value.quantize(Decimal('0.1'), ROUND_HALF_EVEN)}",
        "whole": _grouped(whole, ",", "."),
        "dollars": "$" + _grouped(value, ",", "."),
        "code": "USD " + _grouped(value, ",", "."),
        "euros": _grouped(value, ".", ",") + " €",
        "no-break spaces": _grouped(value, "\u00a0", "."),
        "Swiss": _grouped(value, "\u2019", "."),
        "units": f"{value} kg",
        "million": f"{millions.quantize(Decimal('0.001'))} million" if millions >= 1 else f"{value}",
        "M": f"${millions.quantize(Decimal('0.01'))}M" if millions >= 1 else f"${value}",
        "thousand": f"{value.scaleb(-3).quantize(Decimal('0.001'))} thousand" if value >= 1000 else f"{value}",
        "exponent": f"{value / Decimal(10) ** value.adjusted():.6f}e{value.adjusted()}",
    }


@SLOW
@given(FIGURES, st.sampled_from(SENTENCES))
def test_an_honest_figure_is_never_flagged(judge: Judge, values: list[Decimal], sentence: str) -> None:
    attempts = [
        Attempt(sentence.format(text), [json.dumps({"value": float(value)})])
        for value in values
        for text in _forms(value).values()
    ]
    verdicts = judge("numbers_grounded", attempts)

    wrong = [
        (a.answer, a.sources, v.texts) for a, v in zip(attempts, verdicts, strict=True) if v.texts or v.claims != 1
    ]
    assert wrong == []


@SLOW
@given(st.lists(st.integers(min_value=100, max_value=99_999), min_size=10, max_size=25))
def test_a_percentage_of_a_fraction_is_never_flagged(judge: Judge, values: list[int]) -> None:
    attempts = [Attempt(f"It is {value / 1000:.1f}%.", [f'{{"share": {value / 100_000}}}']) for value in values]
    verdicts = judge("numbers_grounded", attempts, {"min_characters": 1})

    assert [(a.answer, a.sources) for a, v in zip(attempts, verdicts, strict=True) if v.score != 1] == []


@SLOW
@given(FIGURES, st.randoms(use_true_random=False), st.sampled_from(SENTENCES))
def test_a_changed_digit_is_always_flagged(judge: Judge, values: list[Decimal], random: Random, sentence: str) -> None:
    attempts, changed = [], []
    for value in values:
        for text in (f"{value}", _grouped(value, ",", "."), f"${value}", _grouped(value, "\u00a0", ".")):
            places = [place for place, character in enumerate(text) if character.isdigit()]
            place = random.choice(places)
            digit = random.choice([d for d in "0123456789" if d != text[place] and (d != "0" or place != places[0])])
            figure = text[:place] + digit + text[place + 1 :]
            attempts.append(Attempt(sentence.format(figure), [json.dumps({"value": float(value)})]))
            changed.append(figure.lstrip("$"))
    verdicts = judge("numbers_grounded", attempts)

    assert changed == [text for verdict in verdicts for text in verdict.texts]


@SLOW
@given(TANGLES)
@example(["0E310", "1e400", "9" * 400, "1.5e-320", "0\x02%"])
def test_offsets_are_slices_of_the_answer(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    rows = connection.execute(
        "select text, numbers_in(text) from (select unnest($texts::varchar[]) as text)", {"texts": texts}
    ).fetchall()

    for text, numbers in rows:
        last = 0
        for number in numbers or ():
            assert text[number["start"] : number["end"]] == number["text"]
            assert number["start"] >= last
            assert math.isfinite(number["value"])
            assert number["half_unit"] > 0
            last = number["end"]


@SLOW
@given(TANGLES)
def test_every_digit_is_in_a_token(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    rows = connection.execute(
        "select text, number_tokens(text) from (select unnest($texts::varchar[]) as text)", {"texts": texts}
    ).fetchall()

    for text, tokens in rows:
        assert sum(c in "0123456789" for c in text) == sum(c in "0123456789" for token in tokens for c in token)
