"""Every form of every document: complete, well formed, and no name from a trace, suite or file does anything in it."""

import csv
import html.parser
import io
import json
import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from made_up import NOW, Made

from spanscore.experiments.baseline import read_baseline
from spanscore.experiments.work import Place, compare_named, judge, look_back, recommend_named, set_baseline
from spanscore.report.comparison import compare, gate
from spanscore.report.comparison.history import page_of as history_page
from spanscore.report.comparison.page import write_page
from spanscore.report.comparison.recommend import page_of as recommend_page

EVIL = {
    "elements": '<script>alert(1)</script>"><img src=x onerror=alert(1)>',
    "markup": "[x](javascript:alert(1)) [bold red]x[/] [/foo] a|b`c`\\|d",
    "terminal": "\x1b]52;c;ZXZpbA==\x07 \x1b[2J\x9b2J \u202egnp.exe",
    "lines": "a\r\nb\n# c\n| d |\n::error::x",
    "command": "::error title=x::y%0A::stop-commands::z]]>\ufffe\uffff",
    "formula": "=HYPERLINK(1)",
    "plus": "+1",
    "tab": "\t@SUM(1)",
    "huge": "x" * 200_000,
}
CASES = [f"c{number}" for number in range(7)]
FORMS = ("table", "json", "markdown", "csv")


@dataclass
class Said:
    """What the commands say, in every form."""

    payload: str
    forms: dict[str, list[str]]


@pytest.fixture(params=EVIL, scope="module")
def evil(request, tmp_path_factory):
    """Every form of every document on a store in which each name of an experiment, suite, case and category is evil."""
    kept = EVIL[request.param]
    folder = tmp_path_factory.mktemp("evil")
    made = Made(folder / "store")
    named = {case: f"{kept} {case}" for case in CASES}
    made.cases(dict.fromkeys(named.values(), kept), suite=kept, version=kept)
    names = [f"{kept}#{number}/{kept}{number}" for number in range(4)]
    for number in range(4):
        column = {case: [float(number < 3)] for case in named.values()}
        scores = {"task_completed": column, "tool_set_match": {case: [1.0] for case in named.values()}}
        run = {"suite_name": kept, "suite_version": kept, "variant": f"{kept}{number}"}
        made.experiment(f"{kept}#{number}", scores, run=run)
    place = Place(store=made.close(), folder=folder, now=datetime.fromisoformat(NOW))
    baseline, history = folder / "baseline.json", folder / "history.json"
    set_baseline(place, names[:3], file=baseline, suite=None, gated=[])
    look = {"file": history, "suite": None, "metrics": [], "last": 20}
    for name in names[:3]:
        look_back(place, add=name, **look)
    shown, entries = look_back(place, add="latest", **look)
    report = judge(
        place,
        "latest",
        baseline_file=baseline,
        suite=None,
        thresholds={},
        history_file=history,
        record_file=None,
        metrics=[],
        deviations=2.0,
    )
    compared = compare_named(
        place,
        ["baseline", "latest"],
        baseline_file=baseline,
        suite=None,
        metrics=[],
        allow_different_suites=False,
    )
    pages = [
        compare.page_of(compared),
        gate.page_of(report),
        gate.baseline_page(read_baseline(baseline)),
        history_page(shown, entries=len(entries)),
        recommend_page(recommend_named(place, [], profile="balanced", suite=None, accuracy=None)),
    ]
    said = {form: [text_of(page, form) for page in pages] for form in FORMS}
    return Said(kept, {**said, "junit": [gate.junit(report)], "github": [gate.github(report)]})


def text_of(page, form):
    stream = io.StringIO()
    write_page(stream, page, form)
    return stream.getvalue()


def test_no_form_obeys_a_name(evil):
    for form, texts in evil.forms.items():
        for text in texts:
            if form != "csv":
                assert not set("\x00\x1b\x07\x08\x9b\u202e\r") & set(text)
                assert "\n# c" not in text
            if form != "json":
                assert len(text) < 200_000


def test_markdown_has_no_element_link_or_broken_table(evil):
    for text in evil.forms["markdown"]:
        found = []

        class Elements(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs, found=found):
                found.append(tag)

        Elements().feed(text)
        assert found == []
        assert not re.search(r"(?<!\\)\]\(", text)
        cells = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()]
        for above, below in pairwise(cells):
            assert not above or not below or above == below


def test_csv_cells_are_no_formulas(evil):
    for text in evil.forms["csv"]:
        rows = list(csv.reader(io.StringIO(text)))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
        assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+@\t\r") and cell]


def test_json_gives_names_exactly(evil):
    documents = [json.loads(text) for text in evil.forms["json"]]

    assert documents[0]["sides"][1]["suite_name"] == evil.payload
    assert documents[1]["candidate"]["name"].startswith(evil.payload)
    assert all("schema_version" in document for document in documents)


def test_junit_is_well_formed_and_counts_its_cases(evil):
    root = ElementTree.fromstring(evil.forms["junit"][0])
    cases = root.findall(".//testcase")

    assert [element.tag for element in root] == ["testsuite"]
    assert int(root.get("tests")) == len(cases) > 0
    assert int(root.get("failures")) == len(root.findall(".//failure"))
    assert int(root.get("errors")) == len(root.findall(".//error"))
    assert {child.tag for case in cases for child in case} <= {"failure", "error"}


def test_annotations_are_one_command_a_line(evil):
    lines = evil.forms["github"][0].splitlines()

    assert all(re.match(r"^::(error|warning|notice) title=[^:,]*::", line) for line in lines)
    assert not any(re.search(r"%(?!25|0A|0D|3A|2C)", line) for line in lines)
    assert sum(line.startswith("::notice") for line in lines) == 1
