"""Text from traces must reach a terminal as letters only."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from spanscore.report.terminal import console, cut, plain, safe_text, shorten

HOSTILE = {
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "clear screen": "\x1b[2J",
    "window title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "8-bit CSI": "\x9b31m",
    "bell": "\x07",
    "carriage return": "safe\rEVIL",
    "backspace": "abc\x08\x08\x08xyz",
    "right-to-left override": "invoice\u202egpj.exe",
    "isolate": "\u2066hidden\u2069",
    "zero-width space": "pass\u200bword",
    "byte order mark": "\ufeffname",
    "language tag": "a\U000e0041b",
    "NUL": "a\x00b",
    "delete": "a\x7fb",
    "line separator": "one\u2028two",
    "lone surrogate": "a\ud800b",
}


@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_character_that_a_terminal_obeys_is_left(payload):
    shown = safe_text(payload)

    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


def test_what_is_taken_out_stays_visible():
    assert safe_text("\x1b[2J") == "\\x1b[2J"
    assert safe_text("a\u202eb") == "a\\u202eb"
    assert safe_text("a\U000e0041b") == "a\\U000e0041b"
    assert safe_text("a\r\n\tb") == "a\\r\\n\\tb"


def test_ordinary_text_is_left_alone():
    text = "It is 18.5 °C in Zürich. 你好, שלום, 👍 — “quoted” [bold] \\x1b"

    assert safe_text(text) == text


def test_lines_are_kept_only_on_request():
    assert safe_text("one\n\ttwo\x1b\r", keep_lines=True) == "one\n\ttwo\\x1b\\r"


@given(st.text())
def test_any_text_becomes_harmless_and_stays_so(text):
    shown = safe_text(text)

    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} or c in "\u202e\u200b"]
    assert safe_text(shown) == shown


@pytest.mark.parametrize("name", ["[bold red]x[/]", "[/foo]", "[link=http://evil.example]x[/link]", ":smile:", "\\[x]"])
def test_markup_is_printed_literally(name):
    stream = io.StringIO()

    console(stream).print(plain(name))

    assert stream.getvalue() == f"{name}\n"


@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_terminal_gets_no_escape_of_the_payload(payload):
    stream = io.StringIO()

    Console(file=stream, force_terminal=True, markup=False, color_system=None).print(plain(payload))

    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()


def test_a_long_text_is_cut_on_one_line():
    assert shorten("a  b\n c", 80) == "a b c"
    assert shorten("x" * 200, 10) == "x" * 9 + "…"
    assert len(shorten("word " * 5_000_000, 40)) <= 40


def test_a_text_of_exactly_the_limit_is_whole():
    assert shorten("x" * 10, 10) == "x" * 10


def test_a_cut_block_tells_how_long_it_was():
    assert cut("x" * 10_000_000, 5) == "xxxxx… (10,000,000 characters)"
    assert cut("short", 5) == "short"


def test_unknown_is_a_dash_and_an_empty_text_is_empty():
    assert plain(None).plain == "-"
    assert plain("").plain == ""
    assert plain(0).plain == "0"
