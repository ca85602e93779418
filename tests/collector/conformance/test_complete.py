"""The table has no hole: each row is tested in each encoding, or a reason stands where it is not."""

import re
from pathlib import Path

import pytest
from conformance_rows import COLLECTED, ELSEWHERE, NOT_APPLICABLE, ROWS
from otlp_clients import ENCODINGS

ROOT = Path(__file__).parents[3]


def test_the_rows_are_all_62() -> None:
    assert list(ROWS) == [f"C{number:02d}" for number in range(1, 63)]


def test_every_row_is_tested_in_every_encoding_or_says_why_not(request: pytest.FixtureRequest) -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    modules = {item.path for item in request.session.items}
    if not set(Path(__file__).parent.glob("test_*.py")) <= modules:
        pytest.skip("only a part of the folder is run")
    cells = {(row, encoding) for row in ROWS for encoding in ENCODINGS}

    assert not COLLECTED & NOT_APPLICABLE.keys()
    assert COLLECTED | NOT_APPLICABLE.keys() | ELSEWHERE.keys() == cells
    assert {row for row, _ in COLLECTED | ELSEWHERE.keys()} == set(ROWS)
    assert set(re.findall(r"\bC[0-9]{2}\b", source)) <= set(ROWS)


@pytest.mark.parametrize("path", sorted(set(ELSEWHERE.values())))
def test_tests_that_stand_elsewhere_are_there(path: str) -> None:
    assert (ROOT / path).is_file()
