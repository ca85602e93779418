"""JSON and CSV keep values exact and are harmless where a terminal reads them."""

import io
import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from spanscore.report.documents import as_text, print_json, write_csv
from spanscore.report.terminal import safe_json


class Terminal(io.StringIO):
    def isatty(self):
        return True


def csv_of(stream, value, **options):
    write_csv(stream, ["x"], [[value]], raw=options.get("raw", False))
    return stream.getvalue().partition("\n")[2]


@given(st.dictionaries(st.text(), st.text()))
def test_escaping_for_a_terminal_does_not_change_a_json_document(document):
    text = json.dumps(document, ensure_ascii=False)

    assert json.loads(safe_json(text)) == document
    assert not {"\x1b", "\x9b", "\u202e", "\u200b"} & set(safe_json(text))


def test_a_document_is_json_whatever_it_holds(capsys):
    print_json({"huge": 2**70, "nan": float("nan"), "bytes": b"\x00\xff", "nested": {1: (1, float("inf"))}, "no": None})

    written = capsys.readouterr().out
    assert written.endswith("}\n")
    assert json.loads(written) == {"huge": 2**70, "nan": None, "bytes": "AP8=", "nested": {"1": [1, None]}, "no": None}


def test_a_file_gets_the_exact_text_and_a_terminal_a_harmless_one():
    assert csv_of(io.StringIO(), "a\x1b[2Jb") == "a\x1b[2Jb\n"
    assert csv_of(Terminal(), "a\x1b[2Jb") == "a\\x1b[2Jb\n"


def test_every_beginning_of_a_formula_is_disarmed():
    for start in "=+-@\t\r":
        assert csv_of(io.StringIO(), f"{start}cmd").strip('"\n').startswith("'")
        assert not csv_of(io.StringIO(), f"{start}cmd", raw=True).strip('"\n').startswith("'")


def test_a_negative_number_is_no_formula():
    assert csv_of(io.StringIO(), -5) == "-5\n"


def test_values_as_text():
    assert as_text(True) == "true"
    assert as_text([1, None, "x"]) == '[1, null, "x"]'
    assert as_text(b"\x00\xff") == "AP8="
    assert as_text(Decimal("1.10")) == "1.10"
    assert as_text(0.1) == "0.1"
